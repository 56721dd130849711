// Makers of the allocators that are linear programs; rows in policy/gavel/rows.cc.
#pragma once

#include <map>

#include "policy/gavel/allocator.h"
#include "policy/gavel/share_program.h"

namespace muster {

// Which rates a policy looks at: none (every type is as good), the true ones, or those of pairs
// too.
enum class Sight { kAgnostic, kRates, kPairs };

AllocatorTraits traits_of(Sight sight);

// What a job would get per second if it ran all the time on an average GPU of the cluster: the
// yardstick of fairness.
double proportional_rate(const AllocationProblem& problem, const std::vector<double>& rates,
                         std::size_t job);
// What it would get if it owned one m-th of the cluster.
double isolated_rate(const AllocationProblem& problem, const std::vector<double>& rates,
                     std::size_t job);
// The rates that the policy sees. Agnostic: all 1, or those of the cluster's first type everywhere.
std::vector<double> seen_rates(const AllocationProblem& problem, Sight sight, bool first_type);

std::unique_ptr<Allocator> make_gavel_max_min(Sight sight);
std::unique_ptr<Allocator> make_gavel_makespan(Sight sight);
std::unique_ptr<Allocator> make_gavel_finish_time(Sight sight);

struct SumOptions {
  bool by_cost = false;    // throughput per dollar
  bool deadlines = false;  // those who have one get what they need to meet it
};
std::unique_ptr<Allocator> make_gavel_sum(Sight sight, const SumOptions& options);

// Entities own jobs and have weights of their own; inside, time is shared fairly or in order of
// arrival.
struct Entity {
  double weight = 1;
  bool fifo = false;
};
struct Hierarchy {
  std::vector<Entity> entities;
  std::map<JobId, std::size_t> entity_of;
};
// `one_level`: every job is full after the first level, as when the published code's search for
// bottlenecks fails unseen.
std::unique_ptr<Allocator> make_gavel_water_filling(Sight sight, Hierarchy hierarchy = {},
                                                    bool one_level = false);

}  // namespace muster
