#include <algorithm>

#include "policy/placement.h"

namespace muster {

bool PlacementPolicy::ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const {
  return gpus <= cluster.ever_for(job.partition, job.gpu_type) && cluster.host_ever_fits(job, gpus);
}

Symbol type_of(const View& view, const AllocationRequest& request) {
  if (request.gpu_type != kNoSymbol) return request.gpu_type;
  return view.jobs[request.lead()].spec.gpu_type;
}

std::span<const PoolId> pools_of(const View& view, const ClusterState& cluster,
                                 const AllocationRequest& request) {
  return cluster.pools_for(view.jobs[request.lead()].spec.partition, type_of(view, request));
}

Reason why_not_placed(const View& view, const ClusterState& cluster,
                      const AllocationRequest& request) {
  const JobSpec& spec = view.jobs[request.lead()].spec;
  if (cluster.quota_left(spec.partition) < request.gpus) return Reason::kOverQuota;
  if (cluster.free_for(spec.partition, type_of(view, request)) < request.gpus)
    return Reason::kNotEnoughFree;
  if (const HostResources host = cluster.host_wanted(spec); host.any()) {
    int room = 0;
    for (const PoolId pool : pools_of(view, cluster, request)) {
      for (const NodeId node : cluster.pool(pool).nodes) room += cluster.host_room(node, host);
    }
    if (room < request.gpus) return Reason::kNotEnoughCpu;
  }
  return Reason::kFragmented;
}

namespace {

bool is_member(const AllocationRequest& request, Slot job) {
  const auto end = request.jobs.begin() + request.size;
  return std::find(request.jobs.begin(), end, job) != end;
}

bool all_of_type(const ClusterState& cluster, const GpuSet& gpus, Symbol type) {
  if (type == kNoSymbol) return true;
  for (int i = 0; i < gpus.nodes(); ++i) {
    if (cluster.node(gpus[i].node).gpu_type != type) return false;
  }
  return true;
}

bool all_free(const ClusterState& cluster, const GpuSet& gpus) {
  for (int i = 0; i < gpus.nodes(); ++i) {
    if ((cluster.free_mask(gpus[i].node) & gpus[i].mask) != gpus[i].mask) return false;
  }
  return true;
}

}  // namespace

Plan::Depth WalkingPlacement::depth(const ClusterState& cluster,
                                    const SchedulingTraits& traits) const {
  // Partitions do not wait for each other, so one that is blocked or full does not end the walk.
  if (!cluster.one_queue()) return Plan::Depth::kAll;
  if (!backfill_ || traits.strict) return Plan::Depth::kUntilBlocked;
  // Where a request can fail for its shape, what it leaves goes to a request further down.
  const bool any_shape = any_shape_ && !cluster.host_binds();
  return any_shape || !traits.work_conserving ? Plan::Depth::kUntilFull : Plan::Depth::kAll;
}

Slot WalkingPlacement::holder_among(const View& view, const AllocationRequest& request,
                                    const PlacementDraft& draft) const {
  for (int i = 0; i < request.size; ++i) {
    const Slot job = request.jobs[static_cast<std::size_t>(i)];
    const GpuSet* held = draft.holding(job);
    if (held != nullptr && held->gpus() == request.gpus &&
        all_of_type(draft.cluster(), *held, type_of(view, request))) {
      return job;
    }
  }
  return kNoSlot;
}

void WalkingPlacement::make_way(const View& view, const AllocationRequest& request,
                                PlacementDraft& draft) {
  const Slot holder = holder_among(view, request, draft);
  for (int i = 0; i < request.size; ++i) {
    const Slot job = request.jobs[static_cast<std::size_t>(i)];
    if (job == holder || !draft.holds(job)) continue;
    if (holder == kNoSlot) {
      draft.stop(job, Reason::kElastic);
    } else if (!(*draft.holding(job) == *draft.holding(holder))) {
      draft.stop(job, Reason::kGrouped, view.jobs[holder].spec.id);
    }
  }
  if (holder == kNoSlot) return;
  // Jobs co-located with it until now that have a request of their own in this turn.
  for (Slot other = view.jobs[holder].next_co_located; other != holder;
       other = view.jobs[other].next_co_located) {
    if (draft.holds(other) && !is_member(request, other)) {
      draft.stop(other, Reason::kOutranked, view.jobs[holder].spec.id);
    }
  }
}

bool WalkingPlacement::try_place(const View& view, const AllocationRequest& request,
                                 PlacementDraft& draft, Reason reason) {
  // A member that already holds the right GPUs is the holder; the others come to it.
  const Slot holder = holder_among(view, request, draft);
  if (holder == kNoSlot) {
    for (int i = 0; i < request.size; ++i) {
      const Slot job = request.jobs[static_cast<std::size_t>(i)];
      if (draft.holds(job)) draft.stop(job, Reason::kElastic);
    }
    const JobSpec& spec = view.jobs[request.lead()].spec;
    if (draft.cluster().free_for(spec.partition, type_of(view, request)) < request.gpus)
      return false;
    const GpuSet& old = view.jobs[request.lead()].gpus;
    if (request.size == 1 && old.gpus() == request.gpus &&
        all_of_type(draft.cluster(), old, type_of(view, request)) &&
        put_back(view, request.lead(), draft, reason)) {
      return true;
    }
    found_.clear();
    const auto limit = chooses_host() ? HostLimit() : draft.limit_to_host(request);
    if (limit.hides() &&
        draft.cluster().free_for(spec.partition, type_of(view, request)) < request.gpus)
      return false;
    if (!find(view, draft.cluster(), request, found_)) {
      found_.clear();
      if (!make_room(view, request, draft) || !find(view, draft.cluster(), request, found_))
        return false;
    }
    draft.start(request, found_, reason, host_for(view, request));
    return true;
  }
  for (int i = 0; i < request.size; ++i) {
    const Slot job = request.jobs[static_cast<std::size_t>(i)];
    if (job == holder) continue;
    if (draft.holds(job)) {
      if (*draft.holding(job) == *draft.holding(holder)) continue;
      draft.stop(job, Reason::kGrouped, view.jobs[holder].spec.id);
    }
    draft.join(job, holder, Reason::kGrouped);
  }
  return true;
}

bool WalkingPlacement::put_back(const View& view, Slot job, PlacementDraft& draft, Reason reason) {
  const Job& state = view.jobs[job];
  if (!state.running() || draft.holds(job)) return false;
  // Where the rule chooses cores, the search decides how many go with the GPUs now.
  if (chooses_host() && state.host.any()) return false;
  if (!draft.cluster().host_fits(state.gpus, state.host)) return false;
  if (draft.cluster().quota_left(state.spec.partition) < state.gpus.gpus()) return false;
  if (!all_free(draft.cluster(), state.gpus)) return false;
  draft.put_back(job, reason);
  return true;
}

void WalkingPlacement::place(const View& view, const SchedulingTraits& traits, const Plan& plan,
                             PlacementDraft& draft) {
  backfill_now_ = backfill_ && !traits.strict;
  closed_.assign(draft.cluster().pools().size(), 0);
  closed_quotas_.clear();
  if (traits.preemptive) {
    place_preemptive(view, traits, plan, draft);
    return;
  }
  for (const AllocationRequest& request : plan.requests()) {
    // There is not enough for it, and another one is blocked already: nothing comes of it.
    if (backfill_now_ && draft.blocked() != nullptr && request.size == 1 &&
        request.gpus > draft.cluster().free_gpus() && !view.jobs[request.lead()].running()) {
      continue;
    }
    if (behind_blocked(view, draft.cluster(), request)) continue;
    const Reason reason = draft.blocked() != nullptr ? Reason::kBackfilled : Reason::kFirstInOrder;
    if (try_place(view, request, draft, reason)) continue;
    // A running job that cannot have its new size keeps the one it has.
    if (request.size == 1 && put_back(view, request.lead(), draft, Reason::kElastic)) continue;
    draft.block(request, why_not_placed(view, draft.cluster(), request));
    if (!backfill_now_) close(view, draft.cluster(), request);
  }
}

bool WalkingPlacement::behind_blocked(const View& view, const ClusterState& cluster,
                                      const AllocationRequest& request) const {
  if (backfill_now_) return false;
  const Symbol partition = view.jobs[request.lead()].spec.partition;
  if (std::find(closed_quotas_.begin(), closed_quotas_.end(), partition) != closed_quotas_.end()) {
    return true;
  }
  const auto pools = pools_of(view, cluster, request);
  return std::any_of(pools.begin(), pools.end(),
                     [this](PoolId pool) { return closed_[index(pool)] != 0; });
}

void WalkingPlacement::close(const View& view, const ClusterState& cluster,
                             const AllocationRequest& request) {
  // A request that waits for a quota keeps back only those under the same quota.
  if (why_not_placed(view, cluster, request) == Reason::kOverQuota) {
    closed_quotas_.push_back(view.jobs[request.lead()].spec.partition);
    return;
  }
  for (const PoolId pool : pools_of(view, cluster, request)) closed_[index(pool)] = 1;
}

void WalkingPlacement::select(const View& view, const Plan& plan, const PlacementDraft& draft) {
  const ClusterState& cluster = draft.cluster();
  budget_.clear();
  for (const Pool& pool : cluster.pools()) budget_.push_back(pool.usable);
  quota_budget_.clear();
  for (const PartitionSpec& partition : cluster.spec().partitions) {
    if (partition.quota > 0) quota_budget_.emplace_back(partition.name, partition.quota);
  }
  chosen_.assign(plan.requests().size(), 0);
  keeps_.assign(view.jobs.slots(), 0);
  const bool simple = cluster.one_queue();
  for (std::size_t i = 0; i < plan.requests().size(); ++i) {
    const AllocationRequest& request = plan.requests()[i];
    if (simple) {
      if (request.gpus > budget_[0]) {
        if (!backfill_now_ || budget_[0] == 0) return;
        continue;
      }
      budget_[0] -= request.gpus;
    } else {
      if (behind_blocked(view, cluster, request)) continue;
      const Symbol partition = view.jobs[request.lead()].spec.partition;
      const auto quota = std::find_if(quota_budget_.begin(), quota_budget_.end(),
                                      [&](const auto& q) { return q.first == partition; });
      if (quota != quota_budget_.end() && request.gpus > quota->second) {
        if (!backfill_now_) closed_quotas_.push_back(partition);
        continue;
      }
      const auto pools = pools_of(view, cluster, request);
      int room = 0;
      for (const PoolId pool : pools) room += budget_[index(pool)];
      if (request.gpus > room) {
        if (!backfill_now_) {
          for (const PoolId pool : pools) closed_[index(pool)] = 1;
        }
        continue;
      }
      if (quota != quota_budget_.end()) quota->second -= request.gpus;
      int left = request.gpus;
      for (const PoolId pool : pools) {
        const int part = std::min(left, budget_[index(pool)]);
        budget_[index(pool)] -= part;
        left -= part;
      }
    }
    chosen_[i] = 1;
    for (int j = 0; j < request.size; ++j)
      keeps_[index(request.jobs[static_cast<std::size_t>(j)])] = 1;
  }
}

void WalkingPlacement::place_preemptive(const View& view, const SchedulingTraits& traits,
                                        const Plan& plan, PlacementDraft& draft) {
  select(view, plan, draft);
  const std::vector<AllocationRequest>& requests = plan.requests();
  // The most deserving job that gains GPUs is named as the cause of every stop.
  JobId gainer = kNoJob;
  for (std::size_t i = 0; i < requests.size() && gainer == kNoJob; ++i) {
    const Slot lead = requests[i].lead();
    if (chosen_[i] != 0 && !draft.holds(lead)) gainer = view.jobs[lead].spec.id;
  }
  // All GPUs that are released are released before any is allocated.
  for (const Slot job : view.jobs.running()) {
    if (keeps_[index(job)] == 0) draft.stop(job, Reason::kOutranked, gainer);
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (chosen_[i] != 0) make_way(view, requests[i], draft);
  }
  bool failed = false;
  bool overtakes = false;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Reason reason = overtakes ? Reason::kBackfilled : Reason::kFirstInOrder;
    if (chosen_[i] != 0 && !try_place(view, requests[i], draft, reason)) {
      chosen_[i] = 0;
      failed = true;
    }
    overtakes = overtakes || chosen_[i] == 0;
  }
  // Counting is not placing: with one kind of node and every chosen request placed, those passed
  // over cannot fit. Otherwise they may.
  if (failed || !draft.cluster().one_queue()) place_leftovers(view, traits, requests, draft);
  const auto blocked = std::find_if(
      requests.begin(), requests.end(),
      [&draft](const AllocationRequest& request) { return !draft.holds(request.lead()); });
  if (blocked != requests.end()) {
    draft.block(*blocked, why_not_placed(view, draft.cluster(), *blocked));
  }
}

void WalkingPlacement::place_leftovers(const View& view, const SchedulingTraits& traits,
                                       const std::vector<AllocationRequest>& requests,
                                       PlacementDraft& draft) {
  const bool pass_on = backfill_now_ && traits.work_conserving;
  for (std::size_t i = 0; i < requests.size() && draft.cluster().free_gpus() > 0; ++i) {
    if (chosen_[i] != 0) continue;
    if (pass_on && try_place(view, requests[i], draft, Reason::kBackfilled)) continue;
    // A running job that cannot have its new size keeps the one it has.
    const Slot lead = requests[i].lead();
    if (requests[i].size == 1 && keeps_[index(lead)] != 0) {
      put_back(view, lead, draft, Reason::kElastic);
    }
  }
}

}  // namespace muster
