#include <algorithm>
#include <cmath>

#include "policy/placement/node_fit.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: Themis (NSDI'20) as Muri's simulator has it. Each turn the largest finish-time fraction
// (time in the system over time alone on an equal part of the cluster) is made as small as
// possible; every job then deserves the least part of the time that keeps its fraction there. A job
// that deserves most for what it has had goes first, whatever fits is chosen, and the chosen are
// placed in order of size.
//
// There a conic solver picks some point where several are best; here it is the smallest, found by
// bisection. There time alone is counted in steps, not seconds; so it is here, or nothing would
// compare. `finish-time-fairness` is the one-shot form without the program.
class Themis final : public SchedulingPolicy {
 public:
  SchedulingTraits traits() const override {
    return {.needs = kNeeds,
            .preemptive = true,
            .stable_between_events = false,
            .work_conserving = false,
            .ranks_jobs = true};
  }

  void on_job(JobMoment moment, Slot slot, const View& view) override {
    if (moment == JobMoment::kLeft) {
      std::erase(list_, slot);
      return;
    }
    if (moment != JobMoment::kAdmitted) return;
    if (states_.size() <= index(slot)) states_.resize(index(slot) + 1);
    State& state = states_[index(slot)];
    state = {};
    const Job& job = view.jobs[slot];
    const double steps = steps_of(view.perf, job.spec);
    state.step_time = steps > 0 ? job.total_work / steps : 1;
    state.gpus = job.spec.gpus;
    state.last = view.now;
    list_.push_back(slot);
  }

  void schedule(const View& view, Plan& plan) override {
    account(view);
    deserve(view.now, view.cluster.usable_gpus());
    rank(view.now);
    sort_list([this](Slot a, Slot b) {
      const State& left = states_[index(a)];
      const State& right = states_[index(b)];
      if (left.value != right.value) return left.value > right.value;
      if (left.deficit != right.deficit) return left.deficit > right.deficit;
      return left.part > right.part;
    });
    fit_.reset(view.cluster);
    for (const Slot slot : list_) {
      const JobSpec& spec = view.jobs[slot].spec;
      states_[index(slot)].chosen =
          fit_.take(spec.gpus, view.cluster.pools_for(spec.partition, spec.gpu_type));
    }
    sort_list([this](Slot a, Slot b) { return states_[index(a)].gpus > states_[index(b)].gpus; });
    for (const Slot slot : list_) {
      plan.rank(slot);
      if (!states_[index(slot)].chosen) continue;
      plan.add(
          AllocationRequest::alone(slot, states_[index(slot)].gpus, view.jobs[slot].spec.gpu_type));
    }
    last_turn_ = view.now;
  }

  bool checkpoint(Archive& archive) override {
    archive.list(list_);
    archive.list(states_);
    archive.value(last_turn_);
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Themis>(*this);
  }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kDuration}};
  struct State {
    double step_time = 1;  // alone
    double steps_left = 0;
    double steps_before = -1;    // at the last turn; -1: there was none
    double isolated_before = 1;  // its part of an equal allocation at the last turn
    double isolated = 0;         // steps alone, so far
    double attained = 0;         // seconds it held GPUs
    double deserved = 0;         // seconds it should have held them
    double age = 0;
    double work = 0;   // seconds left, alone
    double alone = 0;  // steps alone, in all
    double part = 0;   // of the time: what it deserves now
    double value = 0;
    double deficit = 0;
    Seconds last = 0;
    int gpus = 0;
    bool chosen = false;
  };

  template <typename Before>
  void sort_list(Before before) {
    std::stable_sort(list_.begin(), list_.end(), before);
  }

  void account(const View& view) {
    const auto jobs = static_cast<double>(list_.size());
    const double equal = std::ceil(view.cluster.usable_gpus() / jobs);
    for (const Slot slot : list_) {
      State& state = states_[index(slot)];
      const Job& job = view.jobs[slot];
      // What has not begun has had nothing of its time: where starts take a while, jobs that take
      // turns would else overtake each other before any of them makes progress.
      if (job.running() && !job.starting()) {
        state.attained = state.attained + view.now - state.last;
      }
      state.last = view.now;
      state.work = job.remaining_at(view.now);
      state.steps_left = state.work / state.step_time;
      const double request = equal / state.gpus;
      const double isolated = request / std::max(request, 1.0);
      if (state.steps_before >= 0) {
        state.isolated += (state.steps_before - state.steps_left) / state.isolated_before;
      }
      state.alone = state.isolated + state.steps_left / isolated;
      state.steps_before = state.steps_left;
      state.isolated_before = isolated;
      state.age = view.now - job.spec.submit;
    }
  }

  // The part of the time that keeps the fraction at `worst`.
  static double part_at(const State& state, double worst) {
    return std::min(1.0, state.work / (worst * state.alone - state.age));
  }

  bool feasible(double worst, double gpus) const {
    double needed = 0;
    for (const Slot slot : list_) {
      const State& state = states_[index(slot)];
      needed += state.gpus * part_at(state, worst);
      if (needed > gpus) return false;
    }
    return true;
  }

  void deserve(Seconds, int gpus) {
    double low = 0;
    for (const Slot slot : list_) {
      const State& state = states_[index(slot)];
      if (state.alone > 0) low = std::max(low, (state.age + state.work) / state.alone);
    }
    double high = low;
    // Where no GPU is left, no fraction will do.
    while (std::isfinite(high) && !feasible(high, gpus)) high = high > 0 ? high * 2 : 1;
    while (low < high) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) break;
      (feasible(middle, gpus) ? high : low) = middle;
    }
    for (const Slot slot : list_) {
      State& state = states_[index(slot)];
      state.part = part_at(state, high);
    }
  }

  void rank(Seconds now) {
    constexpr double kNewFirst = 1e9;
    for (const Slot slot : list_) {
      State& state = states_[index(slot)];
      state.value = state.attained == 0 ? state.part * kNewFirst : state.part / state.attained;
      state.deficit = state.deserved - state.attained;
      state.deserved += state.part * (now - last_turn_);
    }
  }

  NodeFit fit_;
  std::vector<Slot> list_;
  std::vector<State> states_;  // by slot
  Seconds last_turn_ = 0;
};

}  // namespace

PolicyInfo<SchedulingPolicy> themis_row() {
  return {
      "themis",
      "finish-time fairness by a convex program, solved by bisection",
      "Muri, 2022",
      {},
      [](const Params&) -> std::unique_ptr<SchedulingPolicy> { return std::make_unique<Themis>(); },
      "Themis",
      "the simulator of Muri"};
}

}  // namespace muster
