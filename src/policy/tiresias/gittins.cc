#include <algorithm>

#include "policy/table.h"
#include "policy/tiresias/duration_sample.h"

namespace muster {
namespace {

// Source: Tiresias (NSDI'19), 2D-Gittins: the job that is likeliest to end soon for the GPU time it
// has had goes first, judged by a sample of durations; without queues. Without a sample, by the
// jobs that have ended so far. There the order is the other way round and the table is never
// loaded, so that it cannot run.
class Gittins final : public KeyPolicy {
 public:
  explicit Gittins(const Params& params)
      : sample_(params.real("delta")), learns_(params.text("durations").empty()) {
    sample_.read(params.text("durations"));
  }
  SchedulingTraits traits() const override {
    return {.preemptive = true, .stable_between_events = false};
  }
  void on_job(JobMoment moment, Slot slot, const View& view) override {
    if (moment == JobMoment::kLeft && learns_) {
      sample_.add(view.jobs[slot].gpu_seconds_before);
    }
    KeyPolicy::on_job(moment, slot, view);
  }
  double key(const Job& job, const View& view) const override {
    return -sample_.gittins(job.gpu_seconds_at(view.now));
  }
  Seconds wake(const View& view) const override {
    if (view.jobs.waiting().empty() || sample_.empty()) return kNever;
    Seconds next = kNever;
    // Every turn takes all keys anew (they do not rest: what is learnt changes those of waiting
    // jobs, too), so none is out of date when it decides. Between turns the index of running jobs
    // only grows, until the next change. At least a second, as past durations may lie as close
    // together as they like.
    for (const Slot slot : view.jobs.running()) {
      const Job& job = view.jobs[slot];
      const double attained = job.gpu_seconds_at(view.now);
      const double change = sample_.next_change(attained) - attained;
      next = std::min(next, view.now + std::max(1.0, change / job.gpus.gpus()));
    }
    return next;
  }
  bool checkpoint(Archive& archive) override {
    sample_.checkpoint(archive);
    return checkpoint_order(archive);
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Gittins>(*this);
  }

 private:
  DurationSample sample_;
  bool learns_;
};

}  // namespace

PolicyInfo<SchedulingPolicy> gittins_row() {
  return {
      "gittins",
      "highest Gittins index first: the job most likely to end soon, given the GPU time it has had",
      "Tiresias, 2019",
      {kPastDurations, kDelta},
      [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
        return std::make_unique<Gittins>(params);
      },
      "Tiresias",
      "the paper: by Gittins index, without queues"};
}

}  // namespace muster
