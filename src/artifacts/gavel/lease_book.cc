#include "artifacts/gavel/lease_book.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "model/checkpoint.h"
#include "model/truth.h"

namespace muster {

void LeaseBook::run(const Command& command, double step_rate, Seconds cost) {
  const Job& job = *command.job;
  const std::size_t slot = index(command.slot);
  if (where_.size() <= slot) {
    where_.resize(slot + 1, kNowhere);
    done_.resize(slot + 1, 0);
    owner_.resize(slot + 1, kNoJob);
  }
  if (where_[slot] == kNowhere) {
    where_[slot] = running_.size();
    Entry& fresh = running_.emplace_back();
    fresh.job = job.spec.id;
    fresh.slot = command.slot;
    measure(fresh, job);
    fresh.done = owner_[slot] == job.spec.id ? done_[slot] : 0;
    if (command.kind == CommandKind::kAdopt) fresh.done = job.work / fresh.unit;
  }
  Entry& entry = running_[where_[slot]];
  if (job.spec.believed) measure(entry, job);  // a fork goes by what is believed
  entry.gpus = *command.gpus;
  entry.gpu_count = std::max(1, command.context.gpus);
  entry.rate = step_rate;
  entry.cost += cost;
  entry.co_located.clear();
  for (const JobSpec* co_located : command.context.neighbours)
    entry.co_located.push_back(co_located->id);
}

void LeaseBook::measure(Entry& entry, const Job& job) {
  const double steps = true_iterations(job.spec);
  const double work = true_work(job);
  entry.total = steps > 0 ? steps : work;
  entry.unit = work / entry.total;
}

void LeaseBook::remove(std::size_t position) {
  const std::size_t slot = index(running_[position].slot);
  done_[slot] = running_[position].done;
  owner_[slot] = running_[position].job;
  where_[slot] = kNowhere;
  if (position + 1 != running_.size()) {
    running_[position] = std::move(running_.back());
    where_[index(running_[position].slot)] = position;
  }
  running_.pop_back();
}

void LeaseBook::stop(Slot slot) {
  if (runs(slot)) remove(position_of(slot));
}

double LeaseBook::work_of(Slot slot) const {
  const Entry& entry = running_[position_of(slot)];
  return entry.done * entry.unit;
}

void LeaseBook::give(Seconds now) {
  bool gave = false;
  for (Entry& entry : running_) {
    if (entry.leased) continue;
    const double left = entry.total - entry.done;
    if (!(entry.rate > 0)) {
      // It was believed to run here, and does not: the round is lost.
      entry.steps = 0;
      entry.end = now + std::max(rule_.length, entry.cost);
      entry.cost = 0;
      entry.leased = true;
      entry.lost = false;
      gave = true;
      continue;
    }
    const double most = std::trunc(entry.rate * (rule_.length - entry.cost));
    // A job that is too slow for a step in a round makes the round longer.
    entry.steps = std::min(most < 1 && !rule_.step_per_gpu ? 1.0 : std::max(most, 0.0), left);
    entry.end = now + entry.cost + entry.steps / entry.rate;
    entry.cost = 0;
    entry.leased = true;
    entry.lost = false;
    gave = true;
  }
  if (!gave) return;
  for (Entry& entry : running_) {
    for (const JobId co_located : entry.co_located) {
      for (const Entry& other : running_) {
        if (other.job == co_located) entry.end = std::max(entry.end, other.end);
      }
    }
  }
}

Seconds LeaseBook::end() const {
  if (running_.empty()) return kNever;
  Seconds last = 0;
  for (const Entry& entry : running_) last = std::max(last, entry.end);
  return last;
}

void LeaseBook::lose(NodeId node, int gpu, Seconds at) {
  const std::uint64_t mask = gpu < 0 ? ~std::uint64_t{0} : std::uint64_t{1} << gpu;
  for (Entry& entry : running_) {
    if (entry.end <= at) continue;
    for (int i = 0; i < entry.gpus.nodes(); ++i) {
      if (entry.gpus[i].node == node && (entry.gpus[i].mask & mask) != 0) entry.lost = true;
    }
  }
}

// The steps are split evenly over the GPUs, the last one takes the rest; published Gavel counts the
// lease as failed if one of them got none.
bool LeaseBook::too_few(const Entry& entry) const {
  if (!rule_.step_per_gpu || !(entry.rate > 0)) return false;
  if (entry.gpu_count == 1) return !(entry.steps > 0);
  return std::floor(entry.steps / entry.gpu_count) <= 0;
}

void LeaseBook::settle(std::vector<JobEvent>& events) {
  for (Entry& entry : running_) {
    if (!entry.leased) continue;
    entry.leased = false;
    if (entry.lost) continue;  // the engine takes it off
    JobEvent event;
    event.time = entry.end;
    event.slot = entry.slot;
    event.job = entry.job;
    if (too_few(entry)) {
      event.kind = EventKind::kFailed;
    } else {
      entry.done += entry.steps;
      event.kind = entry.total - entry.done > 0 ? EventKind::kProgress : EventKind::kFinished;
    }
    event.work = entry.done * entry.unit;
    events.push_back(event);
  }
  std::stable_sort(events.begin(), events.end(), [](const JobEvent& a, const JobEvent& b) {
    return a.time != b.time ? a.time < b.time : a.job < b.job;
  });
  for (std::size_t i = running_.size(); i-- > 0;) {
    if (!(running_[i].total - running_[i].done > 0)) remove(i);
  }
}

void LeaseBook::checkpoint(Archive& archive) {
  archive.each(running_, [&archive](Entry& entry) {
    archive.value(entry.job);
    archive.value(entry.slot);
    muster::checkpoint(archive, entry.gpus);
    archive.list(entry.co_located);
    archive.value(entry.total);
    archive.value(entry.done);
    archive.value(entry.unit);
    archive.value(entry.rate);
    archive.value(entry.cost);
    archive.value(entry.steps);
    archive.value(entry.end);
    archive.value(entry.gpu_count);
    archive.value(entry.leased);
    archive.value(entry.lost);
  });
  archive.list(where_);
  archive.list(done_);
  archive.list(owner_);
}

}  // namespace muster
