#include "cli/param_text.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace muster {

std::string_view kind_text(ParamKind kind) {
  switch (kind) {
    case ParamKind::kReal:
      return "number";
    case ParamKind::kInteger:
      return "whole number";
    case ParamKind::kFlag:
      return "true or false";
    case ParamKind::kText:
      return "text";
    case ParamKind::kReals:
      return "numbers";
  }
  return "";
}

std::string range_text(const ParamInfo& info) {
  if (!info.choices.empty()) return fmt::format("{}", fmt::join(info.choices, " | "));
  const bool number = info.kind != ParamKind::kFlag && info.kind != ParamKind::kText;
  if (!number || (std::isinf(info.least) && std::isinf(info.most))) {
    return std::string(kind_text(info.kind));
  }
  if (std::isinf(info.most))
    return fmt::format("{}, at least {}", kind_text(info.kind), exact_text(info.least));
  if (std::isinf(info.least))
    return fmt::format("{}, at most {}", kind_text(info.kind), exact_text(info.most));
  return fmt::format("{}, {} to {}", kind_text(info.kind), exact_text(info.least),
                     exact_text(info.most));
}

std::string initial_text(const ParamInfo& info) {
  return info.initial.empty() ? "\"\"" : std::string(info.initial);
}

}  // namespace muster
