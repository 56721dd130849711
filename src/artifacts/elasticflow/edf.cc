// Earliest deadline first as the ElasticFlow artifact has it, with and without admission control:
// every job as large as its table goes, whether that makes it faster or not.
#include <algorithm>

#include "artifacts/elasticflow/elastic_scheduler.h"
#include "policy/table.h"

namespace muster::published {
namespace {

class Edf final : public ElasticScheduler {
 public:
  explicit Edf(bool admission) : ElasticScheduler(Cap::kWidest), admission_(admission) {}
  bool checkpoint(Archive& archive) override { return checkpoint_lists(archive); }
  std::unique_ptr<SchedulingPolicy> clone() const override { return std::make_unique<Edf>(*this); }

 protected:
  void round() override {
    advance();
    for (const Slot slot : events_.take(now_)) {
      finish(job(slot), job(slot).end, job(slot).end);
      drop(slot);
    }
    if (admission_) {
      for (const Slot slot : runnable_) job(slot).old_end = job(slot).end;
      admit();
      std::vector<Slot> placed;
      for (const Slot slot : runnable_) {
        if (job(slot).gpus > 0) placed.push_back(slot);
      }
      look_up_ranges(placed);
      charge(running_);
    } else {
      take_all();
    }
    for (const Slot slot : runnable_) {
      if (job(slot).gpus > 0) run(job(slot), job(slot).gpus);
    }
  }

 private:
  // An end after the next round.
  static constexpr Seconds kSomeTime = kFarDeadline / 4;

  struct Proposal {
    int gpus = 0;  // now
    Seconds end = 0;
  };
  Proposal& proposal(Slot slot) { return proposals_[index(slot)]; }

  enum class Depth {
    kAll,
    kInTime,   // until one is late
    kPresent,  // those that get GPUs now: the others begin when one of these is over, and end after
               // the next round
  };

  // Plans jobs in order of their deadlines.
  bool estimate(std::vector<Slot>& jobs, Depth depth) {
    GpuTimeline free(now_, cluster_gpus_);
    sort_by_deadline(jobs);
    bool in_time = true;
    for (const Slot slot : jobs) {
      if (proposals_.size() <= index(slot)) proposals_.resize(index(slot) + 1);
      if (depth == Depth::kPresent && free[0].gpus == 0) {
        proposal(slot) = {0, kSomeTime};
        continue;
      }
      plan_greedy(frame(), job(slot).wants, free, scratch_);
      std::swap(free, scratch_.free);
      proposal(slot) = {scratch_.gpus[0].gpus, scratch_.end};
      in_time = in_time && scratch_.in_time;
      if (!in_time && depth == Depth::kInTime) return false;
    }
    return in_time;
  }
  void adopt(Job& j) {
    j.gpus = proposal(j.slot).gpus;
    j.old_end = j.end;
    j.end = proposal(j.slot).end;
  }

  void take_all() {
    if (!arrivals_.empty()) {
      std::vector<Slot> all = runnable_;
      all.insert(all.end(), arrivals_.begin(), arrivals_.end());
      estimate(all, Depth::kPresent);
      for (const Slot slot : arrivals_) wait(slot);
    } else {
      estimate(runnable_, Depth::kPresent);
    }
    for (const Slot slot : runnable_) {
      Job& j = job(slot);
      adopt(j);
      if (j.started) {
        events_.move_end(j);
      } else if (j.gpus > 0) {
        start(slot);
        events_.add_end(j);
      }
    }
  }

  // One by one; each admitted job changes the plans of all at once.
  void admit() {
    bool admitted = false;
    for (const Slot slot : arrivals_) {
      std::vector<Slot> all = runnable_;
      all.push_back(slot);
      if (!estimate(all, Depth::kInTime)) {
        refuse(job(slot));
        continue;
      }
      wait(slot);
      admitted = true;
      for (const Slot other : running_) {
        adopt(job(other));
        events_.move_end(job(other));
      }
      const std::vector<Slot> waiting = pending_;
      for (const Slot other : waiting) adopt(job(other));
      for (const Slot other : waiting) {
        if (job(other).gpus == 0) continue;
        start(other);
        events_.add_end(job(other));
      }
    }
    if (!admitted) replan();
  }

  // A job that is left without GPUs keeps its former end, and may even be declared done there.
  void replan() {
    estimate(runnable_, Depth::kAll);
    for (const Slot slot : runnable_) {
      Job& j = job(slot);
      j.gpus = proposal(slot).gpus;
      if (j.gpus == 0) continue;
      if (!j.started) {
        start(slot);
        events_.add_end(j);
      }
      j.end = proposal(slot).end;
      events_.move_end(j);
    }
  }

  bool admission_;
  JobPlan scratch_;
  std::vector<Proposal> proposals_;  // by slot
};

}  // namespace
}  // namespace muster::published

namespace muster {

PolicyInfo<SchedulingPolicy> published_edf_row() {
  return {"edf-as-coded",
          "earliest deadline first as coded in ElasticFlow's artifact: every job at the largest "
          "size of its table",
          "ElasticFlow, 2023",
          {{"admission", ParamKind::kFlag, "false",
            "refuse jobs that would make any job miss its deadline"}},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<published::Edf>(params.flag("admission"));
          }};
}

}  // namespace muster
