#include "policy/placement/yarn.h"

#include <algorithm>

#include "policy/table.h"

namespace muster {
namespace {

bool first_of_group(const JobTable& jobs, Slot slot) {
  for (Slot other = jobs[slot].next_co_located; other != slot;
       other = jobs[other].next_co_located) {
    if (other < slot) return false;
  }
  return true;
}

}  // namespace

void Yarn::place(const View& view, const SchedulingTraits& traits, const Plan& plan,
                 PlacementDraft& draft) {
  if (!traits.preemptive) {
    place_waiting(view, traits, plan, draft);
    return;
  }
  fit_.reset(view.cluster);
  fit_.count_memory(memory(view));
  arrangement_.reset(view);
  claimed_.assign(view.cluster.node_count(), 0);
  quotas_.clear();
  choose(view, plan, draft);
  if (plan.cut() && fit_.free() > plan.left()) {
    draft.ask_for_all();
    return;
  }
  for (Target& target : targets_) {
    if (target.holder == kNoSlot) claim_new(view, target);
  }
  for (Target& target : targets_) {
    const Reason reason = target.overtakes ? Reason::kBackfilled : Reason::kFirstInOrder;
    if (target.holder != kNoSlot) {
      arrangement_.keep(target.holder, *target.request, reason);
    } else {
      arrangement_.put(*target.request, std::move(target.fresh), reason);
    }
  }
  arrangement_.write(draft);
}

bool Yarn::ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const {
  return PlacementPolicy::ever_fits(cluster, job, gpus) &&
         NodeFit::ever(cluster, gpus, cluster.pools_for(job.partition, job.gpu_type),
                       cluster.host_wanted(job));
}

Plan::Depth Yarn::depth(const ClusterState& cluster, const SchedulingTraits& traits) const {
  // One that finds no shape leaves room for any behind it; but mostly all find theirs.
  if (cluster.host_binds()) return Plan::Depth::kAll;
  return traits.preemptive ? Plan::Depth::kUntilFirstMisfit : Plan::Depth::kAll;
}

void Yarn::choose(const View& view, const Plan& plan, PlacementDraft& draft) {
  targets_.clear();
  parts_.clear();
  const bool one_queue = view.cluster.one_queue();
  const bool host_binds = view.cluster.host_binds();
  for (const AllocationRequest& request : plan.requests()) {
    if (fit_.free() < request.gpus && draft.blocked() != nullptr) {
      if (fit_.free() == 0) break;
      continue;
    }
    const std::size_t first = parts_.size();
    if (host_binds) fit_.ask_for(view.cluster.host_wanted(view.jobs[request.lead()].spec));
    int* const quota = one_queue ? nullptr : &quota_left(view, request);
    if (quota != nullptr && *quota < request.gpus) {
      draft.block(request, Reason::kOverQuota);
    } else if (one_queue
                   ? fit_.take(request.gpus, &parts_)
                   : fit_.take(request.gpus, pools_of(view, view.cluster, request), &parts_)) {
      if (quota != nullptr) *quota -= request.gpus;
      const std::span<const NodePart> parts = std::span(parts_).subspan(first);
      gave(view, request, parts);
      const Slot holder = claim_held(view, request, parts);
      if (holder != kNoSlot && request.size == 1 && !host_binds) {
        arrangement_.keep(holder, request, Reason::kNone);  // nothing changes
        continue;
      }
      Target& target = targets_.emplace_back();
      target.request = &request;
      target.first = first;
      target.last = parts_.size();
      target.overtakes = draft.blocked() != nullptr;
      target.holder = holder;
    } else {
      draft.block(request, fit_.free() < request.gpus ? Reason::kNotEnoughFree
                           : fit_.asks_for_host()     ? Reason::kNotEnoughCpu
                                                      : Reason::kFragmented);
    }
  }
}

void Yarn::place_waiting(const View& view, const SchedulingTraits& traits, const Plan& plan,
                         PlacementDraft& draft) {
  fit_.reset_to_free(draft.cluster());
  fit_.count_memory(nullptr);
  for (const AllocationRequest& request : plan.requests()) {
    if (fit_.free() == 0 && draft.blocked() != nullptr) return;
    parts_.clear();
    const JobSpec& spec = view.jobs[request.lead()].spec;
    fit_.ask_for(draft.cluster().host_wanted(spec));
    if (draft.cluster().quota_left(spec.partition) < request.gpus ||
        !fit_.take(request.gpus, pools_of(view, draft.cluster(), request), &parts_)) {
      draft.block(request, why_not_placed(view, draft.cluster(), request));
      if (traits.strict) return;
      continue;
    }
    GpuSet gpus;
    for (const NodePart& part : parts_) {
      gpus.add(part.node, lowest_bits(draft.cluster().free_mask(part.node), part.gpus));
    }
    draft.start(request, std::move(gpus),
                draft.blocked() != nullptr ? Reason::kBackfilled : Reason::kFirstInOrder);
  }
}

int& Yarn::quota_left(const View& view, const AllocationRequest& request) {
  const Symbol partition = view.jobs[request.lead()].spec.partition;
  const auto known = std::find_if(quotas_.begin(), quotas_.end(),
                                  [partition](const auto& q) { return q.first == partition; });
  if (known != quotas_.end()) return known->second;
  // Jobs that run in it give theirs back first.
  int left = view.cluster.quota_left(partition);
  for (const Slot slot : view.jobs.running()) {
    const Job& job = view.jobs[slot];
    if (job.spec.partition != partition || !first_of_group(view.jobs, slot)) continue;
    left += job.gpus.gpus();
  }
  return quotas_.emplace_back(partition, left).second;
}

Slot Yarn::claim_held(const View& view, const AllocationRequest& request,
                      std::span<const NodePart> parts) {
  const auto count = static_cast<int>(parts.size());
  for (int i = 0; i < request.size; ++i) {
    const Slot member = request.jobs[static_cast<std::size_t>(i)];
    const Job& job = view.jobs[member];
    if (!job.running() || job.gpus.nodes() != count) continue;
    bool right = true;
    for (int j = 0; j < count && right; ++j) {
      const NodePart& part = parts[static_cast<std::size_t>(j)];
      right = job.gpus[j].node == part.node && job.gpus[j].count() == part.gpus &&
              (claimed_[index(part.node)] & job.gpus[j].mask) == 0;
    }
    if (!right) continue;
    for (int j = 0; j < count; ++j) claimed_[index(job.gpus[j].node)] |= job.gpus[j].mask;
    return member;
  }
  return kNoSlot;
}

void Yarn::claim_new(const View& view, Target& target) {
  for (std::size_t i = target.first; i < target.last; ++i) {
    const NodeId node = parts_[i].node;
    std::uint64_t& claimed = claimed_[index(node)];
    const std::uint64_t mask =
        lowest_bits(view.cluster.healthy_mask(node) & ~claimed, parts_[i].gpus);
    claimed |= mask;
    target.fresh.add(node, mask);
  }
}

PolicyInfo<PlacementPolicy> yarn_row() {
  return {
      "yarn",
      "all jobs are placed again each turn: on the first node with room, or on idle nodes "
      "under one switch",
      "Tiresias, 2019",
      {},
      [](const Params&) -> std::unique_ptr<PlacementPolicy> { return std::make_unique<Yarn>(); }};
}

}  // namespace muster
