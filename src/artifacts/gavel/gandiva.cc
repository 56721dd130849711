// Gavel's stand-in for Gandiva, as its code has it.
#include "artifacts/gavel/allocators.h"

namespace muster {

// It adds up the speeds of both jobs over all types and compares the sum with 1, so that with three
// types pairs stay that get a third of the work done. A type on which one cannot run parts them.
bool gains_in_sum(const AllocationProblem& problem, std::size_t pair) {
  double sum = 0;
  for (std::size_t w = 0; w < problem.types; ++w) {
    const auto& [first, second] = problem.pair_rate(pair, w);
    if (first <= 0 || second <= 0) return false;
    sum += first / problem.rate(problem.pairs[pair].first, w);
    sum += second / problem.rate(problem.pairs[pair].second, w);
  }
  return sum >= 1;
}

}  // namespace muster
