// Which jobs run in the next lease, when time is allocated in leases of equal length and jobs must
// have so many of them by a deadline: the program of Chronus (SoCC 2021).
//
// A job takes the same GPUs in every lease it gets, may be preempted between leases, and has one or
// more deadlines, each of some value. Choosing is exact (a mixed integer program) or greedy (list
// scheduling backwards from the deadlines, the largest jobs first). Invariant: both answer with
// jobs that may all run now such that every job that is promised a deadline can still meet it.
//
// The exact program counts the leases between two deadlines together: a job takes so many of them,
// and their GPUs must suffice. That has jobs * deadlines variables instead of jobs * leases. Where
// the sizes of jobs divide each other and the capacity (powers of two, say), leases so counted can
// always be allocated one by one, so nothing is lost; for other sizes a later lease may turn out
// too full, and the next choice repairs it. Greedy: O(jobs * leases).
#pragma once

#include <vector>

#include "solve/integer_program.h"

namespace muster {

struct LeaseOption {
  int within = 0;    // leases from now until this deadline
  double value = 1;  // of meeting it
};

struct LeaseJob {
  int gpus = 1;
  int needed = 1;                    // leases
  std::vector<LeaseOption> options;  // from the first deadline to the last
};

struct LeaseChoice {
  static constexpr int kNone = -1;
  std::vector<char> now;    // by job: it runs in the next lease
  std::vector<int> option;  // by job: the deadline it will meet; kNone: none of them
  double gap = 0;           // how much better another choice could be, relative
  bool all() const;         // whether every job is promised a deadline
};

// Whether many or few GPUs should be used now, other things equal: many leave more for later, few
// leave room for jobs that were not promised anything.
enum class LeaseAim { kMany, kFew };

// Each job at its last deadline, the largest first, as late as possible; false if one does not fit.
bool leases_fit(const std::vector<LeaseJob>& jobs, int capacity);

LeaseChoice choose_leases_greedily(const std::vector<LeaseJob>& jobs, int capacity, LeaseAim aim);
// Begins with the greedy choice and stops there if nothing can be better.
LeaseChoice choose_leases(const std::vector<LeaseJob>& jobs, int capacity, LeaseAim aim,
                          const IntegerOptions& options);

}  // namespace muster
