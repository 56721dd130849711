// Carrying out a draft that names the whole outcome of a turn: what stays as it is costs nothing.
#include "engine/engine.h"

namespace muster {

const GpuSet& Engine::gpus_of(const PlacementDraft::Placed& placed) const {
  return placed.holder == kNoSlot ? placed.gpus : jobs_[placed.holder].gpus;
}

// Its jobs run together already, on these very GPUs, and nobody else is with them.
bool Engine::stands(const PlacementDraft::Placed& placed) const {
  const Slot lead = placed.request.lead();
  if (placed.request.size == 1) {
    const Job& job = jobs_[lead];
    return job.next_co_located == lead && job.running() &&
           (placed.holder == lead || job.gpus == placed.gpus);
  }
  const GpuSet& gpus = gpus_of(placed);
  int ring = 1;
  for (Slot other = jobs_[lead].next_co_located; other != lead;
       other = jobs_[other].next_co_located)
    ++ring;
  if (ring != placed.request.size) return false;
  for (int i = 0; i < placed.request.size; ++i) {
    const Slot slot = placed.request.jobs[static_cast<std::size_t>(i)];
    if (!jobs_[slot].running() || !(jobs_[slot].gpus == gpus)) return false;
    Slot other = slot;
    while (other != lead) {
      other = jobs_[other].next_co_located;
      if (other == slot) return false;
    }
  }
  return true;
}

// Leaves its group and, as the last one, gives the GPUs back; the job still counts as running.
void Engine::vacate(Slot slot) {
  give_back(jobs_[slot]);
  unlink(slot, now_, false);
}

void Engine::settle_in(const PlacementDraft::Placed& placed) {
  const AllocationRequest& request = placed.request;
  const Slot lead = request.lead();
  const GpuSet& gpus = gpus_of(placed);  // the holder keeps its own
  cluster_.take(gpus, jobs_[lead].spec.partition);
  for (int i = 0; i < request.size; ++i) {
    const int next = i + 1 < request.size ? i + 1 : 0;
    jobs_[request.jobs[static_cast<std::size_t>(i)]].next_co_located =
        request.jobs[static_cast<std::size_t>(next)];
  }
  for (int i = 0; i < request.size; ++i) {
    const Slot slot = request.jobs[static_cast<std::size_t>(i)];
    Job& job = jobs_[slot];
    if (job.running() && job.gpus == gpus) {
      const JobProgress progress =
          command(CommandKind::kUpdateRate, slot, job.gpus, job.host, now_, true);
      job.work = progress.work;
      job.rate = progress.rate;
      job.since = progress.since;
      job.saved_work = progress.saved_work;
      continue;
    }
    PlacementDraft::Step step{
        PlacementDraft::Kind::kStart, slot, placed.reason, kNoJob, kNoSlot, gpus, {}};
    if (i > 0) {
      step.reason = Reason::kGrouped;
      step.other = jobs_[lead].spec.id;
    }
    const bool resize = job.running() && job.gpus.gpus() != gpus.gpus();
    launch(step, job.waiting() ? CommandKind::kStart
                 : resize      ? CommandKind::kResize
                               : CommandKind::kMove);
  }
}

void Engine::rearrange() {
  const std::vector<PlacementDraft::Placed>& all = draft_.arrangement();
  placed_.resize(jobs_.slots(), 0);
  ++turn_mark_;
  changes_.clear();
  JobId gainer = kNoJob;
  std::size_t go_on = 0;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    for (int j = 0; j < all[i].request.size; ++j) {
      const Slot slot = all[i].request.jobs[static_cast<std::size_t>(j)];
      placed_[index(slot)] = turn_mark_;
      if (jobs_[slot].running()) {
        ++go_on;
      } else if (gainer == kNoJob) {
        gainer = jobs_[slot].spec.id;
      }
    }
    if (!stands(all[i])) changes_.push_back(i);
  }
  group_.clear();
  if (go_on < jobs_.running().size()) {
    for (const Slot slot : jobs_.running()) {
      if (placed_[index(slot)] != turn_mark_) group_.push_back(slot);
    }
  }
  for (const Slot slot : group_) {
    ++jobs_[slot].preemptions;
    ++stops_;
    halt(slot, Reason::kOutranked, gainer, {.at = now_, .release = true, .update_rates = false});
  }
  for (const std::uint32_t i : changes_) {
    for (int j = 0; j < all[i].request.size; ++j) {
      const Slot slot = all[i].request.jobs[static_cast<std::size_t>(j)];
      if (jobs_[slot].running()) vacate(slot);
    }
  }
  for (const std::uint32_t i : changes_) settle_in(all[i]);
}

}  // namespace muster
