// Allocations of time in plain numbers, for tests of allocators: a cluster of V100, P100 and K80,
// and jobs with a rate on each.
#pragma once

#include <array>
#include <vector>

#include "policy/gavel/allocator.h"

namespace muster {

// Rates and counts are written v100, p100, k80; columns run the other way.
struct Three {
  double v100;
  double p100;
  double k80;
};

AllocationProblem problem_of(const std::array<int, 3>& counts, const std::vector<Three>& rates);
void add_pair(AllocationProblem& problem, const Three& first, const Three& second);

// The input of most of Gavel's own tests: two jobs, and in the second form also the pair of them,
// which slows nobody down.
inline const std::vector<Three> kStandard = {{2, 1, 0.5}, {3, 2, 1}};
AllocationProblem standard(const std::array<int, 3>& counts);
AllocationProblem packed(const std::array<int, 3>& counts);

// Asks, and fails the test if more is given than there is.
Allocation ask(Allocator& allocator, const AllocationProblem& problem);
double throughput(const AllocationProblem& problem, const Allocation& allocation, std::size_t job);
void expect_row(const Allocation& allocation, std::size_t job, const Three& expected);

}  // namespace muster
