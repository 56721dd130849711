#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "daemon/http/http.h"

namespace muster {
namespace {

int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

// Zero bytes and other controls are never part of an honest request.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char next = text[i];
    if (next == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      next = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (static_cast<unsigned char>(next) < 0x20 || next == 0x7f) return std::nullopt;
    decoded += next;
  }
  return decoded;
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text, std::string_view usual_port) {
  const std::size_t bracket = text.starts_with('[') ? text.find(']') : std::string_view::npos;
  const bool bracketed = bracket != std::string_view::npos;
  const std::string_view rest = bracketed ? text.substr(bracket + 1) : text;
  const std::size_t colon = rest.rfind(':');
  HostPort found;
  found.host = std::string(bracketed ? text.substr(1, bracket - 1) : rest.substr(0, colon));
  found.port = std::string(colon == std::string_view::npos ? usual_port : rest.substr(colon + 1));
  const std::optional<std::int64_t> number = parse_integer(found.port);
  const bool fits =
      bracketed ? rest.empty() || colon == 0 : found.host.find_first_of("[]:") == std::string::npos;
  if (found.host.empty() || !fits || !number || *number < 0 || *number > 65535) {
    return Error{fmt::format(
        "'{}' is not an address; expected HOST:PORT, as in 0.0.0.0:8443 or [::]:8443", text)};
  }
  return found;
}

bool parse_target(std::string_view target, std::string& path,
                  std::map<std::string, std::string>& query) {
  if (!target.starts_with('/')) return false;
  const std::size_t mark = target.find('?');
  const std::optional<std::string> decoded = percent_decoded(target.substr(0, mark));
  if (!decoded) return false;
  path = *decoded;
  if (mark == std::string_view::npos) return true;
  for (const std::string_view part : split(target.substr(mark + 1), '&')) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    const auto name = percent_decoded(part.substr(0, equals));
    const auto value =
        percent_decoded(equals == std::string_view::npos ? "" : part.substr(equals + 1));
    if (!name || !value || !query.emplace(*name, *value).second) return false;
  }
  return true;
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char next : text) {
    const bool plain = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') ||
                       (next >= '0' && next <= '9') || next == '-' || next == '_' || next == '.' ||
                       next == '~';
    if (plain) {
      encoded += next;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(next));
    }
  }
  return encoded;
}

}  // namespace muster
