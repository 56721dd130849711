#include "policy/gavel_problem.h"

#include <gtest/gtest.h>

namespace muster {

AllocationProblem problem_of(const std::array<int, 3>& counts, const std::vector<Three>& rates) {
  AllocationProblem problem;
  problem.types = 3;
  problem.capacity = {counts[2], counts[1], counts[0]};
  for (std::size_t j = 0; j < rates.size(); ++j) {
    AllocationJob job;
    job.id = JobId{static_cast<std::uint32_t>(j)};
    problem.jobs.push_back(job);
    problem.rates.insert(problem.rates.end(), {rates[j].k80, rates[j].p100, rates[j].v100});
  }
  return problem;
}

void add_pair(AllocationProblem& problem, const Three& first, const Three& second) {
  problem.pairs.push_back({0, 1});
  problem.pair_rates.insert(
      problem.pair_rates.end(),
      {{first.k80, second.k80}, {first.p100, second.p100}, {first.v100, second.v100}});
}

AllocationProblem standard(const std::array<int, 3>& counts) {
  return problem_of(counts, kStandard);
}
AllocationProblem packed(const std::array<int, 3>& counts) {
  AllocationProblem problem = standard(counts);
  add_pair(problem, kStandard[0], kStandard[1]);
  return problem;
}

Allocation ask(Allocator& allocator, const AllocationProblem& problem) {
  Allocation allocation;
  allocation.reset(problem);
  allocator.allocate(problem, allocation);
  // Never more than there is, whatever the policy.
  for (std::size_t w = 0; w < problem.types; ++w) {
    double used = 0;
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      used += allocation.alone[j * problem.types + w] * problem.jobs[j].gpus;
    }
    for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
      used += allocation.paired[p * problem.types + w] * problem.jobs[problem.pairs[p].first].gpus;
    }
    EXPECT_LE(used, problem.capacity[w] + 1e-6) << "column " << w;
  }
  return allocation;
}

double throughput(const AllocationProblem& problem, const Allocation& allocation, std::size_t job) {
  double sum = 0;
  for (std::size_t w = 0; w < problem.types; ++w) {
    sum += problem.rate(job, w) * allocation.alone[job * problem.types + w];
    for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
      const auto& [first, second] = problem.pair_rate(p, w);
      const double part = allocation.paired[p * problem.types + w];
      if (problem.pairs[p].first == job) sum += first * part;
      if (problem.pairs[p].second == job) sum += second * part;
    }
  }
  return sum;
}

void expect_row(const Allocation& allocation, std::size_t job, const Three& expected) {
  EXPECT_NEAR(allocation.alone[job * 3], expected.k80, 1e-5) << "job " << job << " on k80";
  EXPECT_NEAR(allocation.alone[job * 3 + 1], expected.p100, 1e-5) << "job " << job << " on p100";
  EXPECT_NEAR(allocation.alone[job * 3 + 2], expected.v100, 1e-5) << "job " << job << " on v100";
}

}  // namespace muster
