#include <cmath>

#include <fmt/format.h>

#include "artifacts/gavel/fluid_run.h"

namespace muster {

std::optional<std::string> broken_allocation(const AllocationProblem& problem,
                                             const Allocation& allocation,
                                             const AllocatorTraits& traits) {
  constexpr double kTolerance = 1e-3;  // solvers stop short of the last digits
  const std::size_t types = problem.types;
  std::vector<double> used(types, 0.0);
  std::vector<double> time(problem.jobs.size(), 0.0);
  const auto right = [](double fraction) {
    return std::isfinite(fraction) && fraction >= -kTolerance && fraction <= 1 + kTolerance;
  };
  for (std::size_t i = 0; i < problem.jobs.size(); ++i) {
    for (std::size_t w = 0; w < types; ++w) {
      const double fraction = allocation.alone[i * types + w];
      if (!right(fraction))
        return fmt::format("job {} got {} of its time", index(problem.jobs[i].id), fraction);
      time[i] += fraction;
      used[w] += fraction * problem.jobs[i].gpus;
    }
  }
  for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
    const auto [first, second] = problem.pairs[p];
    for (std::size_t w = 0; w < types; ++w) {
      const double fraction = allocation.paired[p * types + w];
      if (!right(fraction))
        return fmt::format("the pair of jobs {} and {} got {} of its time",
                           index(problem.jobs[first].id), index(problem.jobs[second].id), fraction);
      time[first] += fraction;
      time[second] += fraction;
      used[w] += fraction * problem.jobs[first].gpus;
    }
  }
  for (std::size_t i = 0; i < time.size(); ++i) {
    if (time[i] > 1 + kTolerance)
      return fmt::format("job {} runs {} of the time", index(problem.jobs[i].id), time[i]);
  }
  for (std::size_t w = 0; w < types && !traits.overbooks; ++w) {
    if (used[w] > problem.capacity[w] * (1 + kTolerance))
      return fmt::format("{} GPUs of type {} are in use, of {}", used[w], w, problem.capacity[w]);
  }
  return std::nullopt;
}

}  // namespace muster
