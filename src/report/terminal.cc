#include "report/terminal.h"

#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

namespace muster {
namespace {

// Read before any thread changes the environment: Muster never does.
std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

bool wants_colour(int descriptor) {
  return is_terminal(descriptor) && environment("NO_COLOR").empty() &&
         environment("TERM") != "dumb";
}

int terminal_width(int descriptor) {
  struct winsize size {};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  if (const auto columns = parse_integer(environment("COLUMNS"));
      columns && *columns > 0 && *columns < 1000) {
    return static_cast<int>(*columns);
  }
  return 80;
}

}  // namespace muster
