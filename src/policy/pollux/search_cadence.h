// When a policy that searches for a whole new allocation should search again.
//
// A search is expensive, and most of the time nothing has changed since the last one: the same jobs
// hold the same GPUs of the same nodes. Then only two inputs drift, slowly: the price of a restart
// falls as a job grows older, and goodput changes as training goes on. So a policy searches at once
// after every change, and after searches that confirmed what is there it waits twice as long each
// time, up to a bound.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/archive.h"
#include "policy/view.h"

namespace muster {

class SearchCadence {
 public:
  explicit SearchCadence(Seconds interval) : interval_(interval) {}

  // Whether to search now. True at most once per interval; remembers the inputs it has seen.
  bool due(const View& view) {
    if (view.now < next_) return false;
    next_ = view.now + interval_;
    read_inputs(view);
    const bool changed = inputs_ != searched_;
    std::swap(inputs_, searched_);
    if (changed) {
      gap_ = interval_;
    } else if (view.now < quiet_until_) {
      return false;
    } else {
      gap_ = std::min(2 * gap_, kLongest * interval_);
    }
    quiet_until_ = view.now + gap_;
    return true;
  }
  Seconds next() const { return next_; }
  // Whether what the last search gave a job still suits it: the job is there, and its owner has not
  // asked for another number of GPUs since.
  static bool stands(const View& view, Slot slot, JobId id, int gpus) {
    const Job& job = view.jobs[slot];
    return job.spec.id == id && (job.running() || job.waiting()) && gpus >= job.spec.least_gpus() &&
           gpus <= job.spec.most_gpus();
  }

  void checkpoint(Archive& archive) {
    archive.value(gap_);
    archive.value(next_);
    archive.value(quiet_until_);
    archive.list(searched_);
  }

 private:
  static constexpr double kLongest = 64;  // intervals

  // Which jobs are there, what they may have and hold, and what the nodes have.
  void read_inputs(const View& view) {
    inputs_.clear();
    for (std::size_t n = 0; n < view.cluster.node_count(); ++n) {
      const NodeId node{static_cast<std::uint32_t>(n)};
      inputs_.push_back(static_cast<std::uint64_t>(view.cluster.usable_on(node)));
    }
    for (const Slot slot : view.jobs.active()) {
      const Job& job = view.jobs[slot];
      inputs_.push_back(index(job.spec.id));
      inputs_.push_back((static_cast<std::uint64_t>(job.spec.least_gpus()) << 32) |
                        static_cast<std::uint64_t>(job.spec.most_gpus()));
      for (int i = 0; job.running() && i < job.gpus.nodes(); ++i) {
        inputs_.push_back((std::uint64_t{index(job.gpus[i].node)} << 8) |
                          static_cast<std::uint64_t>(job.gpus[i].count()));
      }
    }
  }

  Seconds interval_;
  Seconds gap_ = 0;
  Seconds next_ = -kNever;
  Seconds quiet_until_ = -kNever;
  std::vector<std::uint64_t> inputs_;
  std::vector<std::uint64_t> searched_;  // inputs of the last look
};

}  // namespace muster
