#include <algorithm>
#include <limits>

#include "policy/scheduling.h"

namespace muster {

void KeyPolicy::on_job(JobMoment moment, Slot slot, const View& view) {
  if (memory_.size() <= index(slot)) memory_.resize(index(slot) + 1);
  Memory& memory = memory_[index(slot)];
  if (memory.waits) {
    waiting_.erase(memory.entry);
    boosts_.erase({memory.boost_at, slot});
    memory.waits = false;
  }
  if (moment == JobMoment::kAdmitted) memory.boosted = false;
  const Job& job = view.jobs[slot];
  if (moment == JobMoment::kLeft || moment == JobMoment::kStarted || !job.waiting()) return;
  memory.waits = true;
  if (keys_rest()) {
    fill(memory.entry, slot, view);
    waiting_.insert(memory.entry);
  }
  if (boosts() && !memory.boosted) {
    const Seconds from = waits_from_ == nullptr ? job.waiting_since : waits_from_(job, view);
    memory.boost_at = from + boost_after_;
    boosts_.insert({memory.boost_at, slot});
  }
}

// In place: a whole copy of an entry that was just made waits for its parts.
void KeyPolicy::fill(Entry& entry, Slot slot, const View& view) const {
  const Job& job = view.jobs[slot];
  entry.rank = memory_[index(slot)].boosted ? 0 : 1;
  entry.key = key(job, view);
  entry.id = job.spec.id;
  entry.slot = slot;
  entry.gpus = job.spec.gpus;
  entry.gpu_type = job.spec.gpu_type;
}

void KeyPolicy::boost_those_due(const View& view) {
  while (!boosts_.empty() && boosts_.begin()->time <= view.now) {
    const Slot slot = boosts_.begin()->slot;
    boosts_.erase(boosts_.begin());
    Memory& memory = memory_[index(slot)];
    memory.boosted = true;
    if (!keys_rest()) continue;
    waiting_.erase(memory.entry);
    memory.entry.rank = 0;
    waiting_.insert(memory.entry);
  }
}

Seconds KeyPolicy::wake(const View&) const {
  return boosts_.empty() ? kNever : boosts_.begin()->time;
}

// Those of the last turn come in the order of then, so that few of them have to move.
void KeyPolicy::order_running(const View& view) {
  ++listings_;
  std::size_t kept = 0;
  for (const Entry& old : order_) {
    const Job& job = view.jobs[old.slot];
    if (!job.running() || job.spec.id != old.id) continue;
    Memory& memory = memory_[index(old.slot)];
    memory.listed = listings_;
    Entry& entry = order_[kept++];
    if (&entry != &old) entry = old;
    entry.rank = memory.boosted ? 0 : 1;
    entry.key = key(job, view);
    entry.gpus = job.spec.gpus;
    entry.gpu_type = job.spec.gpu_type;
  }
  order_.resize(kept);
  if (kept < view.jobs.running().size()) {
    for (const Slot slot : view.jobs.running()) {
      if (memory_[index(slot)].listed != listings_) fill(order_.emplace_back(), slot, view);
    }
  }
  std::size_t moves = 0;
  for (std::size_t i = 1; i < kept; ++i) {
    if (!(order_[i] < order_[i - 1])) continue;
    const Entry entry = order_[i];
    std::size_t at = i;
    for (; at > 0 && entry < order_[at - 1]; --at) order_[at] = order_[at - 1];
    order_[at] = entry;
    moves += i - at;
    constexpr std::size_t kFewEach = 8;
    if (moves > kFewEach * order_.size()) {
      std::sort(order_.begin(), order_.end());
      return;
    }
  }
  const auto fresh = order_.begin() + static_cast<std::ptrdiff_t>(kept);
  std::sort(fresh, order_.end());
  std::inplace_merge(order_.begin(), fresh, order_.end());
}

// The sorted lists follow from what is remembered of each job.
bool KeyPolicy::checkpoint_order(Archive& archive) {
  archive.each(memory_, [&archive](Memory& memory) {
    archive.value(memory.entry);
    archive.value(memory.boost_at);
    archive.value(memory.waits);
    archive.value(memory.boosted);
  });
  if (!archive.reading()) return true;
  waiting_ = {};
  boosts_.clear();
  order_.clear();
  listings_ = 0;
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    Memory& memory = memory_[i];
    memory.listed = 0;
    if (!memory.waits) continue;
    if (keys_rest()) waiting_.insert(memory.entry);
    if (boosts() && !memory.boosted)
      boosts_.insert({memory.boost_at, Slot{static_cast<std::uint32_t>(i)}});
  }
  return true;
}

void KeyPolicy::schedule(const View& view, Plan& plan) {
  boost_those_due(view);
  if (!keys_rest()) {
    schedule_all(view, plan);
    return;
  }
  order_running(view);
  auto waiting = waiting_.walk();
  for (const Entry& running : order_) {
    for (; !waiting.done() && *waiting < running; waiting.next()) {
      if (!plan.add(waiting->slot, waiting->gpus, waiting->gpu_type)) return;
    }
    if (!plan.add(running.slot, running.gpus, running.gpu_type)) return;
  }
  for (; !waiting.done(); waiting.next()) {
    if (!plan.add(waiting->request())) return;
  }
}

void KeyPolicy::schedule_all(const View& view, Plan& plan) {
  order_.clear();
  for (const Slot slot : view.jobs.active()) fill(order_.emplace_back(), slot, view);
  std::sort(order_.begin(), order_.end());
  for (const Entry& entry : order_) {
    if (!plan.add(entry.request())) return;
  }
}

void FractionPolicy::schedule(const View& view, Plan& plan) {
  fraction_.assign(view.jobs.slots(), 0);
  allocate(view, fraction_);
  KeyPolicy::schedule(view, plan);
}

double FractionPolicy::key(const Job& job, const View& view) const {
  // Received over deserved.
  const double fraction = fraction_[index(job.self)];
  if (fraction <= 0) return std::numeric_limits<double>::max();
  const Seconds life = view.now - job.admitted;
  return life > 0 ? job.attained_at(view.now) / life / fraction : 0;
}

}  // namespace muster
