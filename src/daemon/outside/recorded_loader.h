// Policies written in Python as a recording knows them: they declare and answer what they did then;
// Python is not needed.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "policy/outside/outside_policies.h"
#include "run/config/policy_loader.h"

namespace muster {

// One answer as a recording has it; null: there was none.
nlohmann::json answer_json(const PolicyAnswer* answer);
// Throws what the JSON library throws where the text is not one of ours.
std::optional<PolicyAnswer> answer_from(const nlohmann::json& json);

// A policy of a segment: what it declared, and its answers, as far as they have been read.
struct RecordedPolicy {
  std::string kind;
  std::string name;
  Declared declared;
  std::deque<std::optional<PolicyAnswer>> next;
};
using RecordedPolicies = std::vector<RecordedPolicy>;

class RecordedLoader final : public PolicyLoader {
 public:
  explicit RecordedLoader(std::shared_ptr<RecordedPolicies> policies)
      : policies_(std::move(policies)) {}
  bool knows(std::string_view kind, std::string_view name) const override;
  Result<std::unique_ptr<AdmissionPolicy>> admission(const Choice& choice,
                                                     const Symbols* symbols) const override;
  Result<std::unique_ptr<SchedulingPolicy>> scheduling(const Choice& choice,
                                                       const Symbols* symbols) const override;
  Result<std::unique_ptr<PlacementPolicy>> placement(const Choice& choice,
                                                     const Symbols* symbols) const override;

 private:
  Result<Outside> respondent(std::string_view kind, const Choice& choice,
                             const Symbols* symbols) const;

  std::shared_ptr<RecordedPolicies> policies_;
  mutable std::size_t made_ = 0;  // of those that decide
};

}  // namespace muster
