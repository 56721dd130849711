#include "policy/arrangement.h"

#include <bit>
#include <cassert>

namespace muster {

void Arrangement::reset(const View& view) {
  view_ = &view;
  entries_.clear();
  listed_.resize(view.jobs.slots(), 0);
  ++outcomes_;
  go_on_ = 0;
  gainer_ = kNoJob;
}

void Arrangement::put(const AllocationRequest& request, GpuSet gpus, Reason reason) {
  Entry* const entry = add(request, list(request, gpus), reason);
  if (entry != nullptr) entry->gpus = std::move(gpus);
}

void Arrangement::keep(Slot holder, const AllocationRequest& request, Reason reason) {
  std::uint32_t stays = 1;
  if (request.size == 1) {
    list(holder);
    if (job(holder).next_co_located == holder && !view_->cluster.host_binds()) return;
  } else {
    stays = list(request, job(holder).gpus);
  }
  Entry* const entry = add(request, stays, reason);
  if (entry != nullptr) entry->holder = holder;
}

Arrangement::Entry* Arrangement::add(const AllocationRequest& request, std::uint32_t stays,
                                     Reason reason) {
  const bool so_already = stands(request, stays);
  if (so_already && !view_->cluster.host_binds()) return nullptr;
  Entry& entry = entries_.emplace_back();
  entry.request = request;
  entry.stays = stays;
  entry.reason = reason;
  entry.stands = so_already;
  return &entry;
}

std::uint32_t Arrangement::list(const AllocationRequest& request, const GpuSet& gpus) {
  std::uint32_t stays = 0;
  for (int i = 0; i < request.size; ++i) {
    const Slot slot = request.jobs[static_cast<std::size_t>(i)];
    list(slot);
    if (job(slot).running() && job(slot).gpus == gpus) stays |= std::uint32_t{1} << i;
  }
  return stays;
}

void Arrangement::list(Slot slot) {
  listed_[index(slot)] = outcomes_;
  if (job(slot).running()) {
    ++go_on_;
  } else if (gainer_ == kNoJob) {
    gainer_ = job(slot).spec.id;
  }
}

// Its jobs run together already, on these very GPUs, and no other job is with them.
bool Arrangement::stands(const AllocationRequest& request, std::uint32_t stays) const {
  if (std::popcount(stays) != request.size) return false;
  const Slot lead = request.lead();
  if (request.size == 1) return job(lead).next_co_located == lead;
  int ring = 1;
  for (Slot other = job(lead).next_co_located; other != lead; other = job(other).next_co_located)
    ++ring;
  if (ring != request.size) return false;
  for (int i = 1; i < request.size; ++i) {
    const Slot slot = request.jobs[static_cast<std::size_t>(i)];
    Slot other = slot;
    while (other != lead) {
      other = job(other).next_co_located;
      if (other == slot) return false;
    }
  }
  return true;
}

void Arrangement::write(PlacementDraft& draft) {
  assert(draft.steps().empty() && "the whole outcome cannot be mixed with other steps");
  const SlotList& running = view_->jobs.running();
  if (go_on_ < running.size()) {
    for (const Slot slot : running) {
      if (listed_[index(slot)] != outcomes_) draft.stop(slot, Reason::kOutranked, gainer_);
    }
  }
  // All jobs that move leave before the first arrives: two may change places.
  for (const Entry& entry : entries_) lift(entry, draft);
  if (draft.cluster().host_binds()) {
    for (const Entry& entry : entries_) rehost(entry, draft);
  }
  for (Entry& entry : entries_) {
    if (!entry.stands) place(entry, draft);
  }
}

void Arrangement::lift(const Entry& entry, PlacementDraft& draft) const {
  for (int i = 0; i < entry.request.size; ++i) {
    if (!entry.stays_there(i) && job(entry.job(i)).running()) draft.lift(entry.job(i));
  }
}

void Arrangement::rehost(const Entry& entry, PlacementDraft& draft) const {
  if (entry.stays == 0) return;
  const HostResources host = draft.cluster().host_wanted(job(entry.request.lead()).spec);
  const Slot first = entry.job(std::countr_zero(entry.stays));
  if (!(draft.host_of(first) == host)) draft.rehost(first, host);
}

void Arrangement::place(Entry& entry, PlacementDraft& draft) {
  if (entry.stays == 0) {
    draft.start(entry.request, std::move(entry.gpus), entry.reason);
    return;
  }
  const Slot holder = entry.job(std::countr_zero(entry.stays));
  for (int i = 0; i < entry.request.size; ++i) {
    if (entry.stays_there(i)) continue;
    draft.join(entry.job(i), holder, i == 0 ? entry.reason : Reason::kGrouped);
  }
}

}  // namespace muster
