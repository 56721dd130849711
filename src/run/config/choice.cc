#include "run/config/choice.h"

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

// The end of the value that starts `text`: the next comma outside quotes.
std::size_t value_end(std::string_view text) {
  if (!text.empty() && (text.front() == '"' || text.front() == '\'')) {
    const std::size_t close = text.find(text.front(), 1);
    return close == std::string_view::npos ? close : text.find(',', close);
  }
  return text.find(',');
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::string Choice::text() const {
  std::string out = name;
  char separator = ':';
  for (const auto& [key, value] : params) {
    const bool quote = value.find_first_of(",\"' ") != std::string::npos;
    const char mark = value.find('"') == std::string::npos ? '"' : '\'';
    out += separator;
    out +=
        quote ? fmt::format("{}={}{}{}", key, mark, value, mark) : fmt::format("{}={}", key, value);
    separator = ',';
  }
  return out;
}

Result<Choice> parse_choice(std::string_view text, std::string_view what) {
  Choice choice;
  const std::size_t colon = text.find(':');
  choice.name = trim(text.substr(0, colon));
  if (choice.name.empty()) {
    return Error{
        fmt::format("{}: '{}' has no name; expected NAME or NAME:KEY=VALUE,KEY=VALUE", what, text)};
  }
  std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  while (!trim(rest).empty()) {
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos || trim(rest.substr(0, equals)).empty()) {
      return Error{
          fmt::format("{}: '{}' in '{}' is not of the form KEY=VALUE", what, trim(rest), text)};
    }
    const std::string key(trim(rest.substr(0, equals)));
    rest.remove_prefix(equals + 1);
    const std::size_t end = value_end(rest);
    const bool fresh = choice.params.emplace(key, unquoted(trim(rest.substr(0, end)))).second;
    if (!fresh) return Error{fmt::format("{}: '{}' gives '{}' twice", what, text, key)};
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  return choice;
}

Result<Choice> complete_choice(std::string_view kind, const ParamList& list, const Choice& choice,
                               const ParamTexts& usual) {
  ParamTexts given = choice.params;
  given.insert(usual.begin(), usual.end());
  const auto params = Params::make(fmt::format("{} '{}'", kind, choice.name), list, given);
  if (!params) return params.error();
  return Choice{choice.name, params->texts()};
}

Choice shorten_choice(const ParamList& list, const Choice& choice) {
  Choice shorter{choice.name, {}};
  for (const auto& [key, value] : choice.params) {
    bool same = false;
    for (const ParamInfo& info : list) same = same || (info.name == key && info.initial == value);
    if (!same) shorter.params.emplace(key, value);
  }
  return shorter;
}

}  // namespace muster
