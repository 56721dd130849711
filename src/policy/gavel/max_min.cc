#include <algorithm>

#include "policy/gavel/program_allocators.h"

namespace muster {

AllocatorTraits traits_of(Sight sight) {
  return {.pairs = sight == Sight::kPairs, .knows_types = sight != Sight::kAgnostic};
}

double proportional_rate(const AllocationProblem& problem, const std::vector<double>& rates,
                         std::size_t job) {
  // Multiply by the job's fraction of each type first: the order of operations changes the last
  // digit, on which ties may depend.
  const auto jobs = static_cast<double>(problem.jobs.size());
  double all = 0;
  for (const int gpus : problem.capacity) all += gpus / jobs;
  double sum = 0;
  for (std::size_t w = 0; w < problem.types; ++w) {
    sum += rates[job * problem.types + w] * (problem.capacity[w] / jobs / all);
  }
  return sum;
}

double isolated_rate(const AllocationProblem& problem, const std::vector<double>& rates,
                     std::size_t job) {
  std::vector<double> row(problem.types);
  equal_split(problem, problem.jobs.size(), problem.jobs[job].gpus, row.data());
  double sum = 0;
  for (std::size_t w = 0; w < problem.types; ++w) sum += rates[job * problem.types + w] * row[w];
  return sum;
}

// A policy that does not see the types has one rate for all of them: only time counts.
std::vector<double> seen_rates(const AllocationProblem& problem, const ProgramOptions& options,
                               BlindRate blind) {
  std::vector<double> rates = problem.rates;
  for (double& rate : rates) {
    if (!(rate > 0)) rate = 0;
  }
  if (options.sight != Sight::kAgnostic) return rates;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    double* row = rates.data() + j * problem.types;
    double rate = 1;
    if (blind == BlindRate::kFirstType) {
      // Columns are the cluster's types from last to first. Where a job cannot run on the first,
      // the fastest of the others stands for all.
      rate = row[problem.types - 1];
      if (!(rate > 0)) rate = *std::max_element(row, row + problem.types);
    }
    for (std::size_t w = 0; w < problem.types; ++w) {
      if (options.form->asks_alone(row[w])) row[w] = rate;
    }
  }
  return rates;
}

void share_equally(const AllocationProblem& problem, Allocation& allocation) {
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    equal_split(problem, problem.jobs.size(), problem.jobs[j].gpus,
                &allocation.alone[j * problem.types]);
  }
}

// Every program has a feasible point, so one without an answer is a matter of rounding. Equal parts
// keep the cluster busy until the next reset.
void allocate_best(AllocationProgram& program, const AllocationProgram::Objective& objective,
                   const AllocationProblem& problem, Allocation& allocation) {
  if (program.solve(objective).status == SolveStatus::kOptimal) {
    program.write(allocation);
  } else {
    share_equally(problem, allocation);
  }
}

namespace {

// Source: Gavel (OSDI'20), max-min fairness ("least attained service").
//
// Weighted max-min fairness as one linear program: maximise over X the minimum over jobs of
//   s / (p Tprop) * sum over types of T X,
// where s is the job's GPUs, p its priority and Tprop its throughput on an average GPU. The minimum
// becomes a level t below all of them, to be maximised. Agnostic: all T are 1. Time: see
// allocation_program.h.
class MaxMinFairness final : public Allocator {
 public:
  explicit MaxMinFairness(const ProgramOptions& options) : options_(options) {}
  AllocatorTraits traits() const override { return traits_of(options_.sight); }
  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    const std::vector<double> rates = seen_rates(problem, options_);
    std::vector<double> weights;
    for (const AllocationJob& job : problem.jobs) weights.push_back(job.weight);
    AllocationProgram program(problem, rates, weights, options_.solver, *options_.form);
    AllocationProgram::Objective objective;
    objective.level_cost = -1;
    for (std::size_t c = 0; c < program.classes(); ++c) {
      const AllocationJob& job = program.job(c);
      const double fair = proportional_rate(problem, rates, program.members(c).front());
      objective.rows.push_back({c, 1 / job.weight * (1 / fair) * job.gpus, 0, 1});
    }
    if (program.classes() == 0) return;
    allocate_best(program, objective, problem, allocation);
  }
  bool checkpoint(Archive& /*archive*/) override { return true; }
  std::unique_ptr<Allocator> clone() const override {
    return std::make_unique<MaxMinFairness>(*this);
  }

 private:
  ProgramOptions options_;
};

}  // namespace

std::unique_ptr<Allocator> make_gavel_max_min(const ProgramOptions& options) {
  return std::make_unique<MaxMinFairness>(options);
}

}  // namespace muster
