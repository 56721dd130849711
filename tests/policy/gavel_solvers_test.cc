// The policies that are linear programs, on thousands of small random problems: the fast solver's
// answer is as good as the general solver's, and merging equal jobs loses nothing.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "artifacts/gavel/allocators.h"
#include "base/random.h"

namespace muster {
namespace {

// Few job types, so that many jobs are equal; several sizes, priorities and ages; pairs between
// jobs of equal size, some of which cannot run.
AllocationProblem random_problem(Random& random, bool pairs) {
  AllocationProblem problem;
  problem.types = static_cast<std::size_t>(random.integer(1, 4));
  for (std::size_t w = 0; w < problem.types; ++w) {
    problem.capacity.push_back(static_cast<int>(random.integer(1, 8)));
    problem.price.push_back(random.uniform(0.1, 3));
  }
  const auto kinds = static_cast<std::size_t>(random.integer(1, 4));
  std::vector<double> rates(kinds * problem.types);
  for (double& rate : rates) rate = random.uniform(0, 1) < 0.1 ? 0 : random.uniform(0.1, 20);
  std::vector<double> slowdown(kinds * kinds);
  for (double& part : slowdown) part = random.uniform(0, 1) < 0.2 ? 0 : random.uniform(0.3, 1);
  const auto jobs = static_cast<std::size_t>(random.integer(1, pairs ? 7 : 12));
  std::vector<std::size_t> kind_of;
  for (std::size_t j = 0; j < jobs; ++j) {
    AllocationJob job;
    job.id = JobId{static_cast<std::uint32_t>(j)};
    job.gpus = 1 << random.integer(0, 2);
    job.weight = random.integer(0, 4) == 0 ? 5 : 1;
    job.steps_left = static_cast<double>(random.integer(1, 5)) * 1000;
    job.age = random.uniform(0, 1) < 0.5 ? 0 : random.uniform(0, 2000);
    if (random.integer(0, 3) == 0) job.deadline_in = random.uniform(100, 5000);
    problem.jobs.push_back(job);
    kind_of.push_back(static_cast<std::size_t>(random.integer(0, static_cast<int>(kinds) - 1)));
    for (std::size_t w = 0; w < problem.types; ++w) {
      problem.rates.push_back(rates[kind_of[j] * problem.types + w] * job.gpus);
    }
  }
  for (std::uint32_t b = 0; pairs && b < jobs; ++b) {
    for (std::uint32_t a = 0; a < b; ++a) {
      if (problem.jobs[a].gpus != problem.jobs[b].gpus) continue;
      problem.pairs.push_back({a, b});
      for (std::size_t w = 0; w < problem.types; ++w) {
        const double first = slowdown[kind_of[a] * kinds + kind_of[b]];
        const double second = slowdown[kind_of[b] * kinds + kind_of[a]];
        problem.pair_rates.emplace_back(first * problem.rate(a, w), second * problem.rate(b, w));
      }
    }
  }
  return problem;
}

// The same with rates that are apart in the last digits, so that nothing is merged.
AllocationProblem pulled_apart(AllocationProblem problem) {
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const double factor = 1 + 1e-11 * static_cast<double>(j + 1);
    for (std::size_t w = 0; w < problem.types; ++w) problem.rates[j * problem.types + w] *= factor;
  }
  return problem;
}

// No more than there is, and nobody twice at a time.
void expect_possible(const AllocationProblem& problem, const Allocation& allocation) {
  constexpr double kRounding = 1e-6;
  std::vector<double> busy(problem.jobs.size(), 0.0);
  for (std::size_t w = 0; w < problem.types; ++w) {
    double used = 0;
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      used += allocation.alone[j * problem.types + w] * problem.jobs[j].gpus;
      busy[j] += allocation.alone[j * problem.types + w];
    }
    for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
      const double part = allocation.paired[p * problem.types + w];
      used += part * problem.jobs[problem.pairs[p].first].gpus;
      busy[problem.pairs[p].first] += part;
      busy[problem.pairs[p].second] += part;
    }
    EXPECT_LE(used, problem.capacity[w] + kRounding);
  }
  for (const double part : busy) EXPECT_LE(part, 1 + kRounding);
}

bool can_run(const AllocationProblem& problem, std::size_t job) {
  for (std::size_t w = 0; w < problem.types; ++w) {
    if (problem.rate(job, w) > 0) return true;
  }
  return false;
}

