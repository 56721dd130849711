// ElasticFlow as its artifact has it, with and without admission control.
#include <algorithm>
#include <limits>

#include "artifacts/elasticflow/elastic_scheduler.h"
#include "policy/elasticflow/bid.h"
#include "policy/table.h"

namespace muster::published {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

class ElasticFlow final : public ElasticScheduler {
 public:
  ElasticFlow(bool admission, bool grow_least, bool as_of_2022)
      : ElasticScheduler(Cap::kTuned),
        admission_(admission),
        grow_least_(grow_least),
        as_of_2022_(as_of_2022) {
    judges_exact_ends_ = true;
  }
  bool checkpoint(Archive& archive) override {
    free_.checkpoint(archive);
    archive.value(next_change_);
    return checkpoint_lists(archive);
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<ElasticFlow>(*this);
  }
  Seconds wake(const View& view) const override {
    if (next_change_ == kNever) return ElasticScheduler::wake(view);
    return events_.first() == kNever ? next_change_ : std::max(next_change_, now_ + slot_);
  }

 protected:
  void round() override {
    advance();
    for (const Slot slot : runnable_) job(slot).overhead = 0;
    const std::vector<Slot> ended = events_.take(now_);
    next_change_ = kNever;
    for (const Slot slot : ended) conclude(slot);
    for (const Slot slot : runnable_) job(slot).old_end = job(slot).end;
    if (admission_) {
      admit();
    } else {
      for (const Slot slot : arrivals_) wait(slot);
      plan_all();
    }
    adopt();
    start_waiting();
    allocate_spare();
    if (admission_) {
      std::stable_sort(runnable_.begin(), runnable_.end(),
                       [this](Slot a, Slot b) { return job(a).gpus > job(b).gpus; });
    }
    const std::vector<Slot>& order = admission_ ? runnable_ : running_;
    note_changes(order);
    // A change of plan makes a round if it comes before all ends, as they are before overheads.
    if (next_change_ >= events_.first()) next_change_ = kNever;
    look_up_ranges(placing_order(order));
    charge(order);
    for (const Slot slot : runnable_) {
      if (job(slot).gpus > 0) run(job(slot), job(slot).gpus);
    }
  }

 private:
  void conclude(Slot slot) {
    Job& j = job(slot);
    // With admission control, the end of a job that holds no GPUs passes unnoticed.
    if (admission_ && j.gpus == 0) return;
    // Overhead of the last round makes no job late there; without it counts.
    finish(j, j.end, admission_ ? j.exact_end : j.end);
    drop(slot);
  }

  // Plans jobs in order of their deadlines.
  void plan_all() {
    free_ = GpuTimeline(now_, cluster_gpus_);
    sort_by_deadline(runnable_);
    for (const Slot slot : runnable_) plan(job(slot));
  }
  bool all_in_time(std::vector<Slot>& jobs) {
    free_ = GpuTimeline(now_, cluster_gpus_);
    sort_by_deadline(jobs);
    return std::all_of(jobs.begin(), jobs.end(), [this](Slot slot) { return plan(job(slot)); });
  }
  bool plan(Job& j) {
    plan_minimum_share(frame(), j.wants, free_, 0, scratch_);
    std::swap(free_, scratch_.free);
    std::swap(j.plan, scratch_.gpus);
    j.end = scratch_.end;
    j.exact_end = scratch_.exact;
    return scratch_.in_time;
  }

  // All that came in one slot are admitted together, or none of those with a deadline.
  void admit() {
    bool admitted = false;
    if (!arrivals_.empty()) {
      std::vector<Slot> all = runnable_;
      all.insert(all.end(), arrivals_.begin(), arrivals_.end());
      admitted = all_in_time(all);
      for (const Slot slot : arrivals_) {
        if (admitted || job(slot).best_effort()) {
          wait(slot);
        } else {
          refuse(job(slot));
        }
      }
    }
    if (!admitted) plan_all();
  }

  // The original plans all jobs once more here, with the same outcome.
  void adopt() {
    sort_by_deadline(runnable_);
    for (const Slot slot : runnable_) {
      Job& j = job(slot);
      j.gpus = j.plan[0].gpus;
      events_.move_end(j);
      j.old_end = j.end;
    }
  }

  void start_waiting() {
    const std::vector<Slot> waiting = pending_;
    for (const Slot slot : waiting) {
      const Job& j = job(slot);
      if (j.gpus == 0) {
        if (!admission_) events_.add_moment(first_use(j));
        continue;
      }
      start(slot);
      events_.add_end(j);
    }
  }
  static Seconds first_use(const Job& j) {
    for (const TimeStep& step : j.plan) {
      if (step.gpus > 0) return step.at;
    }
    return j.end;
  }

  struct Offer {
    double marginal = -kInfinite;
    int gpus = 0;  // the next size
    bool current = false;
    Bid bid;
  };
  Offer& offer(Slot slot) { return offers_[index(slot)]; }

