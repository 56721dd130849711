// Makers of the allocators that are linear programs; their rows are in policy/gavel/rows.cc.
#pragma once

#include <vector>

#include "policy/gavel/allocation_program.h"
#include "policy/gavel/allocator.h"

namespace muster {

// Which rates a policy looks at: none (every type is as good), the true ones, or those of pairs
// too.
enum class Sight { kAgnostic, kRates, kPairs };

struct ProgramOptions {
  Sight sight = Sight::kRates;
  LinearSolver solver = solve_in_interior;
  const ProgramForm* form = &ProgramForm::reduced();
};

AllocatorTraits traits_of(Sight sight);

// What a job would get per second if it ran all the time on an average GPU of the cluster: the
// yardstick of fairness.
double proportional_rate(const AllocationProblem& problem, const std::vector<double>& rates,
                         std::size_t job);
// What it would get if it owned one m-th of the cluster.
double isolated_rate(const AllocationProblem& problem, const std::vector<double>& rates,
                     std::size_t job);
// The rates that the policy sees; never negative. Agnostic: the same on all types that the program
// asks about, which is 1 or, for policies that count in steps, its rate on the cluster's first
// type.
enum class BlindRate { kOne, kFirstType };
std::vector<double> seen_rates(const AllocationProblem& problem, const ProgramOptions& options,
                               BlindRate blind = BlindRate::kOne);
// The answer where a program has none: every job owns one m-th of the cluster.
void share_equally(const AllocationProblem& problem, Allocation& allocation);
// The best answer for an objective, or that one.
void allocate_best(AllocationProgram& program, const AllocationProgram::Objective& objective,
                   const AllocationProblem& problem, Allocation& allocation);

std::unique_ptr<Allocator> make_gavel_max_min(const ProgramOptions& options);
std::unique_ptr<Allocator> make_gavel_makespan(const ProgramOptions& options);
std::unique_ptr<Allocator> make_gavel_finish_time(const ProgramOptions& options);
std::unique_ptr<Allocator> make_gavel_strategy_proof(const ProgramOptions& options);

struct SumGoal {
  bool by_cost = false;    // throughput per dollar
  bool deadlines = false;  // jobs that have one get what they need to meet it
};
std::unique_ptr<Allocator> make_gavel_sum(const ProgramOptions& options, const SumGoal& goal);

// Entities own jobs and have weights of their own; inside, time is shared fairly or in order of
// arrival. The n-th entity is the n-th owner; owners beyond the last have weight 1 and are fair.
struct Entity {
  double weight = 1;
  bool fifo = false;
};
struct WaterOptions {
  std::vector<Entity> entities;  // empty: jobs only
};
std::unique_ptr<Allocator> make_gavel_water_filling(const ProgramOptions& options,
                                                    const WaterOptions& water = {});

}  // namespace muster
