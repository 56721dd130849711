#include <algorithm>
#include <cmath>

#include "artifacts/lucid/quota_policy.h"
#include "policy/table.h"

namespace muster {
namespace {

// Tiresias as Lucid's simulator has it: two queues by attained GPU-seconds, first come first served
// in each, looked at once a minute; in between jobs end but none starts.
class TiresiasQuota final : public QuotaPolicy {
 public:
  explicit TiresiasQuota(const Params& params)
      : limit_(params.real("limit")), every_(params.real("every")) {}
  SchedulingTraits traits() const override {
    return {.preemptive = true, .work_conserving = false};
  }
  void schedule(const View& view, Plan& plan) override {
    late_ = std::fmod(view.now, every_) != 0;
    if (!late_) {
      QuotaPolicy::schedule(view, plan);
      return;
    }
    for (const Slot slot : view.jobs.active()) {
      const Job& job = view.jobs[slot];
      if (job.running())
        plan.add(AllocationRequest::alone(slot, job.gpus.gpus(), job.spec.gpu_type));
    }
  }
  double rank(const Job& job, const View& view) const override {
    // Submissions stay far below this step between the queues.
    constexpr double kQueueStep = 1e15;
    return (job.gpu_seconds_at(view.now) > limit_ ? kQueueStep : 0) + job.spec.submit;
  }
  bool waiting_first() const override { return false; }
  // The next full minute if something happened since the last; else that of the next demotion.
  Seconds wake(const View& view) const override {
    if (view.jobs.waiting().empty()) return kNever;
    const auto minute_after = [this](Seconds time) {
      return (std::floor(time / every_) + 1) * every_;
    };
    if (late_) return minute_after(view.now);
    Seconds next = kNever;
    for (const Slot slot : view.jobs.active()) {
      const Job& job = view.jobs[slot];
      const double left = limit_ - job.gpu_seconds_at(view.now);
      if (!job.running() || left < 0) continue;
      // The first minute later than the moment at which the limit is reached.
      next = std::min(next, minute_after(view.now + left / job.gpus.gpus()));
    }
    return next;
  }
  bool checkpoint(Archive& archive) override {
    archive.value(late_);
    return checkpoint_waits(archive);
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<TiresiasQuota>(*this);
  }

 private:
  double limit_;
  Seconds every_;
  bool late_ = false;  // something happened after the last full minute
};

}  // namespace

PolicyInfo<SchedulingPolicy> tiresias_quota_as_coded_row() {
  return {
      "tiresias-quota-as-coded",
      "two queues by attained GPU-seconds; GPUs are allocated by count once a minute, as in Lucid",
      "Lucid, 2023",
      {{"limit", ParamKind::kReal, "18000", "GPU-seconds after which a job leaves the first queue",
        0},
       {"every", ParamKind::kReal, "60", "seconds after which the order is computed again", 1}},
      [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
        return std::make_unique<TiresiasQuota>(params);
      },
      "Tiresias",
      "the simulator of Lucid"};
}

}  // namespace muster
