// The mixed integer solver: known optima, cut-off searches, and leases dealt exactly and greedily.
#include "solve/integer_program.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.h"
#include "solve/lease_program.h"

namespace muster {
namespace {

using Status = IntegerSolution::Status;

// The most valuable things that fit into a bag.
IntegerProgram bag(const std::vector<double>& values, const std::vector<double>& weights,
                   double room) {
  IntegerProgram program;
  const std::size_t row = program.add_row(0, room);
  for (std::size_t i = 0; i < values.size(); ++i) {
    program.add_choice(values[i]);
    program.add_term(row, weights[i]);
  }
  return program;
}

TEST(IntegerProgram, FillsABag) {
  const IntegerSolution best = solve_integer(bag({10, 13, 18, 31}, {2, 3, 4, 7}, 10));
  ASSERT_EQ(best.status, Status::kBest);
  EXPECT_NEAR(best.gain, 44, 1e-9);
  EXPECT_NEAR(best.gap(), 0, 1e-9);
  EXPECT_EQ(best.x, (std::vector<double>{0, 1, 0, 1}));
}

TEST(IntegerProgram, EqualsTheBestOfAllChoices) {
  Random random(3, "bags");
  for (int round = 0; round < 20; ++round) {
    std::vector<double> values;
    std::vector<double> weights;
    for (int i = 0; i < 10; ++i) {
      values.push_back(random.uniform(1, 10));
      weights.push_back(static_cast<double>(random.integer(1, 9)));
    }
    double best = 0;
    for (unsigned code = 0; code < 1024; ++code) {
      double value = 0;
      double weight = 0;
      for (unsigned i = 0; i < 10; ++i) {
        if ((code >> i & 1U) == 0) continue;
        value += values[i];
        weight += weights[i];
      }
      if (weight <= 20) best = std::max(best, value);
    }
    EXPECT_NEAR(solve_integer(bag(values, weights, 20)).gain, best, 1e-6);
  }
}

TEST(IntegerProgram, SaysWhenThereIsNoSolution) {
  IntegerProgram program;
  const std::size_t row = program.add_row(3, 5);
  program.add_choice(1);
  program.add_term(row, 2);
  const IntegerSolution none = solve_integer(program);
  EXPECT_EQ(none.status, Status::kImpossible);
  EXPECT_FALSE(none.found());
  EXPECT_TRUE(std::isinf(none.gap()));
  EXPECT_EQ(solve_integer(IntegerProgram()).status, Status::kBest);
}

TEST(IntegerProgram, KeepsAKnownSolutionIfItIsCutOff) {
  Random random(5, "large bag");
  std::vector<double> values;
  std::vector<double> weights;
  for (int i = 0; i < 60; ++i) {
    weights.push_back(random.uniform(10, 20));
    values.push_back(weights.back() + random.uniform(-0.1, 0.1));
  }
  const IntegerProgram program = bag(values, weights, 400);
  IntegerOptions options;
  options.branches = 1;
  options.start.assign(60, 0);
  options.start[0] = 1;
  const IntegerSolution cut = solve_integer(program, options);
  ASSERT_TRUE(cut.found());
  EXPECT_GE(cut.gain, values[0] - 1e-9);
  EXPECT_GE(cut.bound, cut.gain - 1e-9);
  // The same program has the same answer.
  EXPECT_EQ(solve_integer(program, options).x, cut.x);
}

LeaseJob lease_job(int gpus, int needed, int within) { return {gpus, needed, {{within, 10}}}; }

TEST(Leases, FitIfTheyCanBePackedBeforeTheDeadlines) {
  EXPECT_TRUE(leases_fit({lease_job(4, 2, 2), lease_job(4, 2, 4)}, 4));
  EXPECT_FALSE(leases_fit({lease_job(4, 2, 2), lease_job(4, 3, 4)}, 4));
  EXPECT_TRUE(leases_fit({lease_job(2, 2, 2), lease_job(2, 2, 2), lease_job(4, 1, 3)}, 4));
  EXPECT_FALSE(leases_fit({lease_job(1, 3, 2)}, 4));
  EXPECT_FALSE(leases_fit({lease_job(8, 1, 5)}, 4));
  EXPECT_TRUE(leases_fit({}, 4));
}

TEST(Leases, AreGivenNowToThoseWhoCannotWait) {
  const std::vector<LeaseJob> jobs = {lease_job(4, 1, 1), lease_job(4, 1, 5)};
  for (const LeaseAim aim : {LeaseAim::kMany, LeaseAim::kFew}) {
    const LeaseChoice choice = choose_leases(jobs, 4, aim, {});
    EXPECT_EQ(choice.now, (std::vector<char>{1, 0}));
    EXPECT_TRUE(choice.all());
    EXPECT_NEAR(choice.gap, 0, 1e-9);
  }
  // With room for both, the aim decides.
  EXPECT_EQ(choose_leases(jobs, 8, LeaseAim::kMany, {}).now, (std::vector<char>{1, 1}));
  EXPECT_EQ(choose_leases(jobs, 8, LeaseAim::kFew, {}).now, (std::vector<char>{1, 0}));
}

TEST(Leases, GoWhereTheirValueIsLargest) {
  // Both want the first lease; the second job loses more by being late.
  std::vector<LeaseJob> jobs = {{4, 1, {{1, 10}, {2, 9}}}, {4, 1, {{1, 10}, {2, 1}}}};
  const LeaseChoice choice = choose_leases(jobs, 4, LeaseAim::kMany, {});
  EXPECT_EQ(choice.now, (std::vector<char>{0, 1}));
  EXPECT_EQ(choice.option, (std::vector<int>{1, 0}));
  // Who cannot be served is said so.
  jobs.push_back({4, 1, {{2, 5}}});
  const LeaseChoice short_of = choose_leases(jobs, 4, LeaseAim::kMany, {});
  EXPECT_FALSE(short_of.all());
}

TEST(Leases, ChosenGreedilyComeCloseToTheExactChoice) {
  Random random(9, "leases");
  double exact_sum = 0;
  double greedy_sum = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<LeaseJob> jobs;
    for (int i = 0; i < 8; ++i) {
      const int needed = static_cast<int>(random.integer(1, 5));
      const int within = needed + static_cast<int>(random.integer(0, 6));
      jobs.push_back({1 << random.below(4), needed, {{within, 10}, {within + 4, 4}}});
    }
    const auto worth = [&](const LeaseChoice& choice) {
      double sum = 0;
      int gpus = 0;
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (choice.option[i] >= 0) {
          sum += jobs[i].options[static_cast<std::size_t>(choice.option[i])].value;
        }
        if (choice.now[i] != 0) gpus += jobs[i].gpus;
      }
      EXPECT_LE(gpus, 16) << "more than there is";
      return sum;
    };
    const double exact = worth(choose_leases(jobs, 16, LeaseAim::kMany, {}));
    const double greedy = worth(choose_leases_greedily(jobs, 16, LeaseAim::kMany));
    EXPECT_LE(greedy, exact + 1e-9);
    exact_sum += exact;
    greedy_sum += greedy;
  }
  EXPECT_GE(greedy_sum, 0.95 * exact_sum);
}

}  // namespace
}  // namespace muster
