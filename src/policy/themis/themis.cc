#include "policy/themis/themis.h"

#include <algorithm>
#include <cmath>

#include "policy/table.h"

namespace muster {

template <typename Before>
void Themis::sort_list(Before before) {
  std::stable_sort(list_.begin(), list_.end(), before);
}

void Themis::on_job(JobMoment moment, Slot slot, const View& view) {
  if (moment == JobMoment::kLeft) {
    std::erase(list_, slot);
    return;
  }
  if (moment != JobMoment::kAdmitted) return;
  if (states_.size() <= index(slot)) states_.resize(index(slot) + 1);
  State& state = states_[index(slot)];
  state = {};
  const Job& job = view.jobs[slot];
  state.unit = unit_of_time_alone(view, job);
  state.gpus = job.spec.gpus;
  state.last = view.now;
  list_.push_back(slot);
}

void Themis::schedule(const View& view, Plan& plan) {
  account(view);
  deserve(view.cluster.usable_gpus());
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

bool Themis::checkpoint(Archive& archive) {
  archive.list(list_);
  archive.list(states_);
  archive.value(last_turn_);
  return true;
}

void Themis::account(const View& view) {
  const double equal = equal_part(view.cluster.usable_gpus(), static_cast<double>(list_.size()));
  for (const Slot slot : list_) {
    State& state = states_[index(slot)];
    const Job& job = view.jobs[slot];
    // A launch that has not begun has had nothing of its time: otherwise, where starts take a
    // while, jobs that take turns would overtake each other before any of them works.
    if (job.running() && !job.starting()) {
      state.attained = state.attained + view.now - state.last;
    }
    state.last = view.now;
    state.work = job.remaining_at(view.now);
    state.units_left = state.work / state.unit;
    const double request = equal / state.gpus;
    const double isolated = request / std::max(request, 1.0);
    if (state.units_before >= 0) {
      state.isolated += (state.units_before - state.units_left) / state.isolated_before;
    }
    state.alone = state.isolated + state.units_left / isolated;
    state.units_before = state.units_left;
    state.isolated_before = isolated;
    state.age = view.now - job.spec.submit;
  }
}

double Themis::part_at(const State& state, double worst) {
  return std::min(1.0, state.work / (worst * state.alone - state.age));
}

bool Themis::feasible(double worst, double gpus) const {
  double needed = 0;
  for (const Slot slot : list_) {
    const State& state = states_[index(slot)];
    needed += state.gpus * part_at(state, worst);
    if (needed > gpus) return false;
  }
  return true;
}

void Themis::deserve(int gpus) {
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

void Themis::rank(Seconds now) {
  constexpr double kNewFirst = 1e9;
  for (const Slot slot : list_) {
    State& state = states_[index(slot)];
    state.value = state.attained == 0 ? state.part * kNewFirst : state.part / state.attained;
    state.deficit = state.deserved - state.attained;
    state.deserved += state.part * (now - last_turn_);
  }
}

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
