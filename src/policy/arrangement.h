// Writes a draft from the whole outcome of a turn, for placements that place everyone anew: who is
// to be where. What is so already costs no step, whoever is left out stops, the others move.
//
// reset(), then put() or keep() per request, then write() once, into a draft without steps. The
// GPUs of all requests together must be free once every running job has left.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/placement_draft.h"

namespace muster {

class Arrangement {
 public:
  void reset() { entries_.clear(); }
  // The request goes onto these GPUs.
  void put(const AllocationRequest& request, GpuSet gpus, Reason reason);
  // The same onto the very GPUs that this member of the request holds.
  void keep(Slot holder, const AllocationRequest& request, Reason reason);
  void write(const View& view, PlacementDraft& draft);

 private:
  struct Entry {
    AllocationRequest request;
    GpuSet gpus;            // unless a member holds them already:
    Slot holder = kNoSlot;  // it is this one
    Reason reason = Reason::kNone;
  };

  static const GpuSet& gpus_of(const View& view, const Entry& entry);
  static bool stands(const View& view, const Entry& entry);
  static bool stays(const View& view, Slot job, const GpuSet& gpus);
  // Finds what changes; returns the first job that gets GPUs, if there is one.
  JobId look_through(const View& view);
  // Of a group that stays while another member asks for its CPU cores and memory.
  void rehost(const View& view, const Entry& entry, PlacementDraft& draft) const;
  void place(const View& view, const Entry& entry, PlacementDraft& draft);

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> changes_;  // positions of those that do not stand already
  std::vector<std::uint32_t> listed_;   // by slot: the last write() that had the job in a request
  std::uint32_t writes_ = 0;
  std::size_t go_on_ = 0;  // running jobs in requests
};

}  // namespace muster
