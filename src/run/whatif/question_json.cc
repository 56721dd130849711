#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "run/whatif/question.h"

namespace muster {
namespace {

using Json = nlohmann::json;

// The fields, written down once for both directions: `field(name, member)`.
template <typename Asked, typename Field>
void each_field_of_question(Asked& question, Field field) {
  field("jobs", question.jobs);
  field("scheduling", question.scheduling);
  field("placement", question.placement);
  field("admission", question.admission);
  field("add_nodes", question.change.add_nodes);
  field("drain", question.change.drain);
  field("submit", question.change.submit);
  field("errors", question.errors);
  field("samples", question.samples);
  field("horizon", question.horizon);
}

bool take_field(const Json& json, std::string& value) {
  if (!json.is_string()) return false;
  value = json.get<std::string>();
  return true;
}
bool take_field(const Json& json, std::vector<std::string>& value) {
  if (!json.is_array()) return false;
  for (const Json& one : json) {
    if (!take_field(one, value.emplace_back())) return false;
  }
  return true;
}
bool take_field(const Json& json, int& value) {
  constexpr int kMost = 100'000;
  if (!json.is_number_integer() || json.get<std::int64_t>() < 1 ||
      json.get<std::int64_t>() > kMost) {
    return false;
  }
  value = json.get<int>();
  return true;
}
bool take_field(const Json& json, double& value) {
  if (!json.is_number() || !(json.get<double>() > 0)) return false;
  value = json.get<double>();
  return true;
}

}  // namespace

std::string question_json(const Question& question) {
  static const Question kUsual;
  Json all = Json::object();
  Json usual = Json::object();
  each_field_of_question(question, [&](const char* name, const auto& value) { all[name] = value; });
  each_field_of_question(kUsual, [&](const char* name, const auto& value) { usual[name] = value; });
  Json json = Json::object();
  for (const auto& [name, value] : all.items()) {
    if (value != usual[name]) json[name] = value;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Question> parse_question(std::string_view text) {
  const Json json = text.empty() ? Json::object() : Json::parse(text, nullptr, false);
  if (!json.is_object()) return Error{"expected an object with what could be different"};
  Question question;
  std::vector<std::string_view> names;
  std::string wrong;
  each_field_of_question(question, [&](const char* name, auto& value) {
    names.emplace_back(name);
    const auto found = json.find(name);
    if (found == json.end() || take_field(*found, value) || !wrong.empty()) return;
    wrong = fmt::format("'{}' has the value {}, which it cannot have", name, found->dump());
  });
  if (!wrong.empty()) return Error{wrong};
  for (const auto& [name, value] : json.items()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return Error{unknown_name("field", name, names)};
    }
  }
  return question;
}

}  // namespace muster
