// What the inputs do not tell a policy is said before the run: which need, of how many jobs, what
// the policy does instead, and what would help.
#include "run/assembly/needs_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/product.h"
#include "support/simulation.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Checked {
  std::vector<JobSpec> jobs = {job_of(0, 100, 2), job_of(1, 100, 2)};
  ClusterSpec cluster = uniform_cluster(2, 4);
  std::vector<Choice> perf = {};
  Durations durations = Durations::kTrue;
  bool estimates_drawn = false;
  Symbols symbols;

  Result<UnmetNeeds> check(Needs needs, bool forecast = false) {
    std::vector<std::unique_ptr<PerfModel>> models;
    for (const Choice& choice : perf) models.push_back(make_perf(choice, symbols));
    const std::shared_ptr<const PerfModel> model = multiply(std::move(models));
    const NeedyPolicy policies[] = {{"policy 'p'", {needs.begin(), needs.end()}}};
    KnownInputs inputs{std::make_shared<const ClusterSpec>(cluster), model, forecast};
    inputs.durations = durations;
    inputs.estimates_drawn = estimates_drawn;
    JobCensus census(policies, inputs);
    for (const JobSpec& job : jobs) census.add(job);
    return unmet_needs(policies, inputs, census);
  }
  std::vector<std::string> warnings(Needs needs, bool forecast = false) {
    auto unmet = check(needs, forecast);
    EXPECT_TRUE(unmet) << unmet.error().message;
    return unmet ? unmet->warnings : std::vector<std::string>();
  }
};

constexpr Need kEstimates[] = {{Knowledge::kEstimate, "it guesses"}};

TEST(NeedsCheck, CountsTheJobsThatLackIt) {
  Checked checked;
  EXPECT_THAT(checked.warnings(kEstimates),
              ElementsAre("policy 'p' needs estimates of run times, but 2 of 2 jobs have none: "
                          "it guesses. To change that, give --estimates FILE (muster learn "
                          "writes one), or a trace with a column estimate_s"));
  checked.jobs[0].estimate = 50;
  EXPECT_THAT(checked.warnings(kEstimates), ElementsAre(HasSubstr("1 of 2 jobs have none")));
  checked.jobs[1].estimate = 50;
  EXPECT_THAT(checked.warnings(kEstimates), IsEmpty());
}

TEST(NeedsCheck, SayTheOneRuleForMissingEstimatesWhereLengthsAreBeliefs) {
  Checked checked;
  for (const Durations durations : {Durations::kEstimate, Durations::kNone}) {
    checked.durations = durations;
    EXPECT_THAT(checked.warnings(kEstimates), ElementsAre(HasSubstr("counts as one hour long")));
  }
}

TEST(NeedsCheck, RefusesWhatAPolicyCannotDoWithout) {
  constexpr Need kPrices[] = {{Knowledge::kPrices}};
  Checked checked;
  const auto unmet = checked.check(kPrices);
  ASSERT_FALSE(unmet);
  EXPECT_THAT(unmet.error().message, HasSubstr("needs prices, but there are none"));
  EXPECT_THAT(unmet.error().message, HasSubstr("prices.file"));
}

TEST(NeedsCheck, IsContentWithSomeJobsWhereOthersDoWithout) {
  constexpr Need kDeadlines[] = {{Knowledge::kDeadline, "it is fifo"}};
  Checked checked;
  EXPECT_THAT(checked.warnings(kDeadlines), ElementsAre(HasSubstr("deadlines")));
  checked.jobs[1].deadline = 1000;
  EXPECT_THAT(checked.warnings(kDeadlines), IsEmpty());
}

