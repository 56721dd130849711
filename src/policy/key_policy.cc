#include <algorithm>
#include <limits>

#include "policy/scheduling.h"

namespace muster {

void KeyPolicy::on_job(JobMoment moment, Slot slot, const View&) {
  if (moment != JobMoment::kAdmitted || !boosts()) return;
  if (boosted_.size() <= index(slot)) boosted_.resize(index(slot) + 1, 0);
  boosted_[index(slot)] = 0;
}

bool KeyPolicy::boosted(Slot slot, const Job& job, const View& view) {
  char& flag = boosted_[index(slot)];
  if (flag == 0 && job.waiting()) {
    const Seconds uncounted = job.state == JobState::kPreempted ? view.turn_length : 0;
    if (view.now - job.waiting_since - uncounted >= boost_after_) flag = 1;
  }
  return flag != 0;
}

void KeyPolicy::schedule(const View& view, Plan& plan) {
  order_.clear();
  std::size_t first = 0;
  for (const Slot slot : view.jobs.active()) {
    const Job& job = view.jobs[slot];
    order_.push_back({key(job, view), job.spec.id, slot, job.spec.gpus, job.spec.gpu_type});
    if (boosts() && boosted(slot, job, view)) std::swap(order_[first++], order_.back());
  }
  const auto before = [](const Entry& a, const Entry& b) {
    return a.key != b.key ? a.key < b.key : a.id < b.id;
  };
  const auto middle = order_.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(order_.begin(), middle, before);
  std::sort(middle, order_.end(), before);
  for (const Entry& entry : order_) plan.add(Share::alone(entry.slot, entry.gpus, entry.gpu_type));
}

void FractionPolicy::schedule(const View& view, Plan& plan) {
  fraction_.assign(view.jobs.slots(), 0);
  divide(view, fraction_);
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
