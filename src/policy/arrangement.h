// Writes a draft from the whole outcome of a turn, for placements that place all jobs again. A job
// that is already in its place costs no step, a job that is left out stops, the others move.
//
// Call reset(), then put() or keep() per request, then write() once, into a draft without steps.
// The GPUs of all requests together must be free once every running job has left.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/placement_draft.h"

namespace muster {

class Arrangement {
 public:
  // Begins with an empty cluster. The view must stay until write() is done.
  void reset(const View& view);
  // The request goes onto these GPUs.
  void put(const AllocationRequest& request, GpuSet gpus, Reason reason);
  // The same onto the very GPUs that this member of the request holds.
  void keep(Slot holder, const AllocationRequest& request, Reason reason);
  void write(PlacementDraft& draft);

 private:
  struct Entry {
    AllocationRequest request;
    GpuSet gpus;              // unless a member holds them already:
    Slot holder = kNoSlot;    // it is this one
    std::uint32_t stays = 0;  // bits of members that are on these GPUs now
    Reason reason = Reason::kNone;
    bool stands = false;  // all is so already

    Slot job(int member) const { return request.jobs[static_cast<std::size_t>(member)]; }
    bool stays_there(int member) const { return (stays >> member & 1U) != 0; }
  };

  const Job& job(Slot slot) const { return view_->jobs[slot]; }
  // Its jobs go on, or begin. Which of them are on these GPUs now?
  std::uint32_t list(const AllocationRequest& request, const GpuSet& gpus);
  void list(Slot slot);
  bool stands(const AllocationRequest& request, std::uint32_t stays) const;
  // Null if nothing changes and CPU cores and memory do not bind.
  Entry* add(const AllocationRequest& request, std::uint32_t stays, Reason reason);
  // Of a group that stays while another member asks for its CPU cores and memory.
  void rehost(const Entry& entry, PlacementDraft& draft) const;
  void lift(const Entry& entry, PlacementDraft& draft) const;
  static void place(Entry& entry, PlacementDraft& draft);

  const View* view_ = nullptr;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> listed_;  // by slot: the last outcome that had the job in a request
  std::uint32_t outcomes_ = 0;
  std::size_t go_on_ = 0;  // running jobs in requests
  JobId gainer_ = kNoJob;  // the first job that gets GPUs
};

}  // namespace muster
