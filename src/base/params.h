// Described parameters: one list of name, kind, default, range and sentence per plug-in feeds the
// command line, TOML files, the Python module, the reference page and the "did you mean" of error
// messages.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace muster {

// kReals: numbers with commas, colons, semicolons or blanks between them; none at all is legal.
enum class ParamKind { kReal, kInteger, kFlag, kText, kReals };

struct ParamInfo {
  std::string_view name;
  ParamKind kind = ParamKind::kReal;
  std::string_view
      initial;  // the default, as a user would write it; "inf" and "-inf" are numbers too
  std::string_view sentence;  // what it does, for people
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  std::vector<std::string_view> choices = {};  // for kText: the legal values; empty means any text
};

using ParamList = std::vector<ParamInfo>;
using ParamTexts = std::map<std::string, std::string, std::less<>>;  // what a user wrote, by name

// Values of a plug-in's parameters: every described one is present, checked against its kind and
// range.
class Params {
 public:
  // `owner` names the plug-in in messages ("scheduling policy 'las'").
  static Result<Params> make(std::string_view owner, const ParamList& list,
                             const ParamTexts& given);

  double real(std::string_view name) const;
  long long integer(std::string_view name) const;
  bool flag(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  std::vector<double> reals(std::string_view name) const;

  // All values as a user would write them, for results and messages.
  ParamTexts texts() const;

 private:
  using Value = std::variant<double, long long, bool, std::string>;
  std::map<std::string, Value, std::less<>> values_;
  ParamTexts texts_;
};

}  // namespace muster
