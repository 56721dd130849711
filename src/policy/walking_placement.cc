#include <algorithm>

#include "policy/placement.h"

namespace muster {

bool PlacementPolicy::ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const {
  return gpus <= cluster.ever_for(job.partition, job.gpu_type);
}

Reason why_not_placed(const View& view, const ClusterState& cluster, const Share& share) {
  const JobSpec& spec = view.jobs[share.lead()].spec;
  if (cluster.quota_left(spec.partition) < share.gpus) return Reason::kOverQuota;
  if (cluster.free_for(spec.partition, share.gpu_type) < share.gpus) return Reason::kNotEnoughFree;
  return Reason::kFragmented;
}

bool WalkingPlacement::try_place(const View& view, const Share& share, Draft& draft,
                                 Reason reason) {
  // A member that already holds the right number of GPUs is the host; the others come to it.
  Slot host = kNoSlot;
  for (int i = 0; i < share.size; ++i) {
    const GpuSet* held = draft.holding(share.jobs[static_cast<std::size_t>(i)]);
    if (held != nullptr && held->gpus() == share.gpus && host == kNoSlot) {
      host = share.jobs[static_cast<std::size_t>(i)];
    }
  }
  if (host == kNoSlot) {
    for (int i = 0; i < share.size; ++i) {
      const Slot job = share.jobs[static_cast<std::size_t>(i)];
      if (draft.holds(job)) draft.stop(job, Reason::kElastic);
    }
    const JobSpec& spec = view.jobs[share.lead()].spec;
    if (draft.cluster().free_for(spec.partition, share.gpu_type) < share.gpus) return false;
    found_.clear();
    if (!find(view, draft.cluster(), share, found_)) {
      found_.clear();
      if (!make_room(view, share, draft) || !find(view, draft.cluster(), share, found_))
        return false;
    }
    draft.start(share, found_, reason, host_for(view, share));
    return true;
  }
  for (int i = 0; i < share.size; ++i) {
    const Slot job = share.jobs[static_cast<std::size_t>(i)];
    if (job == host) continue;
    if (draft.holds(job)) {
      if (*draft.holding(job) == *draft.holding(host)) continue;
      draft.stop(job, Reason::kGrouped, view.jobs[host].spec.id);
    }
    draft.join(job, host, Reason::kGrouped);
  }
  return true;
}

void WalkingPlacement::place(const View& view, const SchedulingTraits& traits, const Plan& plan,
                             Draft& draft) {
  backfill_now_ = backfill_ && !traits.strict;
  if (traits.preemptive) {
    place_preemptive(view, plan, draft);
    return;
  }
  closed_.assign(draft.cluster().pools().size(), 0);
  for (const Share& share : plan.shares()) {
    if (behind_blocked(view, draft.cluster(), share)) continue;
    const Reason reason = draft.blocked() != nullptr ? Reason::kBackfilled : Reason::kFirstInOrder;
    if (try_place(view, share, draft, reason)) continue;
    draft.block(share, why_not_placed(view, draft.cluster(), share));
    if (!backfill_now_) close(view, draft.cluster(), share);
  }
}

bool WalkingPlacement::behind_blocked(const View& view, const ClusterState& cluster,
                                      const Share& share) const {
  if (backfill_now_) return false;
  const JobSpec& spec = view.jobs[share.lead()].spec;
  const auto pools = cluster.pools_for(spec.partition, share.gpu_type);
  return std::any_of(pools.begin(), pools.end(),
                     [this](PoolId pool) { return closed_[index(pool)] != 0; });
}

void WalkingPlacement::close(const View& view, const ClusterState& cluster, const Share& share) {
  const JobSpec& spec = view.jobs[share.lead()].spec;
  for (const PoolId pool : cluster.pools_for(spec.partition, share.gpu_type))
    closed_[index(pool)] = 1;
}

void WalkingPlacement::select(const View& view, const Plan& plan, const Draft& draft) {
  const ClusterState& cluster = draft.cluster();
  budget_.clear();
  for (const Pool& pool : cluster.pools()) budget_.push_back(pool.usable);
  chosen_.assign(plan.shares().size(), 0);
  closed_.assign(budget_.size(), 0);
  keeps_.assign(view.jobs.slots(), 0);
  const bool one_pool = budget_.size() == 1 && cluster.spec().partitions.empty();
  for (std::size_t i = 0; i < plan.shares().size(); ++i) {
    const Share& share = plan.shares()[i];
    if (one_pool) {
      if (share.gpus > budget_[0]) {
        if (!backfill_now_) return;
        if (budget_[0] == 0) return;
        continue;
      }
      budget_[0] -= share.gpus;
    } else {
      const JobSpec& spec = view.jobs[share.lead()].spec;
      const auto pools = cluster.pools_for(spec.partition, share.gpu_type);
      int room = 0;
      for (const PoolId pool : pools) room += budget_[index(pool)];
      if (behind_blocked(view, cluster, share)) continue;
      if (share.gpus > room) {
        if (!backfill_now_) close(view, cluster, share);
        continue;
      }
      int left = share.gpus;
      for (const PoolId pool : pools) {
        const int part = std::min(left, budget_[index(pool)]);
        budget_[index(pool)] -= part;
        left -= part;
      }
    }
    chosen_[i] = 1;
    for (int j = 0; j < share.size; ++j) keeps_[index(share.jobs[static_cast<std::size_t>(j)])] = 1;
  }
}

void WalkingPlacement::place_preemptive(const View& view, const Plan& plan, Draft& draft) {
  select(view, plan, draft);
  // The most deserving job that gains GPUs is named as the cause of every stop.
  JobId gainer = kNoJob;
  for (std::size_t i = 0; i < plan.shares().size() && gainer == kNoJob; ++i) {
    const Slot lead = plan.shares()[i].lead();
    if (chosen_[i] != 0 && !draft.holds(lead)) gainer = view.jobs[lead].spec.id;
  }
  for (const Slot job : view.jobs.running()) {
    if (keeps_[index(job)] == 0) draft.stop(job, Reason::kOutranked, gainer);
  }
  for (std::size_t i = 0; i < plan.shares().size(); ++i) {
    const Share& share = plan.shares()[i];
    if (chosen_[i] == 0) {
      draft.block(share, why_not_placed(view, draft.cluster(), share));
      continue;
    }
    const Reason reason = draft.blocked() != nullptr ? Reason::kBackfilled : Reason::kFirstInOrder;
    if (!try_place(view, share, draft, reason))
      draft.block(share, why_not_placed(view, draft.cluster(), share));
  }
}

}  // namespace muster
