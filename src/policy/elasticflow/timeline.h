// Step functions of time: how many GPUs are free from when on, and how many a job gets. What
// ElasticFlow and its rivals plan with (schedulers call it an availability profile).
//
// A sorted array of breakpoints: looking up costs O(log n), inserting one O(n), and walking is what
// planners do most. Times ascend strictly; neighbours may be equal until compact().
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/archive.h"
#include "model/ids.h"

namespace muster {

// From `at` until the next step.
struct TimeStep {
  Seconds at = 0;
  int gpus = 0;
};

// Steps in order of time; the last one holds for ever.
class GpuTimeline {
 public:
  GpuTimeline() = default;
  GpuTimeline(Seconds at, int gpus) : steps_{{at, gpus}} {}

  std::size_t size() const { return steps_.size(); }
  TimeStep& operator[](std::size_t i) { return steps_[i]; }
  const TimeStep& operator[](std::size_t i) const { return steps_[i]; }
  auto begin() const { return steps_.begin(); }
  auto end() const { return steps_.end(); }
  void clear() { steps_.clear(); }
  void checkpoint(Archive& archive) { archive.list(steps_); }
  void push(Seconds at, int gpus) { steps_.push_back({at, gpus}); }

  // The first step that is not before `time`; size() if there is none.
  std::size_t lower(Seconds time) const {
    const auto found = std::lower_bound(steps_.begin(), steps_.end(), time,
                                        [](const TimeStep& s, Seconds t) { return s.at < t; });
    return static_cast<std::size_t>(found - steps_.begin());
  }
  bool has(Seconds time) const {
    const std::size_t i = lower(time);
    return i < steps_.size() && steps_[i].at == time;
  }
  // The value in force at `time`, which must not lie before the first step.
  int value_at(Seconds time) const {
    const std::size_t i = lower(time);
    return i < steps_.size() && steps_[i].at == time ? steps_[i].gpus : steps_[i - 1].gpus;
  }
  // Sets the value from `time` to the next step.
  void set(Seconds time, int gpus) {
    if (!steps_.empty() && time > steps_.back().at) {
      steps_.push_back({time, gpus});
      return;
    }
    const std::size_t i = lower(time);
    if (i < steps_.size() && steps_[i].at == time) {
      steps_[i].gpus = gpus;
    } else {
      steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(i), {time, gpus});
    }
  }
  // Makes a step at `time` without changing the function; returns its position.
  std::size_t split(Seconds time) {
    const std::size_t i = lower(time);
    if (i < steps_.size() && steps_[i].at == time) return i;
    steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(i), {time, steps_[i - 1].gpus});
    return i;
  }
  // Drops steps that change nothing.
  void compact() {
    const auto same = [](const TimeStep& a, const TimeStep& b) { return a.gpus == b.gpus; };
    steps_.erase(std::unique(steps_.begin(), steps_.end(), same), steps_.end());
  }
  // Forgets what lies before `time`.
  void begin_at(Seconds time) {
    std::size_t i = lower(time);
    if (i == steps_.size() || steps_[i].at > time) --i;
    steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(i));
    steps_.front().at = time;
  }
  // Goes on with this value from `time` on, which is not before the last step.
  void go_on(Seconds time, int gpus) {
    if (steps_.back().at == time) {
      steps_.back().gpus = gpus;
    } else if (steps_.back().gpus != gpus) {
      steps_.push_back({time, gpus});
    }
  }

 private:
  std::vector<TimeStep> steps_;
};

// The first moment on the grid of slots through `origin` that is not before `time`.
inline Seconds align(Seconds origin, Seconds time, Seconds slot) {
  Seconds rest = std::fmod(time - origin, slot);
  if (rest < 0) rest += slot;
  return rest == 0 ? time : time - rest + slot;
}

}  // namespace muster
