// Helios' energy saving (SC'21): nodes sleep while few are needed and few are forecast, and wake
// before work waits for long. Every step it compares the nodes in use with those of the recent past
// and with the forecast, and keeps a buffer of awake nodes.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "policy/scaling.h"

namespace muster {

// Defaults are those published for the Venus cluster.
struct EnergySaving {
  Seconds step = 600;      // between two looks
  int history = 3;         // steps whose mean use counts as the recent past
  int future = 18;         // steps of the forecast that count
  double past_drop = 0.5;  // use must have fallen by so many nodes from the past
  double future_drop = 1;  // and be expected to fall by so many
  int least_gain = 2;      // nodes that must be freed by a change
  int buffer = 5;          // nodes awake beyond those in use
  int keep = 12;           // steps after a rise in which nothing sleeps
};

// The rule alone, step by step.
class EnergyControl {
 public:
  explicit EnergyControl(const EnergySaving& options) : options_(options) {}
  // Nodes in use or wanted now, and the forecast of the steps to come (may be empty: as now).
  // Returns how many should be awake; never fewer than are in use.
  int step(int used, const std::vector<double>& forecast);
  int active() const { return active_; }
  void checkpoint(Archive& archive) {
    archive.each(past_, [&archive](int& used) { archive.value(used); });
    archive.value(steps_);
    archive.value(active_);
    archive.value(hold_);
  }

 private:
  EnergySaving options_;
  std::deque<int> past_;
  int steps_ = 0;
  int active_ = 0;
  int hold_ = 0;
};

// Uses the nodes of the run's forecast, slot by slot, where it has any.
std::unique_ptr<ScalingPolicy> make_energy_saving(const EnergySaving& options);

}  // namespace muster
