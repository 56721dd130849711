#include "policy/table.h"

namespace muster {
namespace {

// Source: AntMan (OSDI'20) as Muri's simulator has it. Jobs with guaranteed resources come first,
// then opportunistic ones (priority below 0), each in order of submission; no job is stopped.
// Meant for the placement of the same name.
class AntMan final : public SchedulingPolicy {
 public:
  SchedulingTraits traits() const override {
    return {.needs = kNeeds, .work_conserving = false, .ranks_jobs = true};
  }
  void schedule(const View& view, Plan& plan) override {
    for (const bool guaranteed : {true, false}) {
      for (const Slot slot : view.jobs.active()) {
        const Job& job = view.jobs[slot];
        if ((job.spec.priority >= 0) != guaranteed) continue;
        plan.rank(slot);
        if (job.waiting())
          plan.add(AllocationRequest::alone(slot, job.spec.gpus, job.spec.gpu_type));
      }
    }
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<AntMan>(*this);
  }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kPriority, "every job is guaranteed: it is fifo"}};
};

}  // namespace

PolicyInfo<SchedulingPolicy> antman_row() {
  return {"antman",
          "guaranteed jobs first, then opportunistic ones; for the placement of the same name",
          "AntMan, 2020",
          {},
          [](const Params&) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<AntMan>();
          }};
}

}  // namespace muster
