// The round mechanism by itself, under allocators that give what a test says: fractions become
// time, GPUs do not idle, and the allocator is asked when the reset rule says so. Equality with
// Gavel's own runs is in tests/parity_gavel.
#include <map>

#include <gtest/gtest.h>

#include "artifacts/gavel/rounds.h"
#include "support/simulation.h"

namespace muster {
namespace {

// What is given, by job and then by column: columns are the cluster's types from last to first.
using Shares = std::map<std::uint32_t, std::vector<double>>;

// An allocator as somebody else might write one. It counts how often it is asked.
class Fixed final : public Allocator {
 public:
  Fixed(Shares given, AllocatorTraits traits, int* asked)
      : given_(std::move(given)), traits_(traits), asked_(asked) {}
  AllocatorTraits traits() const override { return traits_; }
  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    ++*asked_;
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      const auto row = given_.find(static_cast<std::uint32_t>(index(problem.jobs[j].id)));
      if (row == given_.end()) continue;
      std::copy(row->second.begin(), row->second.end(),
                allocation.alone.begin() + static_cast<std::ptrdiff_t>(j * problem.types));
    }
  }
  std::unique_ptr<Allocator> clone() const override { return std::make_unique<Fixed>(*this); }

 private:
  Shares given_;
  AllocatorTraits traits_;
  int* asked_;
};

class GavelRounds : public ::testing::Test {
 protected:
  // Jobs of a hundred hours in rounds of 360 s.
  Scenario scenario(int gpus, const std::vector<Seconds>& arrivals, const Shares& given,
                    AllocatorTraits traits = {}, const RoundOptions& options = {},
                    bool as_coded = false) {
    Scenario made;
    made.cluster = uniform_cluster(1, gpus);
    for (const Seconds arrival : arrivals) made.jobs.push_back(job_of(arrival, 360'000));
    made.pacing = {"rounds", {{"length", "360"}}};
    made.placement = {"first-gpu"};
    made.policy_sets = [this, given, traits, options, as_coded] {
      std::vector<PolicySet> one;
      one.push_back(make_policy_set({"fifo"}, {"first-gpu"}));
      auto fixed = std::make_unique<Fixed>(given, traits, &asked_);
      if (as_coded) {
        one.front().scheduling = std::make_unique<RoundsAsCoded>(std::move(fixed), options, false);
      } else {
        one.front().scheduling = std::make_unique<RoundsPolicy>(std::move(fixed), options);
      }
      return one;
    };
    return made;
  }
  // Rounds that each job has had by then, by its number.
  static std::vector<double> rounds_by(TestRun& run, Seconds time, std::size_t jobs) {
    run.turn_to(time);
    std::vector<double> rounds(jobs);
    for (const Slot slot : run.engine().jobs().active()) {
      const Job& job = run.engine().jobs()[slot];
      rounds[index(job.spec.id)] = job.work_at(run.engine().now()) / 360;
    }
    return rounds;
  }

  int asked_ = 0;
};

TEST_F(GavelRounds, FractionsBecomeTime) {
  TestRun run(scenario(1, {0, 0, 0}, {{0, {0.6}}, {1, {0.3}}, {2, {0.1}}}));
  const std::vector<double> rounds = rounds_by(run, 360 * 100, 3);
  // Everybody begins with half a round to its name, so that nobody divides by zero.
  EXPECT_NEAR(rounds[0], 60, 1.5);
  EXPECT_NEAR(rounds[1], 30, 1.5);
  EXPECT_NEAR(rounds[2], 10, 1.5);
  EXPECT_NEAR(rounds[0] + rounds[1] + rounds[2], 100, 1e-6) << "the GPU never idles";
  EXPECT_EQ(asked_, 1) << "nobody came or left";
}

// Fractions that add up to less than there is: what is left goes to whoever can use it, unless the
// allocator is strict.
TEST_F(GavelRounds, GpusThatNobodyClaimsGoToTheOthers) {
  const Shares given = {{0, {1.0}}, {1, {0.0}}};
  TestRun open(scenario(2, {0, 0}, given));
  const std::vector<double> shared = rounds_by(open, 3600, 2);
  EXPECT_NEAR(shared[0], 10, 1e-6);
  EXPECT_NEAR(shared[1], 10, 1e-6);
  TestRun strict(scenario(2, {0, 0}, given, {.strict = true}));
  const std::vector<double> alone = rounds_by(strict, 3600, 2);
  EXPECT_NEAR(alone[0], 10, 1e-6);
  EXPECT_EQ(alone[1], 0);
}

// Who may go on stays where it is: its lease is extended.
TEST_F(GavelRounds, JobsStayOnTheirGpus) {
  TestRun run(scenario(2, {0, 0}, {{0, {1.0}}, {1, {1.0}}}));
  run.turn_to(360 * 50);
  EXPECT_EQ(run.log().lines({Action::kStart}).size(), 2U);
  EXPECT_TRUE(run.log().lines({Action::kStop}).empty());
}

// Where turns follow events, what happens within a round takes nothing from those who run in it.
TEST_F(GavelRounds, EventsWithinARoundTakeNothing) {
  std::vector<Seconds> arrivals = {0, 0};
  for (int i = 1; i <= 100; ++i) arrivals.push_back(i * 7);
  Scenario made = scenario(1, arrivals, {{0, {0.5}}, {1, {0.5}}});
  made.pacing = {"events"};
  TestRun run(made);
  run.turn_to(350);
  EXPECT_EQ(run.log().lines({Action::kStart}).size(), 1U);
  EXPECT_TRUE(run.log().lines({Action::kStop}).empty()) << "50 jobs have come";
  const std::vector<double> rounds = rounds_by(run, 360 * 10, arrivals.size());
  EXPECT_NEAR(rounds[0], 5, 1.1);
  EXPECT_NEAR(rounds[1], 5, 1.1);
  EXPECT_LE(run.log().lines({Action::kStop}).size(), 10U) << "at most one for each round";
}

// A GPU that becomes free within a round is used at once.
TEST_F(GavelRounds, WhatIsFreeWithinARoundIsGiven) {
  Scenario made = scenario(2, {0, 0, 0}, {{0, {1.0}}, {1, {0.5}}, {2, {0.5}}});
  made.jobs[0] = job_of(0, 100);
  made.pacing = {"events"};
  TestRun run(made);
  run.turn_to(101);
  EXPECT_EQ(run.engine().jobs().running().size(), 2U);
  EXPECT_EQ(run.log().lines({Action::kStart}).size(), 3U);
  EXPECT_TRUE(run.log().lines({Action::kStop}).empty());
}

// Two equal jobs on one GPU, of whom the first has had two rounds and the other one when a third
// comes. Times begin anew then, and both claims are equal: the deficit remembers who is owed.
TEST_F(GavelRounds, DeficitsOutliveResets) {
  TestRun run(scenario(1, {0, 0, 1000}, {{0, {0.5}}, {1, {0.5}}}));
  std::vector<std::size_t> order;
  for (int round = 0; round < 4; ++round) {
    run.engine().turn();
    ASSERT_EQ(run.engine().jobs().running().size(), 1U);
    order.push_back(index(run.engine().jobs()[*run.engine().jobs().running().begin()].spec.id));
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 0, 1}));
  EXPECT_EQ(asked_, 2);
}

