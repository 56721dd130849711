#include "run/config/choice.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

bool is_quote(char c) { return c == '"' || c == '\''; }

// The end of the value that starts `text`: the next comma outside quotes that a KEY= follows. A
// list may stand without quotes: limits=3250,7200.
std::size_t value_end(std::string_view text) {
  std::size_t end = 0;
  if (!text.empty() && is_quote(text.front())) {
    // Two quotes inside stand for one.
    end = text.find(text.front(), 1);
    while (end != std::string_view::npos && end + 1 < text.size() &&
           text[end + 1] == text.front()) {
      end = text.find(text.front(), end + 2);
    }
    return end == std::string_view::npos ? end : text.find(',', end);
  }
  end = text.find(',');
  while (end != std::string_view::npos) {
    const std::string_view next = text.substr(end + 1, text.find(',', end + 1) - (end + 1));
    if (trim(next).empty() || next.find('=') != std::string_view::npos) break;
    end = text.find(',', end + 1);
  }
  return end;
}

std::string unquoted(std::string_view text) {
  if (text.size() < 2 || !is_quote(text.front()) || text.back() != text.front()) {
    return std::string(text);
  }
  std::string out;
  const char mark = text.front();
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    out += text[i];
    if (text[i] == mark && text[i + 1] == mark) ++i;
  }
  return out;
}

std::string quoted(std::string_view value) {
  const char mark = value.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, mark);
  for (const char c : value) {
    if (c == mark) out += c;
    out += c;
  }
  return out + mark;
}

bool needs_quotes(std::string_view value) {
  return value.find_first_of(",\"'") != std::string_view::npos ||
         std::any_of(value.begin(), value.end(),
                     [](char c) { return static_cast<unsigned char>(c) <= ' '; });
}

}  // namespace

std::string Choice::text() const {
  std::string out = name;
  char separator = ':';
  for (const auto& [key, value] : params) {
    out += separator;
    out += fmt::format("{}={}", key, needs_quotes(value) ? quoted(value) : value);
    separator = ',';
  }
  return out;
}

Result<Choice> parse_choice(std::string_view text, std::string_view what) {
  Choice choice;
  std::size_t colon = text.find(':');
  // Of FILE.py:NAME the first colon is part of the name.
  if (colon != std::string_view::npos && text.substr(0, colon).ends_with(".py")) {
    colon = text.find(':', colon + 1);
  }
  choice.name = trim(text.substr(0, colon));
  if (choice.name.empty()) {
    return Error{
        fmt::format("{}: '{}' has no name; expected NAME or NAME:KEY=VALUE,KEY=VALUE", what, text)};
  }
  std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  while (!trim(rest).empty()) {
    const std::size_t equals = rest.find('=');
    const std::string_view name = trim(rest.substr(0, equals));
    if (equals == std::string_view::npos || name.empty() ||
        name.find_first_of(",\"'") != std::string_view::npos) {
      return Error{
          fmt::format("{}: '{}' in '{}' is not of the form KEY=VALUE", what, trim(rest), text)};
    }
    const std::string key(name);
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
