#include "report/terminal.h"

#include <algorithm>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

// Read before any thread changes the environment: Muster never does.
std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// Where the rest of a line that is broken begins.
std::size_t hanging_indent(std::string_view line, std::size_t width) {
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  std::size_t hang = first + 2;
  for (std::size_t at = line.find("  ", first); at != std::string_view::npos;
       at = line.find("  ", at)) {
    at = line.find_first_not_of(' ', at);
    if (at == std::string_view::npos || at > width / 2) break;
    hang = at;
  }
  return std::min(hang, width / 2);
}

// The last blank at which the line can be broken to fit, or the first one behind that.
std::size_t break_of(std::string_view line, std::size_t least, std::size_t width) {
  std::size_t best = std::string_view::npos;
  for (std::size_t at = line.find(' ', least); at != std::string_view::npos;
       at = line.find(' ', at + 1)) {
    const bool fits = display_width(line.substr(0, at)) <= width;
    if (fits || best == std::string_view::npos) best = at;
    if (!fits) break;
  }
  return best;
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

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("\x1b[")) {  // a colour takes no room
      i = std::min(text.find('m', i), text.size());
      continue;
    }
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) == 0x80) continue;  // continues a code point
    unsigned code = byte;
    if (byte >= 0xE0 && byte < 0xF0 && i + 2 < text.size()) {
      code = ((byte & 0x0FU) << 12U) | ((static_cast<unsigned char>(text[i + 1]) & 0x3FU) << 6U) |
             (static_cast<unsigned char>(text[i + 2]) & 0x3FU);
    }
    const bool combining = byte == 0xCC || (byte == 0xCD && i + 1 < text.size() &&
                                            static_cast<unsigned char>(text[i + 1]) < 0xB0);
    const bool wide = byte >= 0xF0 || (code >= 0x1100 && code <= 0x115F) ||
                      (code >= 0x2E80 && code <= 0xA4CF) || (code >= 0xAC00 && code <= 0xD7A3) ||
                      (code >= 0xF900 && code <= 0xFAFF) || (code >= 0xFF00 && code <= 0xFF60);
    width += combining ? 0 : wide ? 2 : 1;
  }
  return width;
}

std::string fitted(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    const std::size_t hang = hanging_indent(line, width);
    for (std::size_t begun = hang; display_width(line) > width;) {
      const std::size_t at = break_of(line, begun + 1, width);
      const std::size_t next = line.find_first_not_of(' ', at);
      if (next == std::string::npos) break;
      out.append(line, 0, line.find_last_not_of(' ', at) + 1);
      out += '\n';
      line = std::string(hang, ' ') + line.substr(next);
    }
    out += line;
    if (end == text.size()) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

void print_fitted(std::string_view text) {
  const bool terminal = is_terminal(STDOUT_FILENO);
  fmt::print("{}", terminal ? fitted(text, static_cast<std::size_t>(terminal_width(STDOUT_FILENO)))
                            : std::string(text));
}

}  // namespace muster
