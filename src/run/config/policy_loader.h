// Policies that are in no table: written in another language, or built outside the tree. A loader
// makes them by the name in the description; nothing else about a run changes.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "base/symbols.h"
#include "policy/admission.h"
#include "policy/placement.h"
#include "policy/scheduling.h"
#include "run/config/choice.h"

namespace muster {

class PolicyLoader {
 public:
  virtual ~PolicyLoader() = default;
  // Whether it has a policy of that kind ("admission", "scheduling" or "placement") and name.
  virtual bool knows(std::string_view kind, std::string_view name) const = 0;
  // Each call makes a fresh one. `symbols` names users, models and GPU types; it outlives the
  // policy, and is null where the policy is only asked what it declares.
  virtual Result<std::unique_ptr<AdmissionPolicy>> admission(const Choice& choice,
                                                             const Symbols* symbols) const = 0;
  virtual Result<std::unique_ptr<SchedulingPolicy>> scheduling(const Choice& choice,
                                                               const Symbols* symbols) const = 0;
  virtual Result<std::unique_ptr<PlacementPolicy>> placement(const Choice& choice,
                                                             const Symbols* symbols) const = 0;
};

// The loader of descriptions that bring none of their own; null unless the program set one, which
// it does once, before it reads any description.
std::shared_ptr<const PolicyLoader> usual_policy_loader();
void set_usual_policy_loader(std::shared_ptr<const PolicyLoader> loader);

// Whether the name of a policy is a Python file and what it defines: "my_policy.py:MyPolicy".
bool names_python(std::string_view name);

}  // namespace muster
