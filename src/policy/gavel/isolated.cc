#include <algorithm>

#include "policy/gavel/simple_allocators.h"

namespace muster {

// What Gavel calls the effective throughput of each job: the sum of T X over types and pairs.
// O((jobs + pairs) x types).
std::vector<double> throughputs(const AllocationProblem& problem, const Allocation& allocation) {
  std::vector<double> sums(problem.jobs.size(), 0.0);
  for (std::size_t w = 0; w < problem.types; ++w) {
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      sums[j] += problem.rate(j, w) * allocation.alone[j * problem.types + w];
    }
    for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
      const double part = allocation.paired[p * problem.types + w];
      sums[problem.pairs[p].first] += problem.pair_rate(p, w).first * part;
      sums[problem.pairs[p].second] += problem.pair_rate(p, w).second * part;
    }
  }
  return sums;
}

int AllocationProblem::gpus() const {
  int sum = 0;
  for (const int count : capacity) sum += count;
  return sum;
}

// One m-th of the GPUs of each type, as a fraction of time of a job that needs `gpus` of them;
// scaled down where that is more than all its time.
void equal_split(const AllocationProblem& problem, std::size_t sharers, int gpus, double* row) {
  double sum = 0;
  for (std::size_t w = 0; w < problem.types; ++w) {
    row[w] = static_cast<double>(problem.capacity[w]) / static_cast<double>(sharers) / gpus;
    sum += row[w];
  }
  sum = std::max(sum, 1.0);
  for (std::size_t w = 0; w < problem.types; ++w) row[w] /= sum;
}

namespace {

// Source: Gavel (OSDI'20), the isolated baseline: every job owns one m-th of every type, and runs
// on it as long as it lasts. O(jobs x types).
class Isolated final : public Allocator {
 public:
  AllocatorTraits traits() const override { return {.knows_types = false}; }
  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      equal_split(problem, problem.jobs.size(), problem.jobs[j].gpus,
                  &allocation.alone[j * problem.types]);
    }
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<Allocator> clone() const override { return std::make_unique<Isolated>(*this); }
};

// Source: Gavel (OSDI'20), the proportional baseline: every job runs all the time, on each type for
// the type's fraction of the cluster; Gavel's yardstick of what is fair. It asks for more than
// there is when jobs outnumber GPUs; the rounds then take turns. O(jobs x types).
class Proportional final : public Allocator {
 public:
  AllocatorTraits traits() const override { return {.knows_types = false, .overbooks = true}; }
  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    const double all = problem.gpus();
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      for (std::size_t w = 0; w < problem.types; ++w) {
        // Row sums are 1; the column sums may exceed the capacity, hence `overbooks`.
        allocation.alone[j * problem.types + w] = problem.capacity[w] / all;
      }
    }
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<Allocator> clone() const override {
    return std::make_unique<Proportional>(*this);
  }
};

}  // namespace

std::unique_ptr<Allocator> make_gavel_isolated() { return std::make_unique<Isolated>(); }
std::unique_ptr<Allocator> make_gavel_proportional() { return std::make_unique<Proportional>(); }

}  // namespace muster