// Jobs that come within the reset interval: each is divided for at once; as coded all wait for
// the next reset, 1,920 s after the last.
TEST_F(GavelRounds, ResetRule) {
  const Shares given = {{0, {1}}, {1, {1}}, {2, {1}}, {3, {1}}, {4, {1}}};
  const std::vector<Seconds> arrivals = {0, 400, 800, 1200, 1600};
  TestRun ours(scenario(8, arrivals, given));
  ours.turn_to(1900);
  EXPECT_EQ(asked_, 5);
  EXPECT_EQ(ours.engine().jobs().running().size(), 5U);
  asked_ = 0;
  TestRun theirs(scenario(8, arrivals, given, {}, {}, true));
  theirs.turn_to(1900);
  // At time 0, and once more because a reset at 0 counts as none.
  EXPECT_EQ(asked_, 2);
  EXPECT_LT(theirs.engine().jobs().running().size(), 5U);
  theirs.turn_to(3000);
  EXPECT_EQ(asked_, 3);
  EXPECT_EQ(theirs.engine().jobs().running().size(), 5U);
}

// A job runs on one type in a round, and on each for its part of the time; types are filled in the
// cluster's order.
TEST_F(GavelRounds, TypesTakeTurns) {
  Scenario two = scenario(1, {0, 0}, {{0, {0.25, 0.75}}, {1, {0.75, 0.25}}});
  const Symbol fast = two.symbols->intern("v100");
  const Symbol slow = two.symbols->intern("k80");
  two.cluster = uniform_cluster(2, 1);
  two.cluster.nodes[0].gpu_type = fast;
  two.cluster.nodes[1].gpu_type = slow;
  TestRun run(std::move(two));
  std::map<std::uint32_t, int> on_fast;  // rounds, by job
  while (run.engine().now() < 360 * 80) {
    run.engine().turn();
    for (const Slot slot : run.engine().jobs().running()) {
      const Job& job = run.engine().jobs()[slot];
      ASSERT_EQ(job.gpus.nodes(), 1) << "one type at a time";
      const bool fast_now = index(job.gpus[0].node) == 0;
      on_fast[static_cast<std::uint32_t>(index(job.spec.id))] += fast_now ? 1 : 0;
    }
  }
  // Columns run from the last type to the first: job 0 should have three quarters of the V100.
  EXPECT_NEAR(on_fast[0], 60, 2);
  EXPECT_NEAR(on_fast[1], 20, 2);
}

}  // namespace
}  // namespace muster
