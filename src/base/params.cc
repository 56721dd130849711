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

}  // namespace

Result<Params> Params::make(std::string_view owner, const ParamList& list,
                            const ParamTexts& given) {
  for (const auto& [name, text] : given) {
    bool known = false;
    std::vector<std::string_view> names;
    for (const ParamInfo& info : list) {
      names.push_back(info.name);
      known = known || info.name == name;
    }
    if (!known) {
      if (names.empty())
        return Error{fmt::format("{} has no parameters, but '{}' was given", owner, name)};
      return Error{fmt::format("{}: {}", owner, unknown_name("parameter", name, names))};
    }
  }
  Params params;
  for (const ParamInfo& info : list) {
    const auto found = given.find(info.name);
    const std::string text(found == given.end() ? std::string(info.initial) : found->second);
    const std::string name(info.name);
    std::optional<double> number;
    switch (info.kind) {
      case ParamKind::kReal:
        number = parse_real(text);
        if (!number || std::isnan(*number))
          return bad_value(owner, info, text, kind_name(info.kind));
        params.values_[name] = *number;
        break;
      case ParamKind::kInteger: {
        const auto whole = parse_integer(text);
        if (!whole) return bad_value(owner, info, text, kind_name(info.kind));
        number = static_cast<double>(*whole);
        params.values_[name] = static_cast<long long>(*whole);
        break;
      }
      case ParamKind::kFlag: {
        const auto flag = parse_flag(text);
        if (!flag) return bad_value(owner, info, text, kind_name(info.kind));
        params.values_[name] = *flag;
        break;
      }
      case ParamKind::kText: {
        bool legal = info.choices.empty();
        for (const std::string_view choice : info.choices) legal = legal || choice == text;
        if (!legal) {
          return bad_value(owner, info, text,
                           fmt::format("one of {}", fmt::join(info.choices, ", ")));
        }
        params.values_[name] = text;
        break;
      }
      case ParamKind::kReals: {
        for (const double value : parse_reals(text)) {
          if (std::isnan(value)) return bad_value(owner, info, text, kind_name(info.kind));
          if (value < info.least || value > info.most) {
            return bad_value(owner, info, text, "numbers " + range_text(info));
          }
        }
        params.values_[name] = text;
        break;
      }
    }
    if (number && (*number < info.least || *number > info.most)) {
      return bad_value(owner, info, text, range_text(info));
    }
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
