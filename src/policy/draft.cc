#include "policy/draft.h"

#include <algorithm>
#include <cassert>

namespace muster {

void Draft::reset() {
  for (const Slot job : touched_) last_step_[index(job)] = kUntouched;
  touched_.clear();
  joins_ = 0;
  steps_.clear();
  rehosts_.clear();
  block_ = {};
  arrangement_.clear();
  whole_ = false;
  wants_all_ = false;
}

std::uint32_t& Draft::last_step(Slot job) {
  if (last_step_.size() < jobs_->slots()) last_step_.resize(jobs_->slots(), kUntouched);
  return last_step_[index(job)];
}

const GpuSet* Draft::holding(Slot job) const {
  const std::uint32_t last = index(job) < last_step_.size() ? last_step_[index(job)] : kUntouched;
  if (last == kUntouched) {
    const Job& state = (*jobs_)[job];
    return state.running() ? &state.gpus : nullptr;
  }
  return steps_[last].kind == Kind::kStart ? &steps_[last].gpus : nullptr;
}

bool Draft::shared_with_others(Slot job) const {
  // Members of one group hold equal sets: old groups are rings, new ones are `beside` links.
  for (Slot other = (*jobs_)[job].partner; other != job; other = (*jobs_)[other].partner) {
    const std::uint32_t last =
        index(other) < last_step_.size() ? last_step_[index(other)] : kUntouched;
    if (last == kUntouched) return true;
  }
  return joins_ > 0 && std::any_of(touched_.begin(), touched_.end(), [&](Slot other) {
           return other != job && started_beside(other, job);
         });
}

bool Draft::started_beside(Slot other, Slot job) const {
  const Step& step = steps_[last_step_[index(other)]];
  const GpuSet* mine = holding(job);
  return step.kind == Kind::kStart && mine != nullptr && step.gpus == *mine;
}

void Draft::stop(Slot job, Reason reason, JobId other) {
  const GpuSet* held = holding(job);
  assert(held != nullptr && "only a job that holds GPUs can be stopped");
  const Job& state = (*jobs_)[job];
  const bool lodged = last_step(job) == kUntouched ? state.guest : steps_[last_step(job)].guest;
  if (!lodged && !shared_with_others(job)) {
    cluster_->release(*held, state.spec.partition, host_of(job));
  }
  std::erase_if(rehosts_, [job](const Rehost& rehost) { return rehost.job == job; });
  if (last_step(job) == kUntouched) touched_.push_back(job);
  last_step(job) = static_cast<std::uint32_t>(steps_.size());
  steps_.push_back({Kind::kStop, job, reason, other, kNoSlot, {}, {}});
}

void Draft::start(const Share& share, GpuSet gpus, Reason reason, const HostShare& host) {
  const Slot lead = share.lead();
  assert(!holds(lead) && "a job that holds GPUs cannot be started");
  cluster_->take(gpus, (*jobs_)[lead].spec.partition, host);
  if (last_step(lead) == kUntouched) touched_.push_back(lead);
  last_step(lead) = static_cast<std::uint32_t>(steps_.size());
  steps_.push_back({Kind::kStart, lead, reason, kNoJob, kNoSlot, std::move(gpus), host});
  for (int i = 1; i < share.size; ++i)
    join(share.jobs[static_cast<std::size_t>(i)], lead, Reason::kGrouped);
}

void Draft::join(Slot job, Slot beside, Reason reason) {
  const GpuSet* host_gpus = holding(beside);
  assert(host_gpus != nullptr && !holds(job));
  assert((*jobs_)[job].spec.partition == (*jobs_)[beside].spec.partition &&
         "jobs that share GPUs count against one quota");
  ++joins_;
  Step step{Kind::kStart, job,        reason,         (*jobs_)[beside].spec.id,
            beside,       *host_gpus, host_of(beside)};
  if (last_step(job) == kUntouched) touched_.push_back(job);
  last_step(job) = static_cast<std::uint32_t>(steps_.size());
  steps_.push_back(std::move(step));
}

void Draft::lodge(Slot job, GpuSet gpus, Reason reason) {
  assert(!holds(job) && "a job that holds GPUs cannot be a guest on others");
  if (last_step(job) == kUntouched) touched_.push_back(job);
  last_step(job) = static_cast<std::uint32_t>(steps_.size());
  steps_.push_back({Kind::kStart, job, reason, kNoJob, kNoSlot, std::move(gpus), {}, true});
}

HostShare Draft::host_of(Slot job) const {
  const std::uint32_t last = index(job) < last_step_.size() ? last_step_[index(job)] : kUntouched;
  HostShare host = last == kUntouched ? (*jobs_)[job].host : steps_[last].host;
  for (const Rehost& rehost : rehosts_) {
    if (rehost.job == job) host = rehost.host;  // the latest counts
  }
  return host;
}

void Draft::rehost(Slot job, const HostShare& host) {
  const GpuSet* held = holding(job);
  assert(held != nullptr && "only a job that holds GPUs has cores beside them");
  cluster_->rehost(*held, host_of(job), host);
  // Those who share the GPUs share what goes with them.
  for (Slot other = (*jobs_)[job].partner; other != job; other = (*jobs_)[other].partner) {
    const bool moved = index(other) < last_step_.size() && last_step_[index(other)] != kUntouched;
    if (!moved) rehosts_.push_back({other, host});
  }
  for (const Slot other : touched_) {
    if (joins_ > 0 && other != job && started_beside(other, job)) rehosts_.push_back({other, host});
  }
  rehosts_.push_back({job, host});
}

void Draft::block(const Share& share, Reason reason) {
  if (blocked() != nullptr) return;
  const JobSpec& spec = (*jobs_)[share.lead()].spec;
  const Symbol type = share.gpu_type != kNoSymbol ? share.gpu_type : spec.gpu_type;
  block_ = {share, reason, cluster_->free_for(spec.partition, type)};
}

}  // namespace muster
