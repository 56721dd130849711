#include <algorithm>

#include "model/belief.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Quasi-shortest-service-first (Helios, SC'21): the job with the smallest estimated GPU time first,
// without preemption; the head of the queue is never overtaken. The estimate of a job comes with it
// (`muster learn` makes such estimates); without one, its believed length counts, and zero where
// lengths are the truth. Ties go to the older job. Lucid's orchestrator is the same order, with
// backfill.
class Qssf final : public SchedulingPolicy {
 public:
  explicit Qssf(bool strict) : strict_(strict) {}
  SchedulingTraits traits() const override {
    return {.needs = kNeeds, .strict = strict_, .work_conserving = !strict_};
  }
  void on_job(JobMoment moment, Slot slot, const View& view) override {
    const JobSpec& spec = view.jobs[slot].spec;
    const Entry entry{estimate_of(spec) * spec.gpus, spec.id, slot};
    if (moment == JobMoment::kAdmitted || moment == JobMoment::kStopped) {
      queue_.insert(std::upper_bound(queue_.begin(), queue_.end(), entry), entry);
    }
    if (moment == JobMoment::kStarted || moment == JobMoment::kLeft) {
      const auto found = std::lower_bound(queue_.begin(), queue_.end(), entry);
      if (found != queue_.end() && found->id == entry.id) queue_.erase(found);
    }
  }
  void schedule(const View& view, Plan& plan) override {
    for (const Entry& entry : queue_) {
      const JobSpec& spec = view.jobs[entry.slot].spec;
      if (!plan.add(AllocationRequest::alone(entry.slot, spec.gpus, spec.gpu_type))) return;
    }
  }
  bool checkpoint(Archive& archive) override {
    archive.list(queue_);
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override { return std::make_unique<Qssf>(*this); }

 private:
  static constexpr Need kNeeds[] = {
      {Knowledge::kEstimate, "such a job counts as the shortest: where no job has one it is fifo"}};
  struct Entry {
    double service;
    JobId id;
    Slot slot;
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.service != b.service ? a.service < b.service : a.id < b.id;
    }
  };

  bool strict_;
  std::vector<Entry> queue_;  // ascending
};

}  // namespace

PolicyInfo<SchedulingPolicy> qssf_row() {
  return {"qssf",
          "smallest estimated GPU time first, without preemption",
          "Helios, 2021",
          {kStrict},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<Qssf>(params.flag("strict"));
          }};
}

PolicyInfo<SchedulingPolicy> lucid_row() {
  return {"lucid",
          "smallest estimated GPU time first; meant for the placement packing",
          "Lucid, 2023",
          {},
          [](const Params&) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<Qssf>(false);
          }};
}

}  // namespace muster