TEST(NeedsCheck, AsksThePerformanceModel) {
  constexpr Need kScaling[] = {{Knowledge::kScaling, "sizes stay"}};
  Checked checked;
  EXPECT_THAT(checked.warnings(kScaling), IsEmpty()) << "no job could grow";
  checked.jobs[0] = stretchable_job(0, 100, 4);
  EXPECT_THAT(checked.warnings(kScaling), ElementsAre(HasSubstr("--perf scaling")));
  checked.perf = {{"scaling"}};
  EXPECT_THAT(checked.warnings(kScaling), IsEmpty());

  constexpr Need kTypes[] = {{Knowledge::kGpuTypes, "all are equal"}};
  EXPECT_THAT(checked.warnings(kTypes), IsEmpty()) << "there is only one type";
  checked.cluster.nodes[0].gpu_type = checked.symbols.intern("v100");
  checked.cluster.nodes[1].gpu_type = checked.symbols.intern("k80");
  EXPECT_THAT(checked.warnings(kTypes), ElementsAre(HasSubstr("gpu-types")));
  checked.perf = {{"gpu-types", {{"speeds", "v100=1,k80=0.25"}}}};
  EXPECT_THAT(checked.warnings(kTypes), IsEmpty());

  constexpr Need kLocality[] = {{Knowledge::kLocality, "any place will do"}};
  EXPECT_THAT(checked.warnings(kLocality), ElementsAre(HasSubstr("--perf locality")));
  checked.perf = {{"locality"}};
  EXPECT_THAT(checked.warnings(kLocality), IsEmpty());
}

TEST(NeedsCheck, LooksForTheForecast) {
  constexpr Need kForecast[] = {{Knowledge::kForecast, "it does not look ahead"}};
  Checked checked;
  EXPECT_THAT(checked.warnings(kForecast), ElementsAre(HasSubstr("forecast.file")));
  EXPECT_THAT(checked.warnings(kForecast, true), IsEmpty());
}

TEST(NeedsCheck, NoticesWhoFallsBackToTheTruth) {
  constexpr Need kTruth[] = {{Knowledge::kEstimate, "it takes the true duration", true}};
  Checked checked;
  EXPECT_TRUE(checked.check(kTruth)->clairvoyant);
  EXPECT_FALSE(checked.check(kEstimates)->clairvoyant);
  for (JobSpec& job : checked.jobs) job.estimate = 10;
  EXPECT_FALSE(checked.check(kTruth)->clairvoyant);
}

TEST(NeedsCheck, SaysWhoIsBlindWhereRunTimesAreHidden) {
  constexpr Need kLength[] = {{Knowledge::kDuration}};
  Checked checked;
  EXPECT_THAT(checked.warnings(kLength), IsEmpty());
  checked.durations = Durations::kNone;
  EXPECT_THAT(checked.warnings(kLength),
              ElementsAre("policy 'p' needs run times, but durations = \"none\" hides them: such a "
                          "job counts as one hour long, and as twice as long whenever it outruns "
                          "that. To change that, add --durations estimate and --estimates FILE "
                          "(muster learn writes one) or a trace with a column estimate_s, or "
                          "--durations true for a bound"));
  EXPECT_THAT(checked.warnings(kEstimates), ElementsAre(HasSubstr("2 of 2 jobs have none")));
  checked.durations = Durations::kEstimate;
  checked.jobs[1].estimate = 40;
  EXPECT_THAT(checked.warnings(kLength), ElementsAre(HasSubstr("1 of 2 jobs have no estimate")));
  checked.estimates_drawn = true;
  EXPECT_THAT(checked.warnings(kLength), IsEmpty());
  EXPECT_THAT(checked.warnings(kEstimates), IsEmpty());
}

TEST(NeedsCheck, NobodyKnowsTheTruthThatIsNotTold) {
  constexpr Need kTruth[] = {{Knowledge::kEstimate, "it takes the duration", true}};
  Checked checked;
  checked.durations = Durations::kNone;
  EXPECT_FALSE(checked.check(kTruth)->clairvoyant);
}

// Every need that a built-in policy can have says what would provide it.
TEST(NeedsCheck, HasARemedyForEverything) {
  Checked checked;
  checked.cluster.nodes[0].gpu_type = checked.symbols.intern("v100");
  for (const KnowledgeInfo& info : knowledge_list()) {
    checked.durations = info.which == Knowledge::kDuration ? Durations::kNone : Durations::kTrue;
    // Only a job that can grow has to be known how.
    checked.jobs[0] =
        info.which == Knowledge::kScaling ? stretchable_job(0, 100, 4) : job_of(0, 100, 2);
    const Need need[] = {{info.which, "it does something else"}};
    const auto warnings = checked.warnings(need);
    ASSERT_EQ(warnings.size(), 1U) << info.name;
    EXPECT_THAT(warnings[0], ::testing::MatchesRegex(".*To change that, (give|add) .*"));
  }
}

}  // namespace
}  // namespace muster
