#include "artifacts/lucid/quota_policy.h"

#include <algorithm>
#include <tuple>

namespace muster {

void QuotaPolicy::on_job(JobMoment moment, Slot slot, const View& view) {
  if (moment != JobMoment::kAdmitted && moment != JobMoment::kStopped) return;
  waiting_since_.resize(std::max(waiting_since_.size(), view.jobs.slots()), 0);
  if_stopped_.resize(waiting_since_.size(), 0);
  const bool foreseen = moment == JobMoment::kStopped && if_stopped_[index(slot)] != 0;
  waiting_since_[index(slot)] = foreseen ? if_stopped_[index(slot)] : ++next_;
  if_stopped_[index(slot)] = 0;
}

void QuotaPolicy::schedule(const View& view, Plan& plan) {
  order_.clear();
  for (const Slot slot : view.jobs.active()) {
    const Job& job = view.jobs[slot];
    const bool first = job.waiting() == waiting_first();
    order_.push_back({rank(job, view), first ? 0 : 1,
                      job.waiting() ? waiting_since_[index(slot)] : job.start_order, slot});
  }
  std::sort(order_.begin(), order_.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.rank, a.group, a.age) < std::tie(b.rank, b.group, b.age);
  });
  granted_.clear();
  int left = view.cluster.usable_gpus();
  for (const Candidate& candidate : order_) {
    const Job& job = view.jobs[candidate.slot];
    // Jobs that lose their GPUs now join the queue in this order.
    if (job.running()) if_stopped_[index(candidate.slot)] = ++next_;
    plan.add(AllocationRequest::alone(candidate.slot, job.spec.gpus, job.spec.gpu_type));
    if (job.spec.gpus > left) continue;
    left -= job.spec.gpus;
    if (job.waiting()) granted_.push_back(candidate.slot);
  }
}

}  // namespace muster
