// A child process with pipes to its input and from its output, in a process group of its own.
#pragma once

#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "base/result.h"

namespace muster {

// A file descriptor that closes itself.
class Pipe {
 public:
  Pipe() = default;
  explicit Pipe(int file) : file_(file) {}
  Pipe(Pipe&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Pipe& operator=(Pipe&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~Pipe() { close(); }
  int get() const { return file_; }
  bool open() const { return file_ >= 0; }
  void close();

 private:
  int file_ = -1;
};

struct Child {
  Child() = default;
  Child(Child&& other) noexcept { *this = std::move(other); }
  Child& operator=(Child&& other) noexcept;
  // Kills it and all of its group.
  ~Child() { end(); }

  pid_t process = -1;
  Pipe alive;  // becomes readable when it has ended
  Pipe in;
  Pipe out;
  Pipe err;  // closed where it is joined with `out`

  // Its status, once `alive` is readable.
  int reap();
  void end();
};

// `joined`: errors come in order with the rest of its output.
Result<Child> start_child(const std::vector<std::string>& words, bool joined);

// Appends what there is to read; false at the end of it.
bool read_some(const Pipe& pipe, std::string& text);

}  // namespace muster
