#include "base/params.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace muster {
namespace {

std::string_view kind_name(ParamKind kind) {
  switch (kind) {
    case ParamKind::kReal:
      return "a number";
    case ParamKind::kInteger:
      return "a whole number";
    case ParamKind::kFlag:
      return "true or false";
    case ParamKind::kText:
      return "a text";
    case ParamKind::kReals:
      return "numbers, as in 3250,7200";
  }
  return "";
}

// The parts that are no numbers come as NaN.
std::vector<double> parse_reals(std::string_view text) {
  std::vector<double> values;
  while (true) {
    constexpr std::string_view kBetween = ",:; \t\r\n";
    const std::size_t begin = text.find_first_not_of(kBetween);
    if (begin == std::string_view::npos) return values;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(kBetween), text.size());
    values.push_back(parse_real(text.substr(0, end)).value_or(std::nan("")));
    text.remove_prefix(end);
  }
}

Error bad_value(std::string_view owner, const ParamInfo& info, std::string_view found,
                std::string_view expected) {
  return Error{fmt::format("{}: parameter '{}' is '{}', but must be {} ({})", owner, info.name,
                           found, expected, info.sentence)};
}

std::string range_text(const ParamInfo& info) {
  if (std::isinf(info.most)) return fmt::format("at least {}", exact_text(info.least));
  if (std::isinf(info.least)) return fmt::format("at most {}", exact_text(info.most));
  return fmt::format("between {} and {}", exact_text(info.least), exact_text(info.most));
}

// Every name that is given must be in the list.
Status check_names(std::string_view owner, const ParamList& list, const ParamTexts& given) {
  std::vector<std::string_view> names;
  for (const ParamInfo& info : list) names.push_back(info.name);
  for (const auto& [name, text] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    if (names.empty()) {
      return Error{fmt::format("{} has no parameters, but '{}' was given", owner, name)};
    }
    return Error{fmt::format("{}: {}", owner, unknown_name("parameter", name, names))};
  }
  return Done{};
}

// A single number, which must lie in its range.
Result<double> in_range(std::string_view owner, const ParamInfo& info, std::string_view text,
                        std::optional<double> number) {
  if (!number || std::isnan(*number)) return bad_value(owner, info, text, kind_name(info.kind));
  if (*number < info.least || *number > info.most) {
    return bad_value(owner, info, text, range_text(info));
  }
  return *number;
}

using Value = std::variant<double, long long, bool, std::string>;

Result<Value> read_value(std::string_view owner, const ParamInfo& info, const std::string& text) {
  switch (info.kind) {
    case ParamKind::kReal: {
      const auto number = in_range(owner, info, text, parse_real(text));
      if (!number) return number.error();
      return Value(*number);
    }
    case ParamKind::kInteger: {
      const auto whole = parse_integer(text);
      if (!whole) return bad_value(owner, info, text, kind_name(info.kind));
      const auto number = in_range(owner, info, text, static_cast<double>(*whole));
      if (!number) return number.error();
      return Value(static_cast<long long>(*whole));
    }
    case ParamKind::kFlag: {
      const auto flag = parse_flag(text);
      if (!flag) return bad_value(owner, info, text, kind_name(info.kind));
      return Value(*flag);
    }
    case ParamKind::kText: {
      const auto& choices = info.choices;
      if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) {
        return bad_value(owner, info, text, fmt::format("one of {}", fmt::join(choices, ", ")));
      }
      break;
    }
    case ParamKind::kReals: {
      for (const double value : parse_reals(text)) {
        if (std::isnan(value)) return bad_value(owner, info, text, kind_name(info.kind));
        if (value < info.least || value > info.most) {
          return bad_value(owner, info, text, "numbers " + range_text(info));
        }
      }
      break;
    }
  }
  return Value(text);
}

}  // namespace

Result<Params> Params::make(std::string_view owner, const ParamList& list,
                            const ParamTexts& given) {
  if (Status known = check_names(owner, list, given); !known) return known.error();
  Params params;
  for (const ParamInfo& info : list) {
    const auto found = given.find(info.name);
    const std::string text(found == given.end() ? std::string(info.initial) : found->second);
    auto value = read_value(owner, info, text);
    if (!value) return value.error();
    const std::string name(info.name);
    params.values_[name] = std::move(*value);
    params.texts_[name] = text;
  }
  return params;
}

namespace {

template <typename T, typename Map>
const T& value_of(const Map& values, std::string_view name) {
  const auto found = values.find(name);
  assert(found != values.end() && "a plug-in asked for a parameter that it does not describe");
  return *std::get_if<T>(&found->second);
}

}  // namespace

double Params::real(std::string_view name) const { return value_of<double>(values_, name); }
long long Params::integer(std::string_view name) const {
  return value_of<long long>(values_, name);
}
bool Params::flag(std::string_view name) const { return value_of<bool>(values_, name); }
const std::string& Params::text(std::string_view name) const {
  return value_of<std::string>(values_, name);
}
std::vector<double> Params::reals(std::string_view name) const {
  return parse_reals(value_of<std::string>(values_, name));
}
ParamTexts Params::texts() const { return texts_; }

}  // namespace muster
