// The policy shortest-expected as Tiresias' simulator has it.
#pragma once

#include <memory>
#include <vector>

#include "base/params.h"
#include "policy/scheduling.h"
#include "policy/tiresias/duration_sample.h"

namespace muster {

// The mean of the durations that are longer, of which nothing is taken off; the longest does not
// count.
double expected_as_coded(const DurationSample& sample, double attained);

// A job's expectation stays what it was at its arrival, except that of the newest job, which is
// overwritten with that of the last running one in the list; it is a whole duration, not a
// remaining one, and is looked up by seconds instead of GPU-seconds.
class ShortestExpectedAsCoded final : public SchedulingPolicy {
 public:
  // The parameters are those of the row `shortest-expected`.
  explicit ShortestExpectedAsCoded(const Params& params);
  SchedulingTraits traits() const override {
    return {.preemptive = true, .stable_between_events = false};
  }
  void on_job(JobMoment moment, Slot slot, const View& view) override;
  void schedule(const View& view, Plan& plan) override;
  bool checkpoint(Archive& archive) override {
    sample_.checkpoint(archive);
    archive.list(list_);
    archive.list(expected_);
    archive.value(newest_);
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<ShortestExpectedAsCoded>(*this);
  }

 private:
  DurationSample sample_;
  bool learns_;
  std::vector<Slot> list_;
  std::vector<double> expected_;  // by slot
  Slot newest_ = kNoSlot;
};

}  // namespace muster
