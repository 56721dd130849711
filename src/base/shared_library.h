// A shared library that is loaded when it is first used. Libraries that few commands need are used
// like this, because loading them all would take most of the time of a short command.
//
// The functions of a library are the members of one struct, which the first caller fills:
//
//   struct Zip {
//     SharedLibrary library{{"libzip.so.4"}, "libzip4"};
//     MUSTER_LOADED(zip_open);  // named and typed as in its header
//   };
//   const Zip& zip() { static const Zip table; return table; }
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

// A member that points to the function of that name in the member `library`. A name that is
// declared takes no parentheses. NOLINTNEXTLINE(bugprone-macro-parentheses)
#define MUSTER_LOADED(name) decltype(::name)* name = library.function(#name)

namespace muster {

// The library is not on this machine; the message names it and what to install.
class MissingLibrary : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class SharedLibrary {
 public:
  // Loads the first of `files` that the dynamic linker finds; `package` brings it on Debian. It is
  // never unloaded. Throws MissingLibrary.
  SharedLibrary(const std::vector<std::string>& files, const char* package);

  // Becomes a pointer to a function of whatever type is wanted.
  class Address {
   public:
    explicit Address(void* address) : address_(address) {}
    template <typename Function>
    operator Function*() const {  // NOLINT: implicit by design
      return reinterpret_cast<Function*>(address_);
    }

   private:
    void* address_;
  };
  // Throws MissingLibrary where the library is too old or too new to have it.
  Address function(const char* name) const;

 private:
  void* handle_ = nullptr;
  std::string file_;
  const char* package_;
};

}  // namespace muster
