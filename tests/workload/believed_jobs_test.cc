#include "workload/believed_jobs.h"

#include <cmath>

#include <gtest/gtest.h>

#include "model/truth.h"
#include "run/config/plugin_tables.h"
#include "support/beliefs.h"

namespace muster {
namespace {

std::unique_ptr<ErrorModel> make_errors(const Choice& choice, const Symbols& symbols) {
  const auto row = find_row("error model", error_model_table(), choice.name);
  EXPECT_TRUE(row);
  const auto params = Params::make(choice.name, (*row)->params, choice.params);
  EXPECT_TRUE(params) << params.error().message;
  return (*row)->make(*params, symbols);
}

std::vector<double> factors(ErrorModel& model, const std::vector<JobSpec>& jobs) {
  std::vector<double> drawn;
  drawn.reserve(jobs.size());
  for (const JobSpec& job : jobs) drawn.push_back(model.factor(job));
  return drawn;
}

TEST(BelievedJobs, KeepTheTruthAsItWasToTheLastBit) {
  JobSpec job = job_of(0, 1.0 / 3);
  job.iterations = 7;
  const JobSpec believed =
      believed_jobs({job}, Durations::kEstimate, std::make_unique<SameError>(1.1)).front();
  EXPECT_TRUE(believed.believed);
  EXPECT_EQ(believed.duration, 1.0 / 3 * 1.1);
  EXPECT_EQ(believed.estimate, believed.duration);
  EXPECT_EQ(true_duration(believed), 1.0 / 3);
  EXPECT_EQ(true_iterations(believed), 7);
  EXPECT_EQ(as_it_is(believed).duration, 1.0 / 3);
  EXPECT_NEAR(believed.iterations / believed.duration, 7 / (1.0 / 3), 1e-9);
}

TEST(BelievedJobs, TakeTheirOwnEstimatesWhereNobodyDraws) {
  std::vector<JobSpec> jobs = {job_of(0, 100), job_of(1, 100)};
  jobs[0].estimate = 40;
  const std::vector<JobSpec> believed = believed_jobs(jobs, Durations::kEstimate);
  EXPECT_EQ(believed[0].duration, 40);
  EXPECT_EQ(believed[1].duration, 3600);
}

TEST(BelievedJobs, HideEstimatesTooWhereNothingIsKnown) {
  JobSpec job = job_of(0, 100);
  job.estimate = 100;
  EXPECT_EQ(believed_jobs({job}, Durations::kNone).front().estimate, 0);
}

TEST(BelievedJobs, AreLeftAloneWhereTheTruthIsTold) {
  const JobSpec job = believed_jobs({job_of(0, 100)}, Durations::kTrue).front();
  EXPECT_FALSE(job.believed);
  EXPECT_FALSE(knows_truth(job));
}

TEST(ErrorModels, DrawTheSameFromTheSameSeed) {
  const Symbols symbols;
  const std::vector<JobSpec> jobs(50, job_of(0, 1));
  for (const ErrorModelInfo& row : error_model_table()) {
    const Choice choice{std::string(row.name)};
    const auto first = factors(*make_errors(choice, symbols), jobs);
    EXPECT_EQ(factors(*make_errors(choice, symbols), jobs), first) << row.name;
    for (const double factor : first) EXPECT_GT(factor, 0);
    if (row.name == "biased") continue;
    Choice other = choice;
    other.params["seed"] = "2";
    EXPECT_NE(factors(*make_errors(other, symbols), jobs), first) << row.name;
  }
}

TEST(ErrorModels, LogNormalHasTheSpreadItIsGiven) {
  const Symbols symbols;
  const auto model = make_errors({"log-normal", {{"sigma", "0.7"}, {"median", "2"}}}, symbols);
  double sum = 0;
  double squares = 0;
  constexpr int kCount = 20'000;
  for (int i = 0; i < kCount; ++i) {
    const double log = std::log(model->factor(job_of(0, 1)));
    sum += log;
    squares += log * log;
  }
  const double mean = sum / kCount;
  EXPECT_NEAR(mean, std::log(2), 0.02);
  EXPECT_NEAR(std::sqrt(squares / kCount - mean * mean), 0.7, 0.02);
}

TEST(ErrorModels, AUserIsWrongByTheSameFactorWhoeverCameBefore) {
  Symbols symbols;
  JobSpec ann = job_of(0, 1);
  ann.user = symbols.intern("ann");
  JobSpec bob = job_of(0, 1);
  bob.user = symbols.intern("bob");
  const Choice choice{"by-user", {{"within", "0"}}};
  const auto one = factors(*make_errors(choice, symbols), {ann, bob, ann});
  const auto other = factors(*make_errors(choice, symbols), {bob, ann, ann});
  EXPECT_EQ(one[0], other[1]);
  EXPECT_EQ(one[1], other[0]);
  EXPECT_EQ(one[0], one[2]);
  EXPECT_NE(one[0], one[1]);
}

}  // namespace
}  // namespace muster