// What a policy makes as large as possible (or minus what it makes as small), from its formula.
using Goal = double (*)(const AllocationProblem&, const std::vector<double>&);

double least_share(const AllocationProblem& problem, const std::vector<double>& throughput) {
  double least = HUGE_VAL;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    if (!can_run(problem, j)) continue;
    const AllocationJob& job = problem.jobs[j];
    least = std::min(least, throughput[j] * job.gpus /
                                (job.weight * proportional_rate(problem, problem.rates, j)));
  }
  return least == HUGE_VAL ? 0 : least;
}

double speed_of_all(const AllocationProblem& problem, const std::vector<double>& throughput) {
  double least = HUGE_VAL;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    if (can_run(problem, j)) least = std::min(least, throughput[j] / problem.jobs[j].steps_left);
  }
  return least == HUGE_VAL ? 0 : least;
}

double minus_worst_rho(const AllocationProblem& problem, const std::vector<double>& throughput) {
  double worst = 0;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    if (!can_run(problem, j)) continue;
    const AllocationJob& job = problem.jobs[j];
    worst = std::max(worst, (job.age + job.steps_left / throughput[j]) /
                                (job.steps_left / isolated_rate(problem, problem.rates, j)));
  }
  return -worst;
}

// With pairs priorities divide the throughput.
double minus_worst_weighted_rho(const AllocationProblem& problem,
                                const std::vector<double>& throughput) {
  std::vector<double> weighted = throughput;
  for (std::size_t j = 0; j < weighted.size(); ++j) weighted[j] /= problem.jobs[j].weight;
  return minus_worst_rho(problem, weighted);
}

double sum_of_all(const AllocationProblem& /*problem*/, const std::vector<double>& throughput) {
  double sum = 0;
  for (const double one : throughput) sum += one;
  return sum;
}

double evaluate(const std::unique_ptr<Allocator>& policy, const AllocationProblem& problem,
                Goal goal) {
  Allocation allocation;
  allocation.reset(problem);
  policy->allocate(problem, allocation);
  expect_possible(problem, allocation);
  return goal(problem, throughputs(problem, allocation));
}

using Maker = std::unique_ptr<Allocator> (*)(const ProgramOptions&);

void compare(Maker make, Goal goal, Sight sight, int trials, const char* name) {
  Random random(5, name);
  for (int trial = 0; trial < trials; ++trial) {
    const AllocationProblem problem = random_problem(random, sight == Sight::kPairs);
    const double general = evaluate(make({sight, solve_at_vertex}), problem, goal);
    const double fast = evaluate(make({sight, solve_in_interior}), problem, goal);
    ASSERT_NEAR(fast, general, 1e-6 * std::abs(general)) << name << ", trial " << trial;
    const AllocationProblem apart = pulled_apart(problem);
    const double unmerged = evaluate(make({sight, solve_in_interior}), apart, goal);
    ASSERT_NEAR(unmerged, general, 2e-6 * std::abs(general)) << name << ", trial " << trial;
  }
}

constexpr int kTrials = 1000;

TEST(GavelSolvers, MaxMinFairness) {
  compare(make_gavel_max_min, least_share, Sight::kRates, kTrials, "max-min");
  compare(make_gavel_max_min, least_share, Sight::kPairs, kTrials, "max-min with pairs");
}

TEST(GavelSolvers, Makespan) {
  compare(make_gavel_makespan, speed_of_all, Sight::kRates, kTrials, "makespan");
  compare(make_gavel_makespan, speed_of_all, Sight::kPairs, kTrials, "makespan with pairs");
}

// As Gavel finds it, the last call's duals show where its bisection ends. Whatever has changed
// since, other jobs and rates included, the answer is that of one who remembers nothing.
TEST(GavelSolvers, MakespanRemembersNothingThatDecides) {
  Random random(29, "makespan again");
  const ProgramOptions options = as_coded({Sight::kPairs});
  const auto remembering = make_makespan_as_coded(options);
  for (int trial = 0; trial < 300; ++trial) {
    AllocationProblem problem = random_problem(random, true);
    for (int call = 0; call < 4; ++call) {
      Allocation allocation;
      allocation.reset(problem);
      remembering->allocate(problem, allocation);
      Allocation anew;
      anew.reset(problem);
      make_makespan_as_coded(options)->allocate(problem, anew);
      ASSERT_EQ(allocation.alone, anew.alone) << "trial " << trial << " call " << call;
      ASSERT_EQ(allocation.paired, anew.paired) << "trial " << trial << " call " << call;
      for (AllocationJob& job : problem.jobs) job.steps_left *= random.uniform(0.5, 1);
    }
  }
}

