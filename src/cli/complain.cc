#include <cstdio>

#include <fmt/format.h>

#include "cli/commands.h"

namespace muster {

int complain(const Error& error, int status) {
  fmt::print(stderr, "muster: {}\n", error.message);
  return status;
}

void note(std::string_view text) { fmt::print(stderr, "muster: note: {}\n", text); }

void warn(std::string_view text) { fmt::print(stderr, "muster: warning: {}\n", text); }

}  // namespace muster
