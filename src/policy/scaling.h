// Scaling: which nodes are powered, decided at the end of each turn. A profiler that borrows a node
// under load, and nodes that sleep while little is expected, are such policies.
#pragma once

#include <memory>
#include <vector>

#include "base/archive.h"
#include "policy/needs.h"
#include "policy/view.h"

namespace muster {

struct PowerRequest {
  NodeId node{};
  bool on = true;
};

class ScalingPolicy {
 public:
  virtual ~ScalingPolicy() = default;
  virtual Needs needs() const { return {}; }
  // The changes it wants now. A node that runs jobs is never powered down: that change is ignored.
  // A node powered up can be used from the next turn on.
  virtual std::vector<PowerRequest> scale(const View& view) = 0;
  // When it wants to be asked again though nothing happened.
  virtual Seconds wake(const View& view) const = 0;
  virtual std::unique_ptr<ScalingPolicy> clone() const = 0;
  // Writes or reads all that it remembers from one turn to the next (base/archive.h); false: a run
  // with it cannot be saved. One that remembers nothing returns true.
  virtual bool checkpoint(Archive&) { return false; }
};

}  // namespace muster
