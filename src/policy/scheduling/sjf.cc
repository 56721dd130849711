#include <algorithm>

#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Shortest job first, without preemption, by the owner's estimate or the duration.
class Sjf final : public SchedulingPolicy {
 public:
  Sjf(bool by_estimate, bool strict) : by_estimate_(by_estimate), strict_(strict) {}
  SchedulingTraits traits() const override {
    return {.needs = by_estimate_ ? Needs(kByEstimate) : Needs(kByDuration),
            .strict = strict_,
            .work_conserving = !strict_};
  }
  // The queue is a heap, kept between turns, so that a long queue costs its logarithm and not its
  // length.
  void on_job(JobMoment moment, Slot slot, const View& view) override {
    const bool waits = moment == JobMoment::kAdmitted || moment == JobMoment::kStopped;
    if (!waits) return;
    const JobSpec& spec = view.jobs[slot].spec;
    push({length_of(spec), spec.id, slot});
  }
  void schedule(const View& view, Plan& plan) override {
    taken_.clear();
    bool more = true;
    while (more && !heap_.empty()) {
      const Entry entry = heap_.front();
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
      const Job& job = view.jobs[entry.slot];
      if (job.spec.id != entry.id || !job.waiting()) continue;  // it has started or left since
      // A job that failed and waits again is here twice: side by side, unless it was believed to
      // be shorter then.
      if (entry.key != length_of(job.spec)) continue;
      if (!taken_.empty() && taken_.back().id == entry.id) continue;
      taken_.push_back(entry);
      more = plan.add(AllocationRequest::alone(entry.slot, job.spec.gpus, job.spec.gpu_type));
    }
    for (const Entry& entry : taken_) push(entry);
  }
  bool checkpoint(Archive& archive) override {
    archive.list(heap_);
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override { return std::make_unique<Sjf>(*this); }

 private:
  static constexpr Need kByDuration[] = {{Knowledge::kDuration}};
  static constexpr Need kByEstimate[] = {
      {Knowledge::kEstimate, "such a job counts with its duration", true}};
  struct Entry {
    double key;
    JobId id;
    Slot slot;
    friend bool operator<(const Entry& a,
                          const Entry& b) {  // the heap's largest is the shortest job
      return a.key != b.key ? a.key > b.key : a.id > b.id;
    }
  };
  double length_of(const JobSpec& spec) const {
    return by_estimate_ && spec.estimate > 0 ? spec.estimate : spec.duration;
  }
  void push(const Entry& entry) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end());
  }

  bool by_estimate_;
  bool strict_;
  std::vector<Entry> heap_;
  std::vector<Entry> taken_;
};

}  // namespace

PolicyInfo<SchedulingPolicy> sjf_row() {
  return {"sjf",
          "shortest job first, without preemption",
          "folklore",
          {{"by_estimate", ParamKind::kFlag, "false", "use the estimate instead of the duration"},
           kStrict},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<Sjf>(params.flag("by_estimate"), params.flag("strict"));
          }};
}

}  // namespace muster
