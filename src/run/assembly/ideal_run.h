// Fractions of time carried out exactly: between two events every job makes the progress that its
// fractions of each GPU type amount to, without rounds, GPUs of its own, or placement. What a
// policy that divides time would give if the mechanism below it were perfect (Gavel's --ideal).
//
// The policy is asked at every arrival and completion, and when a price changes.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "policy/gavel/allocator.h"

namespace muster {

struct IdealParts {
  std::shared_ptr<const ClusterSpec> cluster;
  std::shared_ptr<const PerfModel> perf;
  std::shared_ptr<const PerfModel> beliefs;  // what the policy is told
  std::shared_ptr<const PriceBook> prices;   // may be null
  std::unique_ptr<Allocator> allocator;
  JobSource* source = nullptr;
  std::vector<Observer*> observers;
  EngineOptions options;
};

// Tells whether the end was reached; false: `keep_going` said no.
Result<bool> run_ideal(IdealParts parts, const std::function<bool()>& keep_going);

}  // namespace muster