TEST(GavelSolvers, FinishTimeFairness) {
  compare(make_gavel_finish_time, minus_worst_rho, Sight::kRates, kTrials, "finish time");
  compare(make_gavel_finish_time, minus_worst_weighted_rho, Sight::kPairs, kTrials,
          "finish time with pairs");
}

// A search that begins where the one before ended, whatever the jobs were then, ends where one
// without a past does.
TEST(GavelSolvers, FinishTimeFairnessBeginsAtTheLastRho) {
  Random random(6, "rounds");
  const auto warm = make_gavel_finish_time({});
  for (int trial = 0; trial < kTrials; ++trial) {
    AllocationProblem problem = random_problem(random, false);
    // Other jobs than before: nothing but rho is remembered.
    for (AllocationJob& job : problem.jobs) {
      job.id = JobId{static_cast<std::uint32_t>(index(job.id)) +
                     100 * static_cast<std::uint32_t>(trial)};
    }
    const double cold = evaluate(make_gavel_finish_time({}), problem, minus_worst_rho);
    ASSERT_NEAR(evaluate(warm, problem, minus_worst_rho), cold, 1e-6 * std::abs(cold))
        << "trial " << trial;
  }
}

TEST(GavelSolvers, SumOfThroughputs) {
  const Maker sum = [](const ProgramOptions& options) { return make_gavel_sum(options, {}); };
  compare(sum, sum_of_all, Sight::kRates, kTrials, "sum");
  compare(sum, sum_of_all, Sight::kPairs, kTrials, "sum with pairs");
}

// Throughput per dollar, and how many jobs get what their deadlines need.
std::pair<double, int> per_dollar(const std::unique_ptr<Allocator>& policy,
                                  const AllocationProblem& problem) {
  Allocation allocation;
  allocation.reset(problem);
  policy->allocate(problem, allocation);
  expect_possible(problem, allocation);
  double sum = 0;
  for (std::size_t w = 0; w < problem.types; ++w) {
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      sum += problem.rate(j, w) / problem.price[w] * allocation.alone[j * problem.types + w];
    }
    for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
      const auto& [first, second] = problem.pair_rate(p, w);
      sum += (first + second) / problem.price[w] * allocation.paired[p * problem.types + w];
    }
  }
  const std::vector<double> made = throughputs(problem, allocation);
  int met = 0;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const AllocationJob& job = problem.jobs[j];
    if (job.deadline_in == kNever || !can_run(problem, j)) continue;
    met += made[j] * job.deadline_in >= job.steps_left * (1 - 1e-5) ? 1 : 0;
  }
  return {sum, met};
}

TEST(GavelSolvers, SumPerDollarWithDeadlines) {
  Random random(7, "dollars");
  int bound = 0;  // problems in which deadlines cost something
  for (int trial = 0; trial < 2 * kTrials; ++trial) {
    const Sight sight = trial % 2 == 0 ? Sight::kRates : Sight::kPairs;
    const AllocationProblem problem = random_problem(random, sight == Sight::kPairs);
    const auto solved = [&](LinearSolver solver, bool deadlines) {
      return per_dollar(make_gavel_sum({sight, solver}, {true, deadlines}), problem);
    };
    const auto general = solved(solve_at_vertex, true);
    const auto fast = solved(solve_in_interior, true);
    ASSERT_NEAR(fast.first, general.first, 1e-6 * general.first) << "trial " << trial;
    const auto free = solved(solve_in_interior, false);
    ASSERT_LE(fast.first, free.first * (1 + 1e-6)) << "trial " << trial;
    if (fast.first > free.first * (1 - 1e-4)) continue;
    // Deadlines that cost something are all met.
    ++bound;
    const auto due = std::count_if(problem.jobs.begin(), problem.jobs.end(), [&](const auto& job) {
      return job.deadline_in != kNever &&
             can_run(problem, static_cast<std::size_t>(&job - problem.jobs.data()));
    });
    ASSERT_EQ(fast.second, due) << "trial " << trial;
  }
  EXPECT_GT(bound, kTrials / 20);
}

