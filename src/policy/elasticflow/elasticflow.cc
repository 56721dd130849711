#include <algorithm>
#include <limits>

#include "policy/elasticflow/bid.h"
#include "policy/elasticflow/deadline_book.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: ElasticFlow (ASPLOS'23), as the paper means it. Every job gets its minimum satisfactory
// share: the fewest GPUs that bring it to its deadline in time, given those with earlier ones.
// Spare GPUs go, one size at a time, where they cost the fewest GPU-seconds. Jobs without deadline,
// and those that can no longer make it, live on what is spare.
//
// Plans that keep a promise stay until better ones for all are found: see DeadlineBook.
class ElasticFlow final : public SchedulingPolicy {
 public:
  explicit ElasticFlow(Seconds slot) : slot_(slot) {}
  SchedulingTraits traits() const override {
    return {.needs = kNeeds,
            .preemptive = true,
            .stable_between_events = false,
            .work_conserving = false,
            .resizes = true,
            .needs_periodic_turns = true,
            .promises = true};
  }
  void schedule(const View& view, Plan& plan) override {
    frame_ = frame_of(view, slot_);
    bring_up_to_date(view);
    list_grants();
    allocate_spare();
    next_change_ = kNever;
    for (const Grant& grant : grants_) {
      if (grant.gpus > 0) plan.add(AllocationRequest::alone(grant.slot, grant.gpus));
      const GpuTimeline& own = *grant.plan;
      if (own.size() > 1) next_change_ = std::min(next_change_, own[1].at);
    }
    // Only promises last.
    for (const Grant& grant : grants_) {
      if (!grant.promised) free_ = without(free_, *grant.plan, grant.end);
    }
    book_.leave(free_);
  }
  void on_job(JobMoment moment, Slot slot, const View& view) override {
    if (moment != JobMoment::kLeft) return;
    const JobSpec& job = view.jobs[slot].spec;
    book_.remove({job.deadline, job.id});
  }
  Seconds wake(const View& view) const override {
    return view.jobs.active().empty() ? kNever : next_change_;
  }
  const DeadlineBook* promises() const override { return &book_; }
  bool checkpoint(Archive& archive) override {
    archive.value(frame_);
    book_.checkpoint(archive);
    archive.value(next_change_);
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<ElasticFlow>(*this);
  }

 private:
  static constexpr Need kNeeds[] = {
      {Knowledge::kDuration},
      {Knowledge::kDeadline, "no job is promised anything, and all jobs share what there is"},
      {Knowledge::kSizes, "every job keeps its size"},
      {Knowledge::kScaling, "jobs have their least size, as no GPU more is worth anything"}};
  // A job in this turn's allocation of spare GPUs.
  struct Grant {
    Slot slot = kNoSlot;
    bool promised = false;
    DeadlineBook::Key key;
    PlannedJob job;
    const GpuTimeline* plan = nullptr;  // in the book, or in best_effort_
    Seconds end = 0;
    int gpus = 0;
    // The next size, and what it costs in GPU-seconds per GPU.
    double cost = 0;
    bool current = false;
    Bid bid;
  };
  // A job without promise, planned for this turn alone.
  struct BestEffort {
    Candidate job;
    GpuTimeline plan;
    Seconds end = 0;
  };

