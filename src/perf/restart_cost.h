// The cost of losing GPUs: seconds until a restarted job makes progress again, and the work that a
// crash loses.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "base/symbols.h"
#include "model/ids.h"

namespace muster {

struct RestartCost {
  Seconds first_start = 0;  // paid at the very first start
  Seconds restart = 0;      // paid when resumed, moved or resized, unless the table says otherwise
  Seconds checkpoint_interval = 0;  // seconds of run between checkpoints; 0: work is never lost
  bool stop_saves = true;  // a preempted job saves before it leaves; a crashed one never does
  std::map<std::pair<Symbol, int>, Seconds>
      by_model;  // restart by (model, GPUs); GPUs 0: any count
  // Restart by size, for models the table above does not name: up to `first` GPUs it costs
  // `second`; ascending. Beyond the last row `restart` holds.
  std::vector<std::pair<int, Seconds>> by_size;

  Seconds restart_of(Symbol model, int gpus) const {
    if (!by_model.empty()) {
      if (const auto exact = by_model.find({model, gpus}); exact != by_model.end())
        return exact->second;
      if (const auto any = by_model.find({model, 0}); any != by_model.end()) return any->second;
    }
    for (const auto& [most, cost] : by_size) {
      if (gpus <= most) return cost;
    }
    return restart;
  }
};

}  // namespace muster
