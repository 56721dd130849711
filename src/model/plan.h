// What a scheduling policy asks for. An allocation request names one job, or a group of up to four
// that run on the same GPUs, with a GPU count and, where it matters, a GPU type. A request is a
// gang: it gets all of its GPUs at once or none. A plan is a list of requests in order of
// precedence; placement turns it into GPUs.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <span>
#include <vector>

#include "base/symbols.h"
#include "model/ids.h"

namespace muster {

inline constexpr int kMaxGroup = 4;

struct AllocationRequest {
  std::array<Slot, kMaxGroup> jobs{};
  int size = 0;
  int gpus = 0;
  Symbol gpu_type = kNoSymbol;  // kNoSymbol: any type the job accepts

  static AllocationRequest alone(Slot job, int gpus, Symbol type = kNoSymbol) {
    AllocationRequest request;
    request.jobs[0] = job;
    request.size = 1;
    request.gpus = gpus;
    request.gpu_type = type;
    return request;
  }
  void join(Slot job) {
    assert(size < kMaxGroup);
    jobs[static_cast<std::size_t>(size++)] = job;
  }
  Slot lead() const { return jobs[0]; }
};

// Requests in order of precedence. In a preemptive plan a running job that is not listed loses its
// GPUs; otherwise running jobs keep theirs and the plan lists candidates among the waiting ones.
class Plan {
 public:
  // Plan depth: how many requests the placement wants to see. A policy may stop adding once add()
  // returns false, so a long queue costs what can run, not what waits.
  enum class Depth {
    // Until a request needs more GPUs than are left. For placements without backfill: those behind
    // the first one that does not fit wait anyway.
    kUntilBlocked,
    // Until no GPU is left. For placements that backfill: a 1-GPU job behind an 8-GPU job that does
    // not fit is still tried.
    kUntilFull,
    // As kUntilFull, but of the requests that need more than what is left only the first is listed.
    // For placements that can nearly always place what fits by count; they ask for kAll in the rare
    // turn in which one of the listed requests finds no place.
    kUntilFirstMisfit,
    // Everything. For placements that look at the whole order.
    kAll,
  };
  // `gpus` is how many could at most be allocated in this turn.
  void reset(int gpus, Depth depth) {
    requests_.clear();
    ranking_.clear();
    node_hints_.clear();
    programs_ = 0;
    gap_ = 0;
    budget_ = gpus;
    depth_ = depth;
    misfit_seen_ = false;
    cut_ = false;
  }
  // Returns whether a later request could still matter: once the budget is spent, a policy may stop
  // adding.
  bool add(const AllocationRequest& request) {
    return add_with(request.gpus, [&request](AllocationRequest& own) {
      // Member by member: a wide load right after narrow stores stalls.
      for (std::size_t i = 0; i < static_cast<std::size_t>(request.size); ++i) {
        own.jobs[i] = request.jobs[i];
      }
      own.size = request.size;
      own.gpu_type = request.gpu_type;
    });
  }
  // The same for one job alone.
  bool add(Slot job, int gpus, Symbol type) {
    return add_with(gpus, [job, type](AllocationRequest& own) {
      own.jobs[0] = job;
      own.size = 1;
      own.gpu_type = type;
    });
  }
  // As if they were added one after the other.
  void add(std::span<const AllocationRequest> requests) {
    if (depth_ != Depth::kAll) {
      for (const AllocationRequest& request : requests) add(request);
      return;
    }
    requests_.insert(requests_.end(), requests.begin(), requests.end());
    for (const AllocationRequest& request : requests) {
      const bool within = request.gpus <= budget_;
      if (within) budget_ -= request.gpus;
      misfit_seen_ = misfit_seen_ || !within;
    }
  }
  // Takes out the requests of which a job meets the condition.
  template <typename Condition>
  void drop(Condition condition) {
    std::erase_if(requests_, [&](const AllocationRequest& request) {
      return std::any_of(request.jobs.begin(), request.jobs.begin() + request.size, condition);
    });
  }
  // Requests may be missing, all of them larger than what would be left if all others were placed.
  bool cut() const { return cut_; }
  int left() const { return budget_; }
  const std::vector<AllocationRequest>& requests() const { return requests_; }

  // A policy whose order of jobs is finer than that of its requests (a group is one request, and
  // jobs that run need none) may tell it. A simulator in which several jobs end at the same moment
  // lets them go in this order (Backend::planned); nothing else depends on it. Where it is empty,
  // the order is that of the requests.
  void rank(Slot job) { ranking_.push_back(job); }
  const std::vector<Slot>& ranking() const { return ranking_; }

  // A policy that decides where a request runs, and not only how large it is, says so: this many
  // GPUs of that node for the request that this job leads. The placement `as-planned` follows it;
  // others choose for themselves.
  struct NodeHint {
    Slot lead = kNoSlot;
    NodeId node = kNoNode;
    int gpus = 0;
  };
  void hint_node(Slot lead, NodeId node, int gpus) { node_hints_.push_back({lead, node, gpus}); }
  const std::vector<NodeHint>& node_hints() const { return node_hints_; }

  // A policy whose plan comes from a program that may be cut off, or from a rule that stands in for
  // one, says how much better another plan could have been, relative to this one.
  void solved(double gap) {
    ++programs_;
    gap_ = std::max(gap_, gap);
  }
  int programs() const { return programs_; }
  double gap() const { return gap_; }  // the largest

 private:
  template <typename Fill>
  bool add_with(int gpus, Fill fill) {
    const bool within = gpus <= budget_;
    if (!within && misfit_seen_ && depth_ == Depth::kUntilFirstMisfit) {
      cut_ = true;
      return budget_ > 0;
    }
    AllocationRequest& own = requests_.emplace_back();
    own.gpus = gpus;
    fill(own);
    if (depth_ == Depth::kUntilBlocked || within) budget_ -= gpus;
    misfit_seen_ = misfit_seen_ || !within;
    const bool enough = budget_ <= 0 && depth_ != Depth::kAll &&
                        (depth_ != Depth::kUntilFirstMisfit || misfit_seen_);
    cut_ = cut_ || enough;
    return !enough;
  }

  std::vector<AllocationRequest> requests_;
  std::vector<Slot> ranking_;
  std::vector<NodeHint> node_hints_;  // those of one request follow each other
  int programs_ = 0;
  double gap_ = 0;
  int budget_ = 0;
  Depth depth_ = Depth::kAll;
  bool misfit_seen_ = false;
  bool cut_ = false;
};

}  // namespace muster
