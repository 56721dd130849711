#include <algorithm>
#include <limits>

#include "policy/builtin.h"
#include "policy/elasticflow/candidates.h"

namespace muster {
namespace {

// Source: ElasticFlow (ASPLOS'23), as the paper means it. Every job gets its minimum satisfactory
// share: the fewest GPUs that bring it to its deadline in time, given those with earlier ones.
// Spare GPUs go, one size at a time, where they cost the fewest GPU-seconds. Jobs without deadline
// come last and live on what is spare.
class ElasticFlow final : public SchedulingPolicy {
 public:
  explicit ElasticFlow(Seconds slot) : slot_(slot) {}
  SchedulingTraits traits() const override {
    return {.preemptive = true,
            .settles = false,
            .work_conserving = false,
            .resizes = true,
            .clairvoyant = true};
  }
  void schedule(const View& view, Plan& plan) override {
    frame_ = frame_of(view, slot_);
    const std::vector<Candidate> candidates = candidates_by_deadline(view);
    free_ = GpuTimeline(view.now, frame_.gpus);
    entries_.clear();
    for (const Candidate& candidate : candidates) {
      Entry entry;
      entry.job = candidate.planned();
      plan_share(frame_, entry.job, free_, 0, scratch_);
      adopt(entry, scratch_, scratch_.gpus[0].gpus);
      entries_.push_back(std::move(entry));
    }
    hand_out_spare();
    next_change_ = kNever;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      if (entry.plan.size() > 1) next_change_ = std::min(next_change_, entry.plan[1].at);
      if (entry.gpus > 0) plan.add(Share::alone(candidates[i].slot, entry.gpus));
    }
  }
  Seconds wake(const View& view) const override {
    return view.jobs.active().empty() ? kNever : next_change_;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<ElasticFlow>(*this);
  }

 private:
  struct Entry {
    PlannedJob job;
    GpuTimeline plan;
    Seconds end = 0;
    int gpus = 0;
    // The next size, what it costs in GPU-seconds per GPU, and the plan with it.
    double cost = 0;
    JobPlan larger;
  };

  void adopt(Entry& entry, JobPlan& plan, int gpus) {
    std::swap(free_, plan.free);
    std::swap(entry.plan, plan.gpus);
    entry.end = plan.end;
    entry.gpus = gpus;
  }

  void bid(Entry& entry, int spare) {
    const int next = entry.job.next(entry.gpus);
    entry.cost = kNone;
    if (next == entry.gpus || next - entry.gpus > spare) return;
    plan_share(frame_, entry.job, without(free_, entry.plan, entry.end), next, entry.larger);
    const double growth =
        gpu_seconds(entry.larger.gpus, entry.larger.end) - gpu_seconds(entry.plan, entry.end);
    // Who has nothing goes before who would have more.
    entry.cost = entry.gpus == 0 ? -kNone : growth / (next - entry.gpus);
  }

  void hand_out_spare() {
    int spare = frame_.gpus;
    for (const Entry& entry : entries_) spare -= entry.gpus;
    while (spare > 0) {
      Entry* best = nullptr;
      for (Entry& entry : entries_) {
        bid(entry, spare);
        if (entry.cost < kNone && (best == nullptr || entry.cost < best->cost)) best = &entry;
      }
      if (best == nullptr) return;
      const int next = best->job.next(best->gpus);
      spare -= next - best->gpus;
      adopt(*best, best->larger, next);
    }
  }

  static constexpr double kNone = std::numeric_limits<double>::infinity();

  Seconds slot_;
  PlanFrame frame_;
  GpuTimeline free_;
  JobPlan scratch_;
  std::vector<Entry> entries_;
  Seconds next_change_ = kNever;
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_elasticflow(const Params& params) {
  return std::make_unique<ElasticFlow>(params.real("slot"));
}

}  // namespace muster
