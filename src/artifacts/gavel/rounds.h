// The rounds of Gavel's simulator, with its defects.
#pragma once

#include <memory>

#include "policy/gavel/rounds.h"

namespace muster {

// A new job cannot run until the next reset, yet may count against the GPUs of a round; time
// between rounds without work counts as work; what holds "since the last reset" also holds for a
// reset at time 0; a job may be given a type with fewer GPUs than it asks for; and, since August
// 2020, every new pair begins with a deficit of half a round (`owes_pairs`).
class RoundsAsCoded final : public RoundsPolicy {
 public:
  RoundsAsCoded(std::unique_ptr<Allocator> allocator, RoundOptions options, bool owes_pairs)
      : RoundsPolicy(std::move(allocator), std::move(options)), owes_pairs_(owes_pairs) {}
  // A job on a type with too few GPUs for it waits until the next reset, which may give it the
  // same.
  SchedulingTraits traits() const override {
    SchedulingTraits traits = RoundsPolicy::traits();
    traits.strands = true;
    return traits;
  }
  void on_job(JobMoment moment, Slot slot, const View& view) override;
  bool checkpoint(Archive& archive) override;
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<RoundsAsCoded>(*this);
  }

 protected:
  void before_round(const View& view) override;
  Seconds round_start() const override { return round_end_; }
  Seconds first_time(bool pair) const override {
    return pair && owes_pairs_ ? 0 : RoundsPolicy::first_time(pair);
  }
  bool may_use(const View&, const JobSpec&, Symbol) const override { return true; }
  bool asks_early() const override { return last_reset_ == 0; }
  void before_reset(const View& view) override {
    if (stalled(view)) last_reset_ = 0;
  }
  bool unseen_take_room() const override { return true; }
  bool takes_any_gpus() const override { return false; }

 private:
  bool owes_pairs_;
  Seconds emptied_ = kNever;  // when the last job left
};

}  // namespace muster
