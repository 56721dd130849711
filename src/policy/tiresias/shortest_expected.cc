#include <algorithm>

#include "policy/shared_params.h"
#include "policy/table.h"
#include "policy/tiresias/duration_sample.h"

namespace muster {
namespace {

// Source: Tiresias (NSDI'19): the shortest expected remaining GPU time first, judged by a sample of
// durations; without one, by the jobs that have ended so far.
class ShortestExpected final : public SchedulingPolicy {
 public:
  explicit ShortestExpected(const Params& params)
      : sample_(params.real("delta")),
        learns_(params.text("durations").empty()),
        quantum_(params.real("quantum")) {
    sample_.read(params.text("durations"));
  }

  SchedulingTraits traits() const override {
    return {.preemptive = true, .stable_between_events = false};
  }

  void on_job(JobMoment moment, Slot slot, const View& view) override {
    if (moment == JobMoment::kLeft) {
      if (learns_) sample_.add(view.jobs[slot].gpu_seconds_before);
      std::erase(list_, slot);
      return;
    }
    if (moment != JobMoment::kAdmitted) return;
    if (expected_.size() <= index(slot)) expected_.resize(index(slot) + 1);
    list_.push_back(slot);
  }

  void schedule(const View& view, Plan& plan) override {
    for (const Slot slot : list_) {
      const double attained = view.jobs[slot].gpu_seconds_at(view.now);
      expected_[index(slot)] = sample_.expected_remaining(attained);
    }
    std::stable_sort(list_.begin(), list_.end(),
                     [this](Slot a, Slot b) { return expected_[index(a)] < expected_[index(b)]; });
    for (const Slot slot : list_) {
      const JobSpec& spec = view.jobs[slot].spec;
      if (!plan.add(AllocationRequest::alone(slot, spec.gpus, spec.gpu_type))) return;
    }
  }

  Seconds wake(const View& view) const override {
    return view.jobs.waiting().empty() ? kNever : view.now + quantum_;
  }

  bool checkpoint(Archive& archive) override {
    sample_.checkpoint(archive);
    archive.list(list_);
    archive.list(expected_);
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<ShortestExpected>(*this);
  }

 private:
  DurationSample sample_;
  bool learns_;
  Seconds quantum_;
  std::vector<Slot> list_;
  std::vector<double> expected_;  // by slot
};

}  // namespace

PolicyInfo<SchedulingPolicy> shortest_expected_row() {
  return {"shortest-expected",
          "shortest expected remaining GPU time first, estimated from past durations",
          "Tiresias, 2019",
          {kPastDurations, kDelta, kQuantum},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<ShortestExpected>(params);
          }};
}

}  // namespace muster
