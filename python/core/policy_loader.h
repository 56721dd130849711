// The policies of a run that are written in Python, by the names that its description gives them.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "core/policy_calls.h"
#include "policy/outside/outside_policies.h"
#include "run/config/config.h"
#include "run/config/policy_loader.h"

namespace muster::python {

class PythonLoader final : public PolicyLoader {
 public:
  // `resolve(kind, name, parameters)` returns a muster.policy.Adapted. `names` are those that were
  // given as objects; a name such as FILE.py:NAME needs no entry.
  PythonLoader(Held resolve, std::set<std::pair<std::string, std::string>> names)
      : resolve_(std::move(resolve)), names_(std::move(names)) {}

  bool knows(std::string_view kind, std::string_view name) const override;
  Result<std::unique_ptr<AdmissionPolicy>> admission(const Choice& choice,
                                                     const Symbols* symbols) const override;
  Result<std::unique_ptr<SchedulingPolicy>> scheduling(const Choice& choice,
                                                       const Symbols* symbols) const override;
  Result<std::unique_ptr<PlacementPolicy>> placement(const Choice& choice,
                                                     const Symbols* symbols) const override;

  const std::shared_ptr<PolicyCalls>& calls() const { return calls_; }

 private:
  Outside respondent(const char* kind, const Choice& choice, nb::object adapted,
                     const Symbols* symbols) const;
  template <typename Policy, typename Make>
  Result<std::unique_ptr<Policy>> made(const char* kind, const Choice& choice,
                                       const Make& make) const;

  Held resolve_;
  std::set<std::pair<std::string, std::string>> names_;
  std::shared_ptr<PolicyCalls> calls_ = std::make_shared<PolicyCalls>();
};

// The calls of a run that asks policies written in Python; null for all others.
std::shared_ptr<PolicyCalls> python_calls(const RunConfig& run);

// What Python holds.
struct PythonPolicies {
  std::shared_ptr<PythonLoader> loader;
};

}  // namespace muster::python
