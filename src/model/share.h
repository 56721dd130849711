// A share is what a policy hands out: one job, or a group of up to four that run on the same GPUs,
// with a GPU count and, where it matters, a GPU type. A plan is shares in order of precedence.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include "base/symbols.h"
#include "model/ids.h"

namespace muster {

inline constexpr int kMaxGroup = 4;

struct Share {
  std::array<Slot, kMaxGroup> jobs{};
  int size = 0;
  int gpus = 0;
  Symbol gpu_type = kNoSymbol;  // kNoSymbol: any type the job accepts

  static Share alone(Slot job, int gpus, Symbol type = kNoSymbol) {
    Share share;
    share.jobs[0] = job;
    share.size = 1;
    share.gpus = gpus;
    share.gpu_type = type;
    return share;
  }
  void join(Slot job) {
    assert(size < kMaxGroup);
    jobs[static_cast<std::size_t>(size++)] = job;
  }
  Slot lead() const { return jobs[0]; }
};

// Shares in order of precedence. In a preemptive plan a running job that is not listed loses its
// GPUs; otherwise running jobs keep theirs and the plan lists candidates among the waiting ones.
class Plan {
 public:
  // How many shares are of interest: until one exceeds what is left; until nothing is left, where
  // those behind one that does not fit are tried too; the same, of those that do not fit the first
  // alone, for rules that ask for all if one of the others finds no place; or all of them.
  enum class Extent { kUntilBlocked, kUntilFull, kUntilTurnedAway, kAll };
  // `gpus` is how many could at most be handed out this turn.
  void reset(int gpus, Extent extent) {
    shares_.clear();
    ranking_.clear();
    seats_.clear();
    programs_ = 0;
    gap_ = 0;
    budget_ = gpus;
    extent_ = extent;
    turned_away_ = false;
    cut_ = false;
  }
  // Returns whether a later share could still matter: once the budget is spent, a policy may stop
  // adding.
  bool add(const Share& share) {
    const bool within = share.gpus <= budget_;
    if (!within && turned_away_ && extent_ == Extent::kUntilTurnedAway) {
      cut_ = true;
      return budget_ > 0;
    }
    // Member by member: a whole copy of a share that was just made waits for its parts.
    Share& own = shares_.emplace_back();
    for (std::size_t i = 0; i < static_cast<std::size_t>(share.size); ++i) {
      own.jobs[i] = share.jobs[i];
    }
    own.size = share.size;
    own.gpus = share.gpus;
    own.gpu_type = share.gpu_type;
    if (extent_ == Extent::kUntilBlocked || within) budget_ -= share.gpus;
    turned_away_ = turned_away_ || !within;
    const bool enough = budget_ <= 0 && extent_ != Extent::kAll &&
                        (extent_ != Extent::kUntilTurnedAway || turned_away_);
    cut_ = cut_ || enough;
    return !enough;
  }
  // Shares may be missing, all of them larger than what would be left if all others were placed.
  bool cut() const { return cut_; }
  int left() const { return budget_; }
  const std::vector<Share>& shares() const { return shares_; }

  // A policy that keeps a list of jobs of its own may tell its order beside the shares, for
  // backends whose ties follow it. Where it is empty, the order is that of the shares.
  void rank(Slot job) { ranking_.push_back(job); }
  const std::vector<Slot>& ranking() const { return ranking_; }

  // A policy that decides where a share runs, and not only how large it is, says so: this many GPUs
  // of that node for the share that this job leads. The placement `as-planned` follows it; others
  // choose for themselves.
  struct Seat {
    Slot lead = kNoSlot;
    NodeId node = kNoNode;
    int gpus = 0;
  };
  void seat(Slot lead, NodeId node, int gpus) { seats_.push_back({lead, node, gpus}); }
  const std::vector<Seat>& seats() const { return seats_; }

  // A policy whose plan comes from a program that may be cut off, or from a rule that stands in for
  // one, says how much better another plan could have been, relative to this one.
  void solved(double gap) {
    ++programs_;
    gap_ = std::max(gap_, gap);
  }
  int programs() const { return programs_; }
  double gap() const { return gap_; }  // the largest

 private:
  std::vector<Share> shares_;
  std::vector<Slot> ranking_;
  std::vector<Seat> seats_;  // those of one share follow each other
  int programs_ = 0;
  double gap_ = 0;
  int budget_ = 0;
  Extent extent_ = Extent::kAll;
  bool turned_away_ = false;
  bool cut_ = false;
};

}  // namespace muster
