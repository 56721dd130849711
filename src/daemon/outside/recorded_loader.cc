#include "daemon/outside/recorded_loader.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "daemon/record/record_json.h"
#include "policy/failure.h"

namespace muster {
namespace {

using Json = nlohmann::json;

class RecordedRespondent final : public Respondent {
 public:
  RecordedRespondent(std::shared_ptr<RecordedPolicies> policies, std::size_t policy)
      : policies_(std::move(policies)), policy_(policy) {}
  const Declared& declared() const override { return policy().declared; }
  const std::string& name() const override { return policy().name; }
  void ask(const PolicyQuestion& question, PolicyAnswer& answer) override {
    auto& next = policy().next;
    if (next.empty()) bad(question.now, "the recording has no answer of it here");
    const std::optional<PolicyAnswer> given = std::move(next.front());
    next.pop_front();
    if (!given) bad(question.now, "failed when it was recorded");
    answer = *given;
  }
  [[noreturn]] void bad(Seconds now, const std::string& what) override {
    throw PolicyFailure(fmt::format("policy '{}' at {} s: {}", name(), now, what));
  }
  std::unique_ptr<Respondent> copy() const override {
    return std::make_unique<RecordedRespondent>(policies_, policy_);
  }

 private:
  RecordedPolicy& policy() const { return (*policies_)[policy_]; }
  std::shared_ptr<RecordedPolicies> policies_;
  std::size_t policy_;
};

}  // namespace

Json answer_json(const PolicyAnswer* answer) {
  if (answer == nullptr) return {};
  if (answer->nothing) return "nothing";
  if (!answer->word.empty()) return {{"word", answer->word}};
  if (!answer->integers.empty()) return {{"integers", answer->integers}};
  Json numbers = Json::array();
  for (const double number : answer->numbers) numbers.push_back(number_json(number));
  return {{"numbers", std::move(numbers)}};
}

std::optional<PolicyAnswer> answer_from(const Json& json) {
  if (json.is_null()) return std::nullopt;
  PolicyAnswer answer;
  answer.nothing = json.is_string();
  if (answer.nothing) return answer;
  if (json.contains("word")) answer.word = json["word"].get<std::string>();
  if (json.contains("integers")) {
    answer.integers = json["integers"].get<std::vector<std::int64_t>>();
  }
  if (json.contains("numbers")) {
    for (const Json& number : json["numbers"]) answer.numbers.push_back(number_from(number));
  }
  return answer;
}

bool RecordedLoader::knows(std::string_view kind, std::string_view name) const {
  return names_python(name) && (kind == "admission" || kind == "scheduling" || kind == "placement");
}

Result<Outside> RecordedLoader::respondent(std::string_view kind, const Choice& choice,
                                           const Symbols* symbols) const {
  const auto same = [&](const RecordedPolicy& one) {
    return one.kind == kind && one.name == choice.name;
  };
  // Those that decide come in the order in which they were recorded; others only declare.
  const auto found =
      symbols == nullptr
          ? std::find_if(policies_->begin(), policies_->end(), same)
          : policies_->begin() + static_cast<std::ptrdiff_t>(std::min(made_++, policies_->size()));
  if (found == policies_->end() || !same(*found)) {
    return Error{fmt::format("the recording has no answers of {} policy '{}'", kind, choice.name)};
  }
  return Outside(std::make_unique<RecordedRespondent>(
      policies_, static_cast<std::size_t>(found - policies_->begin())));
}

Result<std::unique_ptr<AdmissionPolicy>> RecordedLoader::admission(const Choice& choice,
                                                                   const Symbols* symbols) const {
  auto made = respondent("admission", choice, symbols);
  if (!made) return made.error();
  return make_outside_admission(std::move(*made), OnFailure::kFallBack);
}

Result<std::unique_ptr<SchedulingPolicy>> RecordedLoader::scheduling(const Choice& choice,
                                                                     const Symbols* symbols) const {
  auto made = respondent("scheduling", choice, symbols);
  if (!made) return made.error();
  return make_outside_scheduling(std::move(*made), OnFailure::kFallBack);
}

Result<std::unique_ptr<PlacementPolicy>> RecordedLoader::placement(const Choice& choice,
                                                                   const Symbols* symbols) const {
  auto made = respondent("placement", choice, symbols);
  if (!made) return made.error();
  return make_outside_placement(std::move(*made), OnFailure::kFallBack);
}

}  // namespace muster