  // What it would take to give a job its next size now.
  void bid(Slot slot, int spare) {
    const Job& j = job(slot);
    Offer& o = offer(slot);
    if (o.gpus == j.gpus || o.gpus - j.gpus > spare) {
      o.marginal = -kInfinite;
      return;
    }
    if (j.gpus == 0) {
      o.marginal = kInfinite;
      return;
    }
    if (o.current && o.bid.survives(changes_) &&
        o.bid.first_step == Bidder::first_step(free_, j.plan, j.end)) {
      return;
    }
    o.bid = bidder_.bid(frame(), j.wants, free_, j.plan, j.end, o.gpus);
    o.current = true;
    const double growth = o.bid.gpu_seconds - gpu_seconds(j.plan, j.end);
    o.marginal = growth / (o.gpus - j.gpus);
    if (grow_least_) o.marginal = -o.marginal;
  }
  // Most bids stay what they were, and the list nearly in order.
  void sort_by_marginal() {
    ranks_.clear();
    for (const Slot slot : runnable_) ranks_.push_back({offer(slot).marginal, slot});
    const auto before = [](const Rank& a, const Rank& b) { return a.marginal > b.marginal; };
    const auto sorted = std::is_sorted_until(ranks_.begin(), ranks_.end(), before);
    if (sorted == ranks_.end()) return;
    std::stable_sort(ranks_.begin(), ranks_.end(), before);
    for (std::size_t i = 0; i < ranks_.size(); ++i) runnable_[i] = ranks_[i].slot;
  }

  // Spare GPUs go, step by step, to the job whose plan grows most by them. The paper means the
  // opposite; the artifact does this.
  void allocate_spare() {
    int spare = cluster_gpus_;
    for (const Slot slot : runnable_) {
      if (offers_.size() <= index(slot)) offers_.resize(index(slot) + 1);
      spare -= job(slot).gpus;
      offer(slot).gpus = job(slot).wants.next(job(slot).gpus);
      offer(slot).current = false;
    }
    if (spare == 0) return;
    changes_.clear();
    for (const Slot slot : runnable_) bid(slot, spare);
    sort_by_marginal();
    bool given = true;
    while (spare > 0 && given) {
      given = false;
      for (const Slot slot : runnable_) {
        Job& j = job(slot);
        Offer& o = offer(slot);
        if (o.gpus == j.gpus || o.gpus - j.gpus > spare) continue;
        spare -= o.gpus - j.gpus;
        take(j, o);
        given = true;
        break;
      }
      for (const Slot slot : runnable_) {
        if (offer(slot).gpus > job(slot).gpus) bid(slot, spare);
      }
      sort_by_marginal();
    }
  }
  void take(Job& j, Offer& o) {
    plan_minimum_share(frame(), j.wants, without(free_, j.plan, j.end), o.gpus, scratch_);
    find_changes(free_, scratch_.free, changes_);
    std::swap(free_, scratch_.free);
    std::swap(j.plan, scratch_.gpus);
    j.gpus = o.gpus;
    j.old_end = j.end;
    j.end = scratch_.end;
    // When its figures were made, the artifact forgot here that the work is done sooner.
    if (!as_of_2022_) j.exact_end = scratch_.exact;
    if (!j.started) start(j.slot);
    events_.move_end(j);
    o.gpus = j.wants.next(j.gpus);
    o.current = false;
  }

  void note_changes(const std::vector<Slot>& jobs) {
    for (const Slot slot : jobs) {
      const Job& j = job(slot);
      if (j.plan.size() < 2) continue;
      if (admission_) {
        next_change_ = std::min(next_change_, j.plan[1].at);
      } else {
        events_.add_moment(j.plan[1].at);
      }
    }
  }

  // Jobs of whole nodes first, then by size.
  std::vector<Slot> placing_order(const std::vector<Slot>& jobs) const {
    std::vector<Slot> order;
    for (const Slot slot : jobs) {
      if (job(slot).gpus >= node_gpus_) order.push_back(slot);
    }
    for (int size = node_gpus_ - 1; size > 0; --size) {
      for (const Slot slot : jobs) {
        if (job(slot).gpus == size) order.push_back(slot);
      }
    }
    return order;
  }

  bool admission_;
  bool grow_least_;
  bool as_of_2022_;
  GpuTimeline free_;
  JobPlan scratch_;
  struct Rank {
    double marginal;
    Slot slot;
  };
  Bidder bidder_;
  std::vector<Offer> offers_;       // by slot
  std::vector<TimeRange> changes_;  // of what is free, by the last GPUs allocated
  std::vector<Rank> ranks_;
  Seconds next_change_ = kNever;
};

}  // namespace
}  // namespace muster::published

namespace muster {

PolicyInfo<SchedulingPolicy> published_elasticflow_row() {
  return {"elasticflow-as-coded",
          "ElasticFlow as coded in its artifact: the fewest GPUs that meet all deadlines; spare "
          "GPUs to the plans that grow most",
          "ElasticFlow, 2023",
          {{"admission", ParamKind::kFlag, "true",
            "refuse jobs that would make any job miss its deadline"},
           {"grow_least", ParamKind::kFlag, "false",
            "give spare GPUs to the plans that grow least, as the paper describes"},
           published::kAsOf2022},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<published::ElasticFlow>(
                params.flag("admission"), params.flag("grow_least"), params.flag("as_of_2022"));
          },
          "ElasticFlow",
          "the artifact of its authors"};
}

}  // namespace muster
