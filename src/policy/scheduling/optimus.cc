#include <algorithm>
#include <queue>

#include "policy/table.h"

namespace muster {
namespace {

// Source: Optimus (EuroSys'18), as Blox means it. Jobs get their least size in order of remaining
// time; every GPU that is left goes, one by one, to the job whose remaining time it shortens most.
// How speed grows with size is the performance model's business; a job with a fixed size stays at
// it.
class Optimus final : public SchedulingPolicy {
 public:
  explicit Optimus(double least_gain) : least_gain_(least_gain) {}
  SchedulingTraits traits() const override {
    return {.needs = kNeeds,
            .preemptive = true,
            .stable_between_events = false,
            .resizes = true,
            .needs_periodic_turns = true};
  }
  void schedule(const View& view, Plan& plan) override {
    bids_.clear();
    for (const Slot slot : view.jobs.active()) {
      const Job& job = view.jobs[slot];
      const int least = job.spec.elastic() ? std::max(1, job.spec.min_gpus) : job.spec.gpus;
      bids_.push_back({slot, job.spec.id, least, job.remaining_at(view.now)});
    }
    std::sort(bids_.begin(), bids_.end(), [](const Bid& a, const Bid& b) {
      return a.remaining != b.remaining ? a.remaining < b.remaining : a.id < b.id;
    });
    int spare = view.cluster.usable_gpus();
    std::priority_queue<Gain> gains;
    for (std::size_t i = 0; i < bids_.size(); ++i) {
      if (bids_[i].gpus > spare) continue;
      spare -= bids_[i].gpus;
      offer(view, i, gains);
    }
    while (spare > 0 && !gains.empty()) {
      const std::size_t winner = gains.top().bid;
      gains.pop();
      ++bids_[winner].gpus;
      --spare;
      offer(view, winner, gains);
    }
    for (const Bid& bid : bids_) {
      plan.add(AllocationRequest::alone(bid.slot, bid.gpus, view.jobs[bid.slot].spec.gpu_type));
    }
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Optimus>(*this);
  }

 private:
  static constexpr Need kNeeds[] = {
      {Knowledge::kDuration},
      {Knowledge::kSizes, "every job keeps its size: it is srtf"},
      {Knowledge::kScaling, "no GPU more is worth anything and jobs have their least size"}};
  struct Bid {
    Slot slot;
    JobId id;
    int gpus;
    double remaining;
  };
  struct Gain {
    double seconds;
    std::size_t bid;
    friend bool operator<(const Gain& a, const Gain& b) {
      return a.seconds != b.seconds ? a.seconds < b.seconds : a.bid > b.bid;
    }
  };
  // What one more GPU would save this job, if that is worth a restart.
  void offer(const View& view, std::size_t i, std::priority_queue<Gain>& gains) const {
    const Bid& bid = bids_[i];
    const JobSpec& spec = view.jobs[bid.slot].spec;
    if (!spec.elastic() || bid.gpus >= spec.max_gpus) return;
    RunContext now;
    now.gpus = bid.gpus;
    RunContext more;
    more.gpus = bid.gpus + 1;
    const double saved =
        bid.remaining / view.perf.rate(spec, now) - bid.remaining / view.perf.rate(spec, more);
    if (saved > least_gain_) gains.push({saved, i});
  }

  double least_gain_;
  std::vector<Bid> bids_;
};

}  // namespace

PolicyInfo<SchedulingPolicy> optimus_row() {
  return {"optimus",
          "shortest remaining time first; spare GPUs go where they save most time",
          "Optimus, 2018",
          {{"least_gain", ParamKind::kReal, "60", "seconds that one more GPU must save", 0}},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<Optimus>(params.real("least_gain"));
          },
          "Optimus",
          "the paper"};
}

}  // namespace muster
