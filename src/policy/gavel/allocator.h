// Policies that allocate the time of GPUs of several types to jobs, as Gavel (OSDI'20) states them.
//
// An allocator is asked with plain numbers and answers with fractions of time: which part of the
// time each job, or pair of jobs on the same GPUs, should spend on each GPU type. It knows nothing
// of rounds, placement or the cluster's state: policy/gavel/rounds.h turns the fractions into
// rounds. To add one: derive from Allocator, and add a row to kAllocators in policy/gavel/rows.cc.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/archive.h"
#include "model/ids.h"

namespace muster {

struct AllocationJob {
  JobId id{};
  int gpus = 1;
  double weight = 1;  // priority: twice the weight, twice the share
  double steps_left = 0;
  Seconds age = 0;               // since it was submitted
  Seconds deadline_in = kNever;  // seconds until its deadline; negative once it has passed
  std::size_t owner = 0;         // users in the order of their first jobs
};

// Columns are GPU types. Rates are steps per second of all GPUs of the job together; 0 where it
// cannot run.
struct AllocationProblem {
  Seconds now = 0;
  std::size_t types = 0;
  std::vector<int> capacity;        // GPUs, by column
  std::vector<double> price;        // dollars per GPU and hour, by column; empty: all cost the same
  std::vector<AllocationJob> jobs;  // by id
  std::vector<double> rates;        // job * types + column

  // Pairs of jobs with equal GPU counts that may share GPUs; empty for policies that do not pack.
  struct Pair {
    std::uint32_t first = 0;  // positions in `jobs`
    std::uint32_t second = 0;
  };
  std::vector<Pair> pairs;
  std::vector<std::pair<double, double>> pair_rates;  // pair * types + column: of first, of second

  double rate(std::size_t job, std::size_t column) const { return rates[job * types + column]; }
  const std::pair<double, double>& pair_rate(std::size_t pair, std::size_t column) const {
    return pair_rates[pair * types + column];
  }
  int gpus() const;
};

// Fractions of time in [0, 1], laid out as the rates.
struct Allocation {
  std::vector<double> alone;
  std::vector<double> paired;

  void reset(const AllocationProblem& problem) {
    alone.assign(problem.jobs.size() * problem.types, 0.0);
    paired.assign(problem.pairs.size() * problem.types, 0.0);
  }
};

// Steps per second that each job makes with these fractions, alone and in pairs.
std::vector<double> throughputs(const AllocationProblem& problem, const Allocation& allocation);

struct AllocatorTraits {
  bool pairs = false;       // lets jobs share GPUs
  bool knows_types = true;  // its fractions tell types apart; otherwise types take turns at random
  bool strict = false;      // a job without a fraction waits, even if GPUs idle
  bool overbooks = false;   // may allocate more GPUs than there are: rounds then take turns
};

class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual AllocatorTraits traits() const = 0;
  // Fills `allocation`, which comes reset.
  virtual void allocate(const AllocationProblem& problem, Allocation& allocation) = 0;
  // Saves its state or puts it back (base/archive.h); false: it cannot, and neither can the run.
  virtual bool checkpoint(Archive&) { return false; }
  virtual std::unique_ptr<Allocator> clone() const = 0;
};

// The share of a job that owns one m-th of the cluster, where it asks for `gpus` at a time: row of
// fractions, cut down where they exceed the whole time.
void equal_split(const AllocationProblem& problem, std::size_t sharers, int gpus, double* row);

}  // namespace muster
