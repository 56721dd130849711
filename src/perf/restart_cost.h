// What it costs to lose one's GPUs: seconds until a restarted job makes progress again, and how
// much work a crash throws away.
#pragma once

#include <map>
#include <utility>

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

  Seconds restart_of(Symbol model, int gpus) const {
    if (by_model.empty()) return restart;
    if (const auto exact = by_model.find({model, gpus}); exact != by_model.end())
      return exact->second;
    const auto any = by_model.find({model, 0});
    return any == by_model.end() ? restart : any->second;
  }
};

}  // namespace muster
