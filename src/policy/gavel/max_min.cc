#include <algorithm>

#include "policy/gavel/program_allocators.h"

namespace muster {

AllocatorTraits traits_of(Sight sight) {
  return {.pairs = sight == Sight::kPairs, .knows_types = sight != Sight::kAgnostic};
}

double proportional_rate(const AllocationProblem& problem, const std::vector<double>& rates,
                         std::size_t job) {
  double sum = 0;
  for (std::size_t w = 0; w < problem.types; ++w) {
    sum += rates[job * problem.types + w] * problem.capacity[w];
  }
  return sum / problem.gpus();
}

double isolated_rate(const AllocationProblem& problem, const std::vector<double>& rates,
                     std::size_t job) {
  std::vector<double> row(problem.types);
  equal_split(problem, problem.jobs.size(), problem.jobs[job].gpus, row.data());
  double sum = 0;
  for (std::size_t w = 0; w < problem.types; ++w) sum += rates[job * problem.types + w] * row[w];
  return sum;
}

std::vector<double> seen_rates(const AllocationProblem& problem, Sight sight, bool first_type) {
  if (sight != Sight::kAgnostic) return problem.rates;
  std::vector<double> rates(problem.rates.size(), 1.0);
  if (!first_type) return rates;
  // Columns are the cluster's types from last to first. Where a job cannot run on the first type,
  // the fastest of the others stands for all.
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const auto row = problem.rates.begin() + static_cast<std::ptrdiff_t>(j * problem.types);
    double rate = problem.rate(j, problem.types - 1);
    if (!(rate > 0))
      rate = *std::max_element(row, row + static_cast<std::ptrdiff_t>(problem.types));
    std::fill_n(rates.begin() + static_cast<std::ptrdiff_t>(j * problem.types), problem.types,
                rate);
  }
  return rates;
}

namespace {

// Source: Gavel (OSDI'20), max-min fairness ("least attained service").
//
// Raise the least share: maximise over X the minimum over jobs of
//   s / (p Tprop) * sum over types of T X,
// where s is the job's GPUs, p its priority and Tprop what it would make on an average GPU.
// Agnostic: all T are 1.
class MaxMinFairness final : public Allocator {
 public:
  explicit MaxMinFairness(Sight sight) : sight_(sight) {}
  AllocatorTraits traits() const override { return traits_of(sight_); }
  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    const std::vector<double> rates = seen_rates(problem, sight_, false);
    std::vector<double> weights;
    for (const AllocationJob& job : problem.jobs) weights.push_back(job.weight);
    ShareProgram program(problem, rates, weights);
    ShareProgram::Wish wish;
    wish.level_cost = -1;
    for (std::size_t c = 0; c < program.classes(); ++c) {
      const AllocationJob& job = program.job(c);
      const double fair = proportional_rate(problem, rates, program.members(c).front());
      wish.rows.push_back({c, job.gpus / (job.weight * fair), 0, 1});
    }
    if (program.solve(wish).status == SolveStatus::kOptimal) program.write(allocation);
  }
  std::unique_ptr<Allocator> clone() const override {
    return std::make_unique<MaxMinFairness>(*this);
  }

 private:
  Sight sight_;
};

}  // namespace

std::unique_ptr<Allocator> make_gavel_max_min(Sight sight) {
  return std::make_unique<MaxMinFairness>(sight);
}

}  // namespace muster
