#include "policy/placement_draft.h"

#include <algorithm>
#include <cassert>

namespace muster {

void PlacementDraft::reset() {
  for (const Slot job : touched_) last_step_[index(job)] = kUntouched;
  touched_.clear();
  joins_ = 0;
  lifted_ = 0;
  steps_.clear();
  rehosts_.clear();
  block_ = {};
  wants_all_ = false;
}

const GpuSet* PlacementDraft::holding(Slot job) const {
  const std::uint32_t last = last_step(job);
  if (last == kUntouched) {
    const Job& state = (*jobs_)[job];
    return state.running() ? &state.gpus : nullptr;
  }
  if (last == kLifted) return nullptr;
  return steps_[last].kind == Kind::kStart ? &steps_[last].gpus : nullptr;
}

// Members of one group hold equal sets: old groups are rings, new ones start on one set, and a job
// that came to one that was there is beside the ring of that one.
template <typename Visit>
void PlacementDraft::each_beside(Slot job, const Visit& visit) const {
  const GpuSet* const mine = holding(job);
  if (mine == nullptr) return;
  Slot in_ring = job;
  for (int joins = 0; joins < kMaxGroup; ++joins) {
    Slot other = in_ring;
    do {
      const bool holds_on = other != job && last_step(other) == kUntouched;
      if (holds_on && (*jobs_)[other].gpus == *mine && visit(other)) return;
      other = (*jobs_)[other].next_co_located;
    } while (other != in_ring);
    const std::uint32_t last = last_step(in_ring);
    if (last == kUntouched || last == kLifted || steps_[last].co_located_with == kNoSlot) break;
    in_ring = steps_[last].co_located_with;
  }
  if (joins_ == 0) return;
  for (const Slot other : touched_) {
    if (other != job && started_beside(other, job) && visit(other)) return;
  }
}

bool PlacementDraft::shared_with_others(Slot job) const {
  bool shared = false;
  each_beside(job, [&shared](Slot) { return shared = true; });
  return shared;
}

bool PlacementDraft::started_beside(Slot other, Slot job) const {
  const GpuSet* theirs = holding(other);
  const GpuSet* mine = holding(job);
  return theirs != nullptr && mine != nullptr && *theirs == *mine;
}

PlacementDraft::Step& PlacementDraft::add(Kind kind, Slot job, Reason reason) {
  const bool lifted = last_step(job) == kLifted;
  if (lifted) --lifted_;
  touch(job, static_cast<std::uint32_t>(steps_.size()));
  Step& step = steps_.emplace_back();  // written where it stays: a step is large
  step.kind = kind;
  step.job = job;
  step.reason = reason;
  step.lifted = lifted;
  return step;
}

void PlacementDraft::take_off(Slot job) {
  const GpuSet* held = holding(job);
  assert(held != nullptr && "only a job that holds GPUs can lose them");
  const Job& state = (*jobs_)[job];
  const std::uint32_t last = last_step(job);
  const bool opportunistic = last == kUntouched ? state.opportunistic : steps_[last].opportunistic;
  const bool alone = state.next_co_located == job && joins_ == 0;
  if (!opportunistic && (alone || !shared_with_others(job))) {
    cluster_->release(*held, state.spec.partition, host_of(job));
  }
  if (!rehosts_.empty())
    std::erase_if(rehosts_, [job](const Rehost& rehost) { return rehost.job == job; });
}

void PlacementDraft::stop(Slot job, Reason reason, JobId other) {
  take_off(job);
  add(Kind::kStop, job, reason).other = other;
}

void PlacementDraft::lift(Slot job) {
  take_off(job);
  touch(job, kLifted);
  ++lifted_;
}

HostLimit PlacementDraft::limit_to_host(const AllocationRequest& request) const {
  const JobSpec& job = (*jobs_)[request.lead()].spec;
  const HostResources host = cluster_->host_wanted(job);
  if (!host.any()) return {};
  const Symbol type = request.gpu_type != kNoSymbol ? request.gpu_type : job.gpu_type;
  return {*cluster_, cluster_->pools_for(job.partition, type), host};
}

void PlacementDraft::start(const AllocationRequest& request, GpuSet gpus, Reason reason,
                           const HostResources& given) {
  const Slot lead = request.lead();
  assert(!holds(lead) && "a job that holds GPUs cannot be started");
  HostResources host = given;
  if (!given.any() && cluster_->host_binds()) host = cluster_->host_wanted((*jobs_)[lead].spec);
  take_free(lead, std::move(gpus), reason, host);
  for (int i = 1; i < request.size; ++i)
    join(request.jobs[static_cast<std::size_t>(i)], lead, Reason::kGrouped);
}

void PlacementDraft::put_back(Slot job, Reason reason) {
  assert(!holds(job) && (*jobs_)[job].running());
  take_free(job, (*jobs_)[job].gpus, reason, (*jobs_)[job].host);
}

void PlacementDraft::take_free(Slot job, GpuSet gpus, Reason reason, const HostResources& host) {
  cluster_->take(gpus, (*jobs_)[job].spec.partition, host);
  Step& step = add(Kind::kStart, job, reason);
  step.gpus = std::move(gpus);
  step.host = host;
}

void PlacementDraft::join(Slot job, Slot co_located_with, Reason reason) {
  assert(holds(co_located_with) && !holds(job));
  assert((*jobs_)[job].spec.partition == (*jobs_)[co_located_with].spec.partition &&
         "jobs that share GPUs count against one quota");
  ++joins_;
  const HostResources host = host_of(co_located_with);
  Step& step = add(Kind::kStart, job, reason);
  step.other = (*jobs_)[co_located_with].spec.id;
  step.co_located_with = co_located_with;
  step.gpus = *holding(co_located_with);  // only now: adding may move the steps
  step.host = host;
}

void PlacementDraft::start_opportunistic(Slot job, GpuSet gpus, Reason reason) {
  assert(!holds(job) && "a job that holds GPUs cannot run opportunistically on others");
  Step& step = add(Kind::kStart, job, reason);
  step.gpus = std::move(gpus);
  step.opportunistic = true;
}

HostResources PlacementDraft::host_of(Slot job) const {
  const std::uint32_t last = last_step(job);
  HostResources host;
  if (last == kUntouched) {
    host = (*jobs_)[job].host;
  } else if (last != kLifted) {
    host = steps_[last].host;
  }
  for (const Rehost& rehost : rehosts_) {
    if (rehost.job == job) host = rehost.host;  // the latest counts
  }
  return host;
}

void PlacementDraft::rehost(Slot job, const HostResources& host) {
  const GpuSet* held = holding(job);
  assert(held != nullptr && "only a job that holds GPUs has cores beside them");
  cluster_->rehost(*held, host_of(job), host);
  // Jobs that share the GPUs share what goes with them.
  each_beside(job, [&](Slot other) {
    if (!(host_of(other) == host)) rehosts_.push_back({other, host});
    return false;
  });
  rehosts_.push_back({job, host});
}

void PlacementDraft::block(const AllocationRequest& request, Reason reason) {
  if (blocked() != nullptr) return;
  const JobSpec& spec = (*jobs_)[request.lead()].spec;
  const Symbol type = request.gpu_type != kNoSymbol ? request.gpu_type : spec.gpu_type;
  block_ = {request, reason, cluster_->free_for(spec.partition, type)};
}

}  // namespace muster