  // Enters newcomers into the book and corrects what has gone otherwise than planned.
  void bring_up_to_date(const View& view) {
    // Invariant of the book after this function: every entry is planned to meet its deadline.
    book_.advance(frame_);
    best_effort_.clear();
    newcomers_.clear();
    late_.clear();
    for (const Slot slot : view.jobs.active()) {
      const Job& job = view.jobs[slot];
      const double left = std::max(job.remaining_at(view.now), kLeastWork);
      const DeadlineBook::Key key{job.spec.deadline, job.spec.id};
      if (const auto found = book_.entries().find(key); found != book_.entries().end()) {
        constexpr double kClose = 1e-6;
        const double planned = found->second.job.left;
        const bool as_planned = std::abs(left - planned) <= kClose * std::max(1.0, planned);
        if (as_planned || book_.correct(frame_, key, left)) continue;
      }
      Candidate candidate = candidate_of(view, job.spec, left);
      candidate.slot = slot;
      if (!candidate.fits(frame_.gpus)) continue;
      // Only newcomers may trigger a replanning of all jobs; a job that is late already must not
      // endanger the promises of others.
      const bool is_new = job.admitted == view.now;
      if (job.spec.deadline == kNever) {
        best_effort_.push_back({std::move(candidate), {}, 0});
      } else {
        (is_new ? newcomers_ : late_).push_back(std::move(candidate));
      }
    }
    // In the order in which they were admitted, as admission has asked for them.
    std::sort(newcomers_.begin(), newcomers_.end(),
              [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
    promise(newcomers_, true);
    std::sort(late_.begin(), late_.end(), [](const Candidate& a, const Candidate& b) {
      return DeadlineBook::key_of(a) < DeadlineBook::key_of(b);
    });
    promise(late_, false);
  }
  // Admission control: a job without a promise goes on as a best-effort job.
  void promise(std::vector<Candidate>& jobs, bool anew) {
    if (jobs.empty()) return;
    BookTrial trial(book_, frame_);
    for (Candidate& job : jobs) {
      if (!trial.add(job, anew)) best_effort_.push_back({std::move(job), {}, 0});
    }
    trial.commit(book_);
  }

  // All jobs with their first plans, the earliest deadline first; best-effort jobs after
  // those with promises.
  void list_grants() {
    grants_.clear();
    free_ = book_.free();
    for (const auto& [key, entry] : book_.entries()) {
      add_grant(entry.job, entry.gpus, entry.end, true);
    }
    std::sort(best_effort_.begin(), best_effort_.end(),
              [](const BestEffort& a, const BestEffort& b) {
                return DeadlineBook::key_of(a.job) < DeadlineBook::key_of(b.job);
              });
    for (BestEffort& best_effort : best_effort_) {
      plan_minimum_share(frame_, best_effort.job.planned(), free_, 0, scratch_);
      std::swap(free_, scratch_.free);
      std::swap(best_effort.plan, scratch_.gpus);
      best_effort.end = scratch_.end;
    }
    for (const BestEffort& best_effort : best_effort_)
      add_grant(best_effort.job, best_effort.plan, best_effort.end, false);
  }
  void add_grant(const Candidate& job, const GpuTimeline& plan, Seconds end, bool promised) {
    Grant& grant = grants_.emplace_back();
    grant.slot = job.slot;
    grant.promised = promised;
    grant.key = DeadlineBook::key_of(job);
    grant.job = job.planned();
    grant.plan = &plan;
    grant.end = end;
    grant.gpus = plan[0].gpus;
  }

  void offer(Grant& grant, int spare) {
    // The marginal cost of the next larger size, in GPU-seconds per additional GPU. It is negative
    // if finishing earlier saves more than the size costs.
    const int next = grant.job.next(grant.gpus);
    if (next == grant.gpus || next - grant.gpus > spare) {
      grant.cost = kNone;
      return;
    }
    if (grant.current && grant.bid.survives(changes_) &&
        grant.bid.first_step == Bidder::first_step(free_, *grant.plan, grant.end)) {
      return;
    }
    grant.bid = bidder_.bid(frame_, grant.job, free_, *grant.plan, grant.end, next);
    grant.current = true;
    if (grant.promised && !grant.bid.in_time) {
      // A plan may have more than this later in the same period, and need it.
      grant.cost = kNone;
    } else if (grant.gpus == 0) {
      grant.cost = -kNone;  // a job without GPUs goes before one that would get more
    } else {
      grant.cost =
          (grant.bid.gpu_seconds - gpu_seconds(*grant.plan, grant.end)) / (next - grant.gpus);
    }
  }

  // Greedy by marginal cost, one size at a time: O(sizes given x jobs) offers, most of which are
  // still those of the last pass (Bid::survives).
  void allocate_spare() {
    int spare = frame_.gpus;
    for (const Grant& grant : grants_) spare -= grant.gpus;
    changes_.clear();
    while (spare > 0) {
      Grant* best = nullptr;
      for (Grant& grant : grants_) {
        offer(grant, spare);
        if (grant.cost < kNone && (best == nullptr || grant.cost < best->cost)) best = &grant;
      }
      if (best == nullptr) return;
      const int next = best->job.next(best->gpus);
      spare -= next - best->gpus;
      take(*best, next);
    }
  }
  void take(Grant& grant, int gpus) {
    // The rest of the plan is made anew for the larger share, so its later GPUs are released.
    plan_minimum_share(frame_, grant.job, without(free_, *grant.plan, grant.end), gpus, scratch_);
    find_changes(free_, scratch_.free, changes_);
    std::swap(free_, scratch_.free);
    grant.end = scratch_.end;
    grant.gpus = gpus;
    grant.current = false;
    if (grant.promised) {
      book_.exchange(grant.key, scratch_.gpus, scratch_.end);
      return;
    }
    for (BestEffort& best_effort : best_effort_) {
      if (&best_effort.plan == grant.plan) {
        std::swap(best_effort.plan, scratch_.gpus);
        best_effort.end = scratch_.end;
      }
    }
  }

  static constexpr double kNone = std::numeric_limits<double>::infinity();

  Seconds slot_;
  PlanFrame frame_;
  DeadlineBook book_;
  GpuTimeline free_;
  JobPlan scratch_;
  std::vector<Candidate> newcomers_;
  std::vector<Candidate> late_;
  std::vector<BestEffort> best_effort_;
  std::vector<Grant> grants_;
  Bidder bidder_;
  std::vector<TimeRange> changes_;  // of what is free, by the last GPUs allocated
  Seconds next_change_ = kNever;
};

}  // namespace

PolicyInfo<SchedulingPolicy> elasticflow_row() {
  return {"elasticflow",
          "the fewest GPUs that meet all deadlines; spare GPUs where they cost fewest GPU-seconds",
          "ElasticFlow, 2023",
          {kPlanSlot},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<ElasticFlow>(params.real("slot"));
          },
          "ElasticFlow",
          "the paper"};
}

}  // namespace muster
