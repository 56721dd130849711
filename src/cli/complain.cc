#include <cstdio>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"

namespace muster {

std::string not_above_zero(const std::string& text) {
  const auto number = parse_real(text);
  if (number && *number > 0) return "";
  return fmt::format("'{}' is not a number above zero", text);
}

int complain(const Error& error, int status) {
  fmt::print(stderr, "muster: {}\n", error.message);
  return status;
}

void note(std::string_view text) { fmt::print(stderr, "muster: note: {}\n", text); }

void warn(std::string_view text) { fmt::print(stderr, "muster: warning: {}\n", text); }

}  // namespace muster
