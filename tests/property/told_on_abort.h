// What a test is at, for the message of an abort: assertions and broken invariants end the program
// before the test could say which of its draws it was.
#pragma once

#include <csignal>
#include <string>
#include <unistd.h>

namespace muster {

class ToldOnAbort {
 public:
  ToldOnAbort() { std::signal(SIGABRT, tell); }
  ToldOnAbort(const ToldOnAbort&) = delete;
  ToldOnAbort& operator=(const ToldOnAbort&) = delete;
  ~ToldOnAbort() { std::signal(SIGABRT, SIG_DFL); }

  inline static std::string what;

 private:
  static void tell(int) {
    [[maybe_unused]] const auto written = write(2, what.data(), what.size());
    std::signal(SIGABRT, SIG_DFL);
    std::raise(SIGABRT);
  }
};

}  // namespace muster
