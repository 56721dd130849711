#include "engine/overruns.h"

#include <algorithm>
#include <functional>

#include "engine/engine.h"
#include "model/belief.h"

namespace muster {
namespace {

Seconds overrun_of(const Job& job) {
  if (!(job.rate > 0)) return kNever;
  return job.since + std::max(0.0, job.total_work - job.work) / job.rate;
}

}  // namespace

bool Overruns::stale(const Entry& entry, const JobTable& jobs) {
  const Job& job = jobs[entry.slot];
  return job.spec.id != entry.job || !job.running() || !job.spec.believed ||
         overrun_of(job) != entry.time;
}

void Overruns::expect(const Job& job, const JobTable& jobs) {
  const Seconds time = overrun_of(job);
  if (time == kNever) return;
  constexpr std::size_t kFew = 64;
  if (heap_.size() > kFew + 2 * jobs.running().size()) {
    std::erase_if(heap_, [&](const Entry& entry) { return stale(entry, jobs); });
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  heap_.push_back({time, job.spec.id, job.self});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void Overruns::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
  heap_.pop_back();
}

Seconds Overruns::next(const JobTable& jobs) {
  while (!heap_.empty() && stale(heap_.front(), jobs)) pop();
  return heap_.empty() ? kNever : heap_.front().time;
}

Slot Overruns::take(Seconds now, const JobTable& jobs) {
  if (next(jobs) > now) return kNoSlot;
  const Slot slot = heap_.front().slot;
  pop();
  return slot;
}

void Engine::outgrow_belief(Slot slot) {
  Job& job = state_.jobs[slot];
  while (job.work_at(state_.now) >= job.total_work) double_belief(job);
  if (job.running()) state_.overruns.expect(job, state_.jobs);
}

void Engine::outgrow_beliefs() {
  for (Slot slot = state_.overruns.take(state_.now, state_.jobs); slot != kNoSlot;
       slot = state_.overruns.take(state_.now, state_.jobs)) {
    double_belief(state_.jobs[slot]);
    note_belief(slot);
    state_.changed = true;
    notify(JobMoment::kChanged, slot);
  }
}

bool Engine::minds_lengths() const {
  const auto minds = [](Needs needs) {
    return lists(needs, Knowledge::kDuration) || lists(needs, Knowledge::kEstimate);
  };
  return std::any_of(parts_.policy_sets.begin(), parts_.policy_sets.end(), [&](const PolicySet& c) {
    const SchedulingTraits traits = c.scheduling->traits();
    return (minds(traits.needs) && !traits.keeps_truth) || minds(c.admission->needs());
  });
}

}  // namespace muster
