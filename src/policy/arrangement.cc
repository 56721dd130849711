#include "policy/arrangement.h"

#include <cassert>

namespace muster {

void Arrangement::put(const AllocationRequest& request, GpuSet gpus, Reason reason) {
  Entry& entry = entries_.emplace_back();
  entry.request = request;
  entry.gpus = std::move(gpus);
  entry.reason = reason;
}

void Arrangement::keep(Slot holder, const AllocationRequest& request, Reason reason) {
  Entry& entry = entries_.emplace_back();
  entry.request = request;
  entry.holder = holder;
  entry.reason = reason;
}

const GpuSet& Arrangement::gpus_of(const View& view, const Entry& entry) {
  return entry.holder == kNoSlot ? entry.gpus : view.jobs[entry.holder].gpus;
}

bool Arrangement::stays(const View& view, Slot job, const GpuSet& gpus) {
  return view.jobs[job].running() && view.jobs[job].gpus == gpus;
}

// Its jobs run together already, on these very GPUs, and nobody else is with them.
bool Arrangement::stands(const View& view, const Entry& entry) {
  const JobTable& jobs = view.jobs;
  const Slot lead = entry.request.lead();
  if (entry.request.size == 1) {
    const Job& job = jobs[lead];
    return job.next_co_located == lead && job.running() &&
           (entry.holder == lead || job.gpus == entry.gpus);
  }
  int ring = 1;
  for (Slot other = jobs[lead].next_co_located; other != lead; other = jobs[other].next_co_located)
    ++ring;
  if (ring != entry.request.size) return false;
  const GpuSet& gpus = gpus_of(view, entry);
  for (int i = 0; i < entry.request.size; ++i) {
    const Slot slot = entry.request.jobs[static_cast<std::size_t>(i)];
    if (!stays(view, slot, gpus)) return false;
    Slot other = slot;
    while (other != lead) {
      other = jobs[other].next_co_located;
      if (other == slot) return false;
    }
  }
  return true;
}

JobId Arrangement::look_through(const View& view) {
  listed_.resize(view.jobs.slots(), 0);
  ++writes_;
  changes_.clear();
  go_on_ = 0;
  JobId gainer = kNoJob;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const AllocationRequest& request = entries_[i].request;
    for (int j = 0; j < request.size; ++j) {
      const Slot slot = request.jobs[static_cast<std::size_t>(j)];
      listed_[index(slot)] = writes_;
      if (view.jobs[slot].running()) {
        ++go_on_;
      } else if (gainer == kNoJob) {
        gainer = view.jobs[slot].spec.id;
      }
    }
    if (!stands(view, entries_[i])) changes_.push_back(i);
  }
  return gainer;
}

void Arrangement::write(const View& view, PlacementDraft& draft) {
  assert(draft.steps().empty() && "the whole outcome cannot be mixed with other steps");
  const JobId gainer = look_through(view);
  if (go_on_ < view.jobs.running().size()) {
    for (const Slot slot : view.jobs.running()) {
      if (listed_[index(slot)] != writes_) draft.stop(slot, Reason::kOutranked, gainer);
    }
  }
  // All who move leave before the first arrives: two may change places.
  for (const std::uint32_t i : changes_) {
    const GpuSet& gpus = gpus_of(view, entries_[i]);
    for (int j = 0; j < entries_[i].request.size; ++j) {
      const Slot slot = entries_[i].request.jobs[static_cast<std::size_t>(j)];
      if (view.jobs[slot].running() && !(view.jobs[slot].gpus == gpus)) draft.lift(slot);
    }
  }
  if (draft.cluster().host_binds()) {
    for (const Entry& entry : entries_) rehost(view, entry, draft);
  }
  for (const std::uint32_t i : changes_) place(view, entries_[i], draft);
}

void Arrangement::rehost(const View& view, const Entry& entry, PlacementDraft& draft) const {
  const GpuSet& gpus = gpus_of(view, entry);
  const HostResources host = draft.cluster().host_wanted(view.jobs[entry.request.lead()].spec);
  for (int i = 0; i < entry.request.size; ++i) {
    const Slot slot = entry.request.jobs[static_cast<std::size_t>(i)];
    if (!stays(view, slot, gpus)) continue;
    if (!(draft.host_of(slot) == host)) draft.rehost(slot, host);
    return;
  }
}

void Arrangement::place(const View& view, const Entry& entry, PlacementDraft& draft) {
  const AllocationRequest& request = entry.request;
  const GpuSet& gpus = gpus_of(view, entry);
  Slot host = kNoSlot;
  for (int i = 0; i < request.size && host == kNoSlot; ++i) {
    const Slot slot = request.jobs[static_cast<std::size_t>(i)];
    if (stays(view, slot, gpus)) host = slot;
  }
  if (host == kNoSlot) {
    draft.start(request, gpus, entry.reason);
    return;
  }
  for (int i = 0; i < request.size; ++i) {
    const Slot slot = request.jobs[static_cast<std::size_t>(i)];
    if (!stays(view, slot, gpus)) draft.join(slot, host, i == 0 ? entry.reason : Reason::kGrouped);
  }
}

}  // namespace muster
