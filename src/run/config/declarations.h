// The declarations of a policy (its needs and what it does), by the name and parameters that a user
// would write: for `muster policies`, the reference page and the checks before a run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/needs.h"
#include "run/config/choice.h"
#include "run/config/policy_loader.h"

namespace muster {

struct Declaration {
  std::vector<Need> needs;
  std::vector<std::string_view> does;  // names of abilities
  bool keeps_truth = false;            // has its own record of true run times

  friend bool operator==(const Declaration&, const Declaration&) = default;
};

// Of a choice of that kind ("scheduling"); kinds that declare nothing give an empty one.
// A policy of `loader` goes before one of the tables.
Result<Declaration> declaration_of(std::string_view kind, const Choice& choice,
                                   const PolicyLoader* loader = nullptr);

// A parameter value that changes what the policy declares, and what it declares then.
struct DeclaredVariant {
  std::string setting;  // "by_estimate = true"
  Declaration declaration;
};

// The defaults, and every flag and choice that alone makes a difference.
struct DeclaredRow {
  Declaration usual;
  std::vector<DeclaredVariant> variants;
};
Result<DeclaredRow> declared_row(std::string_view kind, std::string_view name);

// "estimates of run times (without: such a job counts as the shortest)".
std::string need_text(const Need& need);

}  // namespace muster
