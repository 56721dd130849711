// Rates from which on a sweep skips the run: by cluster and policy, as Gavel's sweeps read them
// from a JSON file.
//
//   {"36:36:36": {"max_min_fairness": 5.2, "max_min_fairness_perf": 6.0}}
//
// A run far above the capacity of the cluster never ends its window. Policies may be given by
// Gavel's names or by ours; a cluster whose servers are described ("36:36:36@4:2:2") has the limits
// of its GPUs, unless it has its own.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "run/config/choice.h"

namespace muster {

class Cutoffs {
 public:
  static Result<Cutoffs> load(const std::string& path);

  // Jobs per hour; infinite without a limit. Where a row holds several policies, its
  // parameter `policy` says which.
  double of(const std::string& cluster, const Choice& scheduling) const;

 private:
  std::map<std::pair<std::string, std::string>, double> rates_;  // by cluster and Gavel's name
};

}  // namespace muster
