// What a user can get wrong around Gavel's policies, from the file to the end of the run: every
// case has a message or a defined answer, every job that came is finished or refused, and nothing
// hangs. The allocators themselves are asked with bad numbers in
// tests/policy/gavel_allocators_bad_input_test.cc, the table is read in
// tests/perf/throughput_table_test.cc.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "artifacts/gavel/allocators.h"
#include "artifacts/gavel/rounds.h"
#include "policy/gavel/rows.h"
#include "run/gavel_fixture.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class GavelBadInput : public GavelFixture {
 protected:
  // A job that is fast on one GPU, one that is half as fast beside another, one that cannot run on
  // k80, one that cannot run anywhere; `types` in the order of the cluster.
  std::string table_of(const std::vector<std::string>& types) {
    std::string json = "{";
    for (const std::string& type : types) {
      const double part = type == "v100" ? 1 : type == "p100" ? 0.5 : 0.25;
      json += fmt::format(
          R"json({0}"{1}": {{"('A', 1)": {{"null": {2}, "('A', 1)": [{3}, {3}]}},
                             "('A', 2)": {{"null": {4}}}, "('A', 8)": {{"null": {4}}},
                             "('big', 1)": {{"null": {5}, "('A', 1)": [{5}, 0]}},
                             "('never', 1)": {{"null": 0}}}})json",
          json.size() > 1 ? ", " : "", type, 10 * part, 6 * part, 18 * part,
          type == "k80" ? 0.0 : 4 * part);
    }
    return folder_.write("own.json", json + "}").string();
  }
  // All who came are accounted for.
  static void expect_all(const Outcome& outcome, int finished, int refused,
                         const std::string& about) {
    ASSERT_TRUE(outcome.complete) << about << ": " << outcome.error;
    EXPECT_EQ(outcome.metrics.finished, finished) << about;
    EXPECT_EQ(outcome.metrics.refused, refused) << about;
    EXPECT_EQ(outcome.log.jobs.size(), static_cast<std::size_t>(finished + refused)) << about;
  }
  // Every policy, with the defects of the original and without, in rounds and without.
  template <typename Test>
  void for_all_policies(const Test& test) {
    for (const AllocatorInfo& info : allocator_table()) {
      for (const std::string& policy : {std::string(info.name), as_coded(info.name)}) {
        for (const std::string pacing : {"", "execution = 'fluid'"}) test(policy, pacing);
      }
    }
  }
};

TEST_F(GavelBadInput, GpuTypeThatTheTableLacks) {
  table_ = table_of({"v100"});
  for_all_policies([&](const std::string& policy, const std::string& pacing) {
    const Outcome outcome =
        run(traced(policy, row("A", 1, 20000, 0) + row("A", 1, 10000, 0), "1:1:1", pacing));
    expect_all(outcome, 2, 0, policy + pacing);
  });
}

TEST_F(GavelBadInput, RateOfZeroOnAType) {
  table_ = table_of({"v100", "p100", "k80"});
  for_all_policies([&](const std::string& policy, const std::string& pacing) {
    const Outcome outcome =
        run(traced(policy, row("big", 1, 4000, 0) + row("A", 1, 9000, 0) + row("big", 1, 4000, 0),
                   "1:1:2", pacing));
    expect_all(outcome, 3, 0, policy + pacing);
  });
}

// A job whose rates are all zero, and one that can only run on a type of which there are no GPUs.
TEST_F(GavelBadInput, JobThatCanRunNowhere) {
  table_ = table_of({"v100", "p100", "k80"});
  for_all_policies([&](const std::string& policy, const std::string& pacing) {
    const Outcome outcome = run(
        traced(policy, row("never", 1, 4000, 0) + row("big", 1, 4000, 0) + row("A", 1, 9000, 10),
               "0:0:2", pacing));
    expect_all(outcome, 1, 2, policy + pacing);
    EXPECT_EQ(outcome.log.job(0).reason, Reason::kNeverFits);
    EXPECT_EQ(outcome.log.job(1).reason, Reason::kNeverFits);
  });
}

// Eight GPUs on 4:4:4: Gavel's own simulation never ends.
TEST_F(GavelBadInput, MoreGpusThanThereAre) {
  table_ = table_of({"v100", "p100", "k80"});
  for_all_policies([&](const std::string& policy, const std::string& pacing) {
    const Outcome outcome =
        run(traced(policy, row("A", 8, 1000, 0) + row("A", 2, 1000, 0) + row("A", 1, 1000, 500),
                   "4:4:4", pacing));
    expect_all(outcome, 2, 1, policy + pacing);
    EXPECT_EQ(outcome.log.job(0).reason, Reason::kNeverFits);
  });
}

TEST_F(GavelBadInput, OneJobOnly) {
  for_all_policies([&](const std::string& policy, const std::string& pacing) {
    expect_all(run(traced(policy, row("A3C", 1, 4000, 0), "1:1:1", pacing)), 1, 0, policy + pacing);
  });
}

