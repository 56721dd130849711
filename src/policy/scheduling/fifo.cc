#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// First come, first served, by submission. Running jobs stay, unless `preempt` is set: then a job
// that was submitted earlier but arrives later may push others out, as in Blox.
class Fifo final : public KeyPolicy {
 public:
  explicit Fifo(const Params& params)
      : KeyPolicy(params.real("boost_after")),
        preempt_(params.flag("preempt")),
        strict_(params.flag("strict")) {}
  SchedulingTraits traits() const override {
    return {.preemptive = preempt_,
            .stable_between_events = !boosts(),
            .strict = strict_,
            .work_conserving = !strict_,
            .repeats = true};
  }
  void schedule(const View& view, Plan& plan) override {
    if (preempt_) {
      KeyPolicy::schedule(view, plan);
      return;
    }
    // Waiting jobs are kept in order of arrival: no sorting, and no look at those that cannot
    // matter.
    for (const Slot slot : view.jobs.waiting()) {
      const JobSpec& spec = view.jobs[slot].spec;
      if (!plan.add(AllocationRequest::alone(slot, spec.gpus, spec.gpu_type))) return;
    }
  }
  void on_job(JobMoment moment, Slot slot, const View& view) override {
    if (preempt_) KeyPolicy::on_job(moment, slot, view);
  }
  double key(const Job& job, const View&) const override { return job.spec.submit; }
  bool keys_rest() const override { return true; }
  bool checkpoint(Archive& archive) override { return checkpoint_order(archive); }
  std::unique_ptr<SchedulingPolicy> clone() const override { return std::make_unique<Fifo>(*this); }

 private:
  bool preempt_;
  bool strict_;
};

}  // namespace

PolicyInfo<SchedulingPolicy> fifo_row() {
  return {
      "fifo",
      "first come, first served",
      "folklore",
      {{"preempt", ParamKind::kFlag, "false", "let a job preempt jobs that were submitted later"},
       kStrict,
       kBoostAfter},
      [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
        return std::make_unique<Fifo>(params);
      }};
}

}  // namespace muster
