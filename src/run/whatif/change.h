// What could be different: the second part of a what-if question.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/symbols.h"
#include "run/whatif/outlook.h"

namespace muster {

struct Change {
  std::string add_nodes;  // "2x8", as clusters are written; empty: none
  std::vector<std::string>
      drain;  // "node=3", "rack=1", "partition=research": they take nothing new
  std::vector<std::string> submit;  // jobs, as "gpus=4,duration=3600"
  // Other policies. None: as they are. One: it rules alone, whatever a selector chose from. As many
  // as the run has policy sets: in their place, and the selector goes on choosing.
  std::vector<std::shared_ptr<const PolicySet>> policy_sets;

  bool empty() const {
    return add_nodes.empty() && drain.empty() && submit.empty() && policy_sets.empty();
  }
};

// Applies the change to a copy of the world and of what it runs with. New jobs come behind those
// that are there, submitted now. The error names what is not understood.
Status apply_change(const Change& change, Symbols& symbols, EngineWorld& world,
                    OutlookParts& parts);

// When the last of the jobs that run on drained nodes will have left them, as believed; kNever:
// somebody stays, or nobody is drained.
Seconds drained_at(const EngineWorld& world, const Outlook& outlook);

}  // namespace muster