// Those jobs are refused, and a note says what the first of them would need; the others go on.
TEST_F(GavelBadInput, JobTypeThatTheTableLacks) {
  for (const std::string pacing : {"", "execution = 'fluid'"}) {
    Outcome outcome = run(traced("gavel-isolated",
                                 row("A3C", 1, 10, 0) + row("Unheard-of", 1, 1000, 0) +
                                     row("A3C", 1, 10, 0) + row("Unheard-of", 1, 1000, 0),
                                 "4:4:4", pacing));
    expect_all(outcome, 2, 2, pacing);
    EXPECT_EQ(outcome.log.job(1).reason, Reason::kUnknownSpeed);
    EXPECT_THAT(outcome.notes,
                Contains(AllOf(HasSubstr("2 of 4 jobs"), HasSubstr("refused"),
                               HasSubstr("'Unheard-of' on 1 GPUs is not in the table"),
                               HasSubstr("does not know the type at all"))));
    // Known on one GPU, and asked for three.
    outcome =
        run(traced("gavel-isolated", row("A3C", 1, 10, 0) + row("A3C", 3, 10, 0), "4:4:4", pacing));
    expect_all(outcome, 1, 1, pacing);
    EXPECT_THAT(outcome.notes, Contains(AllOf(HasSubstr("'A3C' on 3 GPUs"),
                                              HasSubstr("the table has it on 1, 2, 4, 8 GPUs"))));
  }
}

TEST_F(GavelBadInput, TablesThatAreRefused) {
  const auto told = [&](const std::string& json) {
    table_ = folder_.write("bad.json", json).string();
    return run(traced("gavel-isolated", row("A", 1, 1000, 0), "1:1:1")).error;
  };
  EXPECT_THAT(told(R"json({"v100": {"('A', 1)": {"null": 0, "('A', 1)": [0, 0]}},
                           "k80": {"('A', 1)": {"null": 0}}})json"),
              AllOf(HasSubstr("bad.json"), HasSubstr("every rate is zero")));
  EXPECT_THAT(told(R"json({"v100": {"('A', 1)": {"null": -2}}})json"),
              AllOf(HasSubstr("bad.json: v100, ('A', 1)"), HasSubstr("zero or more")));
  EXPECT_THAT(told(R"json({"v100": {"('A', 1)": {"('A', 1)": [1, 1]}}})json"),
              AllOf(HasSubstr("bad.json: v100, ('A', 1)"), HasSubstr("its rate alone")));
  EXPECT_THAT(told(R"json({"v100": {"('A', 1)": {"null": 1, "('B', 1)": [1, 1]}}})json"),
              HasSubstr("('B', 1) has none"));
  EXPECT_THAT(told("{}"), HasSubstr("no throughputs"));
  EXPECT_THAT(told("[1"), HasSubstr("bad.json: not a table of throughputs"));
}

// The generator needs a rate on the type by which it counts steps.
TEST_F(GavelBadInput, TableThatLacksWhatIsDrawn) {
  table_ = table_of({"v100", "p100", "k80"});
  EXPECT_THAT(run(drawn("gavel-isolated")).error,
              AllOf(HasSubstr("own.json"), HasSubstr("have no rate for ")));
}

// Two jobs on one GPU that are both due when one of them could just be done.
TEST_F(GavelBadInput, DeadlinesThatCannotBeMet) {
  const auto due = [](double steps, double factor) {
    return fmt::format("CycleGAN\tx\tdir\t--steps\t1\t{}\t1\t1\t{}\t0\n", steps, factor);
  };
  for (const std::string name : {"gavel-max-sum-throughput-normalized-by-cost-perf-slos",
                                 "gavel-max-sum-throughput-normalized-by-cost-packed-slos"}) {
    for (const std::string& policy : {name, as_coded(name)}) {
      const RunConfig config = traced(policy, due(40000, 1.2) + due(40000, 1.2) + due(40000, 10),
                                      "1:0:0", "accounting = 'net'\n[prices.table]\nv100 = 1\n",
                                      fmt::format("settings = {{throughputs = '{}'}}", table_));
      const Outcome outcome = run(config);
      expect_all(outcome, 3, 0, policy);
      EXPECT_EQ(outcome.metrics.deadline_jobs, 3) << policy;
      EXPECT_GE(outcome.metrics.late_jobs, 1) << policy;
    }
  }
}

LinearSolution fail(const LinearProgram& /*program*/, double /*tolerance*/) { return {}; }

// A solver that never has an answer: everybody owns an equal part, and the run goes on to its end.
TEST_F(GavelBadInput, SolverThatFails) {
  for (const bool published : {false, true}) {
    Scenario scenario;
    scenario.cluster = uniform_cluster(2, 2);
    scenario.pacing = {"rounds", {{"length", "360"}}};
    for (int i = 0; i < 7; ++i) scenario.jobs.push_back(job_of(100 * i, 2000, 1 + i % 2));
    scenario.policy_sets = [published] {
      std::vector<PolicySet> policy_sets;
      policy_sets.push_back(make_policy_set({"fifo"}));
      const ProgramOptions program{Sight::kRates, fail};
      auto& made = policy_sets.back().scheduling;
      if (published) {
        made = std::make_unique<RoundsAsCoded>(make_gavel_max_min(muster::as_coded(program)),
                                               RoundOptions{}, false);
      } else {
        made = std::make_unique<RoundsPolicy>(make_gavel_max_min(program), RoundOptions{});
      }
      return policy_sets;
    };
    const RunLog log = simulate(std::move(scenario));
    ASSERT_EQ(log.jobs.size(), 7U);
    for (const JobRecord& job : log.jobs) EXPECT_EQ(job.status, JobState::kFinished);
  }
}

}  // namespace
}  // namespace muster