// Water filling by its definition: raise all, and ask of each job with a program of its own whether
// it could rise further.
std::vector<double> filled_slowly(const AllocationProblem& problem, Sight sight) {
  std::vector<double> apart(problem.jobs.size());
  for (std::size_t j = 0; j < apart.size(); ++j) apart[j] = static_cast<double>(j);
  const ProgramOptions options = {sight};
  const std::vector<double> rates = seen_rates(problem, options);
  AllocationProgram program(problem, rates, apart, solve_at_vertex);
  std::vector<double> level(program.classes(), 0.0);
  std::vector<char> full(program.classes(), 0);
  const auto row = [&](std::size_t c, double weight) {
    const std::size_t j = program.members(c).front();
    const double scale = problem.jobs[j].gpus / proportional_rate(problem, rates, j);
    return AllocationProgram::Row{c, scale, level[c] * (1 - 1e-9), weight};
  };
  while (std::find(full.begin(), full.end(), 0) != full.end()) {
    AllocationProgram::Objective objective;
    objective.level_cost = -1;
    for (std::size_t c = 0; c < level.size(); ++c) {
      objective.rows.push_back(row(c, full[c] != 0 ? 0 : program.job(c).weight));
    }
    const double by = program.solve(objective).level;
    for (std::size_t c = 0; c < level.size(); ++c) {
      if (full[c] == 0) level[c] += by * program.job(c).weight;
    }
    for (std::size_t c = 0; c < level.size(); ++c) {
      if (full[c] != 0) continue;
      for (std::size_t k = 0; k < level.size(); ++k) objective.rows[k] = row(k, k == c ? 1 : 0);
      if (program.solve(objective).level <= 1e-6 * (1 + level[c])) full[c] = 1;
    }
  }
  std::vector<double> by_job(problem.jobs.size(), 0.0);
  for (std::size_t c = 0; c < level.size(); ++c) by_job[program.members(c).front()] = level[c];
  return by_job;
}

TEST(GavelSolvers, WaterFilling) {
  for (const Sight sight : {Sight::kRates, Sight::kPairs}) {
    Random random(7, "water");
    for (int trial = 0; trial < 300; ++trial) {
      const AllocationProblem problem = random_problem(random, sight == Sight::kPairs);
      const std::vector<double> expected = filled_slowly(problem, sight);
      for (const LinearSolver solver : {solve_in_interior, solve_at_vertex}) {
        Allocation allocation;
        allocation.reset(problem);
        make_gavel_water_filling({sight, solver})->allocate(problem, allocation);
        expect_possible(problem, allocation);
        const std::vector<double> all = throughputs(problem, allocation);
        for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
          if (!can_run(problem, j)) continue;
          const double level =
              all[j] * problem.jobs[j].gpus / proportional_rate(problem, problem.rates, j);
          ASSERT_NEAR(level, expected[j], 1e-4 * (1 + expected[j]))
              << "trial " << trial << ", job " << j;
        }
      }
    }
  }
}

// Gavel's own timing tests: 300 jobs on 64 GPUs of each type, alone and in ten entities, some of
// which serve their jobs in order.
TEST(GavelSolvers, WaterFillingOfManyJobs) {
  Random random(0, "many");
  AllocationProblem problem;
  problem.types = 3;
  problem.capacity = {64, 64, 64};
  for (std::uint32_t j = 0; j < 300; ++j) {
    AllocationJob job;
    job.id = JobId{j};
    job.owner = static_cast<std::size_t>(random.integer(0, 9));
    problem.jobs.push_back(job);
    for (int w = 0; w < 3; ++w) problem.rates.push_back(random.uniform(0.1, 1));
  }
  WaterOptions water;
  for (int e = 0; e < 10; ++e) {
    water.entities.push_back({static_cast<double>(random.integer(1, 5)), e % 2 == 1});
  }
  for (const WaterOptions& options : {WaterOptions{}, water}) {
    Allocation allocation;
    allocation.reset(problem);
    make_gavel_water_filling({Sight::kRates}, options)->allocate(problem, allocation);
    expect_possible(problem, allocation);
    const std::vector<double> all = throughputs(problem, allocation);
    for (std::size_t j = 0; j < all.size(); ++j) {
      const bool in_order = !options.entities.empty() && problem.jobs[j].owner % 2 == 1;
      EXPECT_TRUE(in_order || all[j] > 0) << j;
    }
  }
}

}  // namespace
}  // namespace muster
