// Gavel's allocators as a function of numbers.
#include <cmath>

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "core/parts.h"
#include "core/watched.h"
#include "policy/gavel/rows.h"
#include "run/assembly/make_allocator.h"
#include "solve/stop_solving.h"

namespace muster::python {
namespace {

double checked(const char* what, std::size_t row, double value, double least) {
  if (value >= least && !std::isinf(value)) return value;
  throw MusterError(
      fmt::format("{}[{}] is {}, expected a number of at least {}", what, row, value, least));
}

// Rows of `jobs` are GPUs, weight, steps left, age, seconds to the deadline, owner.
AllocationProblem problem_of(nb::handle rates, nb::handle jobs, nb::handle capacity,
                             nb::handle prices) {
  constexpr std::size_t kRow = 6;
  const Numbers<double> rate(rates);
  const Numbers<double> job(jobs);
  const Numbers<double> gpus(capacity);
  const Numbers<double> price(prices);
  AllocationProblem problem;
  problem.types = gpus.size();
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    problem.capacity.push_back(static_cast<int>(checked("capacity", i, gpus[i], 0)));
  }
  problem.price.assign(price.begin(), price.end());
  for (std::size_t i = 0; i * kRow < job.size(); ++i) {
    AllocationJob& one = problem.jobs.emplace_back();
    const std::size_t at = i * kRow;
    one.id = JobId{static_cast<std::uint32_t>(i)};
    one.gpus = static_cast<int>(checked("gpus", i, job[at], 1));
    one.weight = checked("weights", i, job[at + 1], 1e-9);
    one.steps_left = checked("steps_left", i, job[at + 2], 0);
    one.age = checked("age", i, job[at + 3], 0);
    one.deadline_in = job[at + 4];
    one.owner = static_cast<std::size_t>(checked("owners", i, job[at + 5], 0));
  }
  for (std::size_t i = 0; i < rate.size(); ++i) {
    problem.rates.push_back(checked("throughputs", i / problem.types, rate[i], 0));
  }
  return problem;
}

void add_pairs(AllocationProblem& problem, nb::handle pairs, nb::handle rates) {
  const Numbers<std::int64_t> members(pairs);
  const Numbers<double> rate(rates);
  for (std::size_t i = 0; i + 1 < members.size(); i += 2) {
    const auto first = static_cast<std::size_t>(members[i]);
    const auto second = static_cast<std::size_t>(members[i + 1]);
    if (first >= second || second >= problem.jobs.size() ||
        problem.jobs[first].gpus != problem.jobs[second].gpus) {
      throw MusterError(fmt::format(
          "pair ({}, {}): expected two jobs with equal numbers of GPUs, the lower place first",
          members[i], members[i + 1]));
    }
    problem.pairs.push_back(
        {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second)});
  }
  for (std::size_t i = 0; i + 1 < rate.size(); i += 2) {
    problem.pair_rates.emplace_back(checked("pair throughputs", i / 2, rate[i], 0),
                                    checked("pair throughputs", i / 2, rate[i + 1], 0));
  }
}

nb::tuple allocate(const std::string& policy, nb::handle rates, nb::handle jobs,
                   nb::handle capacity, nb::handle prices, nb::handle pairs,
                   nb::handle pair_rates) {
  const auto allocator = must(make_allocator(must(parse_choice(policy, "policy"))));
  AllocationProblem problem = problem_of(rates, jobs, capacity, prices);
  add_pairs(problem, pairs, pair_rates);
  Allocation allocation;
  allocation.reset(problem);
  constexpr std::size_t kQuick = 100;  // so many jobs take less than somebody notices
  if (problem.jobs.size() > kQuick) {
    Watch watch;
    watched(watch, {nb::none(), 0, {}}, [&] {
      const StopSolving stoppable(watch.stop);
      allocator->allocate(problem, allocation);
    });
  } else if (!problem.jobs.empty()) {
    const nb::gil_scoped_release release;
    allocator->allocate(problem, allocation);
  }
  return nb::make_tuple(bytes_of(allocation.alone), bytes_of(allocation.paired),
                        bytes_of(throughputs(problem, allocation)));
}

}  // namespace

void add_solvers(nb::module_& module) {
  module.def("allocate", allocate);
  module.def("allocators", [] {
    nb::list names;
    for (const AllocatorInfo& info : allocator_table()) {
      names.append(nb::make_tuple(std::string(info.name), std::string(info.sentence)));
    }
    return names;
  });
}

}  // namespace muster::python
