#include <algorithm>
#include <limits>

#include "policy/builtin.h"
#include "policy/elasticflow/bid.h"
#include "policy/elasticflow/deadline_book.h"

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
    return {.preemptive = true,
            .settles = false,
            .work_conserving = false,
            .resizes = true,
            .clairvoyant = true};
  }
  void schedule(const View& view, Plan& plan) override {
    frame_ = frame_of(view, slot_);
    bring_up_to_date(view);
    list_lots();
    hand_out_spare();
    next_change_ = kNever;
    for (const Lot& lot : lots_) {
      if (lot.gpus > 0) plan.add(Share::alone(lot.slot, lot.gpus));
      const GpuTimeline& own = *lot.plan;
      if (own.size() > 1) next_change_ = std::min(next_change_, own[1].at);
    }
    // Only promises last.
    for (const Lot& lot : lots_) {
      if (!lot.promised) free_ = without(free_, *lot.plan, lot.end);
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
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<ElasticFlow>(*this);
  }

 private:
  // A job in this turn's sale of spare GPUs.
  struct Lot {
    Slot slot = kNoSlot;
    bool promised = false;
    DeadlineBook::Key key;
    PlannedJob job;
    const GpuTimeline* plan = nullptr;  // in the book, or in guests_
    Seconds end = 0;
    int gpus = 0;
    // The next size, and what it costs in GPU-seconds per GPU.
    double cost = 0;
    bool current = false;
    Bid bid;
  };
  // A job without promise, planned for this turn alone.
  struct Guest {
    Candidate job;
    GpuTimeline plan;
    Seconds end = 0;
  };

  // Enters newcomers into the book and corrects what has gone otherwise than planned.
  void bring_up_to_date(const View& view) {
    book_.advance(frame_);
    guests_.clear();
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
      const bool is_new = job.admitted == view.now;
      if (job.spec.deadline == kNever) {
        guests_.push_back({std::move(candidate), {}, 0});
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
  void promise(std::vector<Candidate>& jobs, bool anew) {
    if (jobs.empty()) return;
    BookTrial trial(book_, frame_);
    for (Candidate& job : jobs) {
      if (!trial.add(job, anew)) guests_.push_back({std::move(job), {}, 0});
    }
    trial.commit(book_);
  }

  // Everybody with the plan to begin with, the earliest deadline first; guests after those with
  // promises.
  void list_lots() {
    lots_.clear();
    free_ = book_.free();
    for (const auto& [key, entry] : book_.entries()) {
      add_lot(entry.job, entry.gpus, entry.end, true);
    }
    std::sort(guests_.begin(), guests_.end(), [](const Guest& a, const Guest& b) {
      return DeadlineBook::key_of(a.job) < DeadlineBook::key_of(b.job);
    });
    for (Guest& guest : guests_) {
      plan_share(frame_, guest.job.planned(), free_, 0, scratch_);
      std::swap(free_, scratch_.free);
      std::swap(guest.plan, scratch_.gpus);
      guest.end = scratch_.end;
    }
    for (const Guest& guest : guests_) add_lot(guest.job, guest.plan, guest.end, false);
  }
  void add_lot(const Candidate& job, const GpuTimeline& plan, Seconds end, bool promised) {
    Lot& lot = lots_.emplace_back();
    lot.slot = job.slot;
    lot.promised = promised;
    lot.key = DeadlineBook::key_of(job);
    lot.job = job.planned();
    lot.plan = &plan;
    lot.end = end;
    lot.gpus = plan[0].gpus;
  }

  void offer(Lot& lot, int spare) {
    const int next = lot.job.next(lot.gpus);
    if (next == lot.gpus || next - lot.gpus > spare) {
      lot.cost = kNone;
      return;
    }
    if (lot.current && lot.bid.survives(changes_) &&
        lot.bid.first_step == Bidder::first_step(free_, *lot.plan, lot.end)) {
      return;
    }
    lot.bid = bidder_.bid(frame_, lot.job, free_, *lot.plan, lot.end, next);
    lot.current = true;
    if (lot.promised && !lot.bid.in_time) {
      // A plan may have more than this later in the same period, and need it.
      lot.cost = kNone;
    } else if (lot.gpus == 0) {
      lot.cost = -kNone;  // who has nothing goes before who would have more
    } else {
      lot.cost = (lot.bid.gpu_seconds - gpu_seconds(*lot.plan, lot.end)) / (next - lot.gpus);
    }
  }

  void hand_out_spare() {
    int spare = frame_.gpus;
    for (const Lot& lot : lots_) spare -= lot.gpus;
    changes_.clear();
    while (spare > 0) {
      Lot* best = nullptr;
      for (Lot& lot : lots_) {
        offer(lot, spare);
        if (lot.cost < kNone && (best == nullptr || lot.cost < best->cost)) best = &lot;
      }
      if (best == nullptr) return;
      const int next = best->job.next(best->gpus);
      spare -= next - best->gpus;
      take(*best, next);
    }
  }
  void take(Lot& lot, int gpus) {
    plan_share(frame_, lot.job, without(free_, *lot.plan, lot.end), gpus, scratch_);
    find_changes(free_, scratch_.free, changes_);
    std::swap(free_, scratch_.free);
    lot.end = scratch_.end;
    lot.gpus = gpus;
    lot.current = false;
    if (lot.promised) {
      book_.exchange(lot.key, scratch_.gpus, scratch_.end);
      return;
    }
    for (Guest& guest : guests_) {
      if (&guest.plan == lot.plan) {
        std::swap(guest.plan, scratch_.gpus);
        guest.end = scratch_.end;
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
  std::vector<Guest> guests_;
  std::vector<Lot> lots_;
  Bidder bidder_;
  std::vector<TimeRange> changes_;  // of what is free, by the last GPUs handed out
  Seconds next_change_ = kNever;
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_elasticflow(const Params& params) {
  return std::make_unique<ElasticFlow>(params.real("slot"));
}

}  // namespace muster
