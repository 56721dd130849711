// What becomes of jobs whose lengths are beliefs. Every timeline is computed by hand.
#include "model/belief.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/config/plugin_tables.h"
#include "support/beliefs.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

Scenario two_jobs(const Choice& scheduling) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.scheduling = scheduling;
  scenario.jobs = {believed_job(0, 10, 100), believed_job(1, 50, 50)};
  return scenario;
}

// The first is believed to have 9 s left when the second comes, and 10, 20, 40, then 80 more each
// time that it has outrun the belief: at 80 s that is more than the 50 s of the second.
TEST(Overrun, DoublesTheBeliefSoThatOthersComeFirst) {
  const RunLog log = simulate(two_jobs({"srtf"}));
  EXPECT_EQ(log.job(1).start, 80);
  EXPECT_EQ(log.job(1).end, 130);
  EXPECT_EQ(log.job(0).end, 150);
  EXPECT_EQ(log.job(0).preemptions, 1);
}

TEST(Overrun, IsNoticedAtTheNextRound) {
  Scenario scenario = two_jobs({"srtf"});
  scenario.pacing = {"rounds", {{"length", "30"}}};
  const RunLog log = simulate(scenario);
  // 10 s became 40 s by 30 s, 80 s by 60 s and 160 s by 90 s.
  EXPECT_EQ(log.job(1).start, 90);
  EXPECT_EQ(log.job(0).end, 180);
}

TEST(Overrun, CostsNoTurnWhereNobodyMindsLengths) {
  const RunLog log = simulate(two_jobs({"fifo"}));
  EXPECT_THAT(log.lines({Action::kStart, Action::kFinish}),
              ElementsAre("0 start 0 gpus=1 other=- detail=0 first-in-order",
                          "100 finish 0 gpus=1 other=- detail=0 completed",
                          "100 start 1 gpus=1 other=- detail=0 first-in-order",
                          "150 finish 1 gpus=1 other=- detail=0 completed"));
  EXPECT_EQ(log.turns.size(), 4U);
}

TEST(Overrun, LeavesIterationsPerSecondAlone) {
  JobSpec spec = job_of(0, 100);
  spec.iterations = 1000;
  spec.estimate = 100;
  believe(spec, 25);
  EXPECT_EQ(spec.iterations, 250);
  Job job;
  job.spec = spec;
  job.total_work = 25;
  double_belief(job);
  EXPECT_EQ(job.total_work, 50);
  EXPECT_EQ(job.spec.duration, 50);
  EXPECT_EQ(job.spec.iterations, 500);
}

TEST(Belief, TooLongIsCorrectedByTheEnd) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.scheduling = {"srtf"};
  // The first is taken for the longest, and is the shortest.
  scenario.jobs = {believed_job(0, 1000, 5), believed_job(1, 20, 20), believed_job(1, 30, 30)};
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(1).end, 21);
  EXPECT_EQ(log.job(2).end, 51);
  EXPECT_EQ(log.job(0).end, 55);
}

TEST(Belief, RecordsTellTheTruth) {
  const RunLog log = simulate(two_jobs({"srtf"}));
  EXPECT_EQ(log.job(0).duration, 100);
  EXPECT_EQ(log.job(1).duration, 50);
}

TEST(Belief, NothingKnownIsAnHourAtFirst) {
  const std::vector<JobSpec> jobs =
      believed_jobs({job_of(0, 5), job_of(0, 9000)}, Durations::kNone);
  EXPECT_EQ(jobs[0].duration, kUnknownDuration);
  EXPECT_EQ(jobs[1].duration, kUnknownDuration);
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.scheduling = {"srtf"};
  scenario.jobs = believed_jobs({job_of(0, 9000), job_of(0, 5)}, Durations::kNone);
  const RunLog log = simulate(scenario);
  // After an hour the first is believed to have one more, as much as the second; after two it has
  // two.
  EXPECT_EQ(log.job(1).start, 7200);
  EXPECT_EQ(log.job(0).end, 9005);
}

// A prediction must not know what nobody can.
TEST(Belief, IsWhatLookingAheadGoesBy) {
  TestRun run(two_jobs({"fifo"}));
  run.turn_to(1);
  const Prediction prediction = run.engine().predict(0, kNever);
  EXPECT_EQ(prediction.finished, 2);
  // The first until 10, the second until 60: both later than that in truth.
  EXPECT_NEAR(prediction.sum_completion_time, 10 + 59, 1e-9);
  EXPECT_EQ(run.run().job(1).end, 150);
}

// Nor may a published way to count progress, of which a fork is a copy.
TEST(Belief, IsWhatLookingAheadGoesByHoweverProgressIsCounted) {
  for (const ProgressInfo& row : plugin_tables().progress) {
    Scenario scenario = two_jobs({"fifo"});
    if (!row.pacing.empty()) scenario.pacing = {std::string(row.pacing), {{"length", "1"}}};
    scenario.simulator = [&row](SimParts parts, const Pacing& pacing) {
      return row.make(*Params::make("progress", row.params, {}), std::move(parts), pacing);
    };
    TestRun run(scenario);
    run.turn_to(1);
    const Prediction prediction = run.engine().predict(0, kNever);
    EXPECT_EQ(prediction.finished, 2) << row.name;
    // Where turns have a length, each may end, and be followed, a turn later. In truth it is 249.
    EXPECT_NEAR(prediction.sum_completion_time, 10 + 59, row.pacing.empty() ? 1e-9 : 4) << row.name;
  }
}

TEST(Belief, ThatHasGrownIsWhatLookingAheadGoesBy) {
  TestRun run(two_jobs({"srtf"}));
  run.turn_to(40);
  const Prediction prediction = run.engine().predict(0, kNever);
  EXPECT_NEAR(prediction.sum_completion_time, 80 + 129, 1e-9);
}

// A report, or what a stop has saved, may be more than anybody believed.
TEST(Belief, GrowsWithWhatIsReported) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.scheduling = {"srtf"};
  scenario.jobs = {believed_job(0, 10, 100), believed_job(1, 50, 50)};
  JobEvent report;
  report.time = 3;
  report.kind = EventKind::kProgress;
  report.slot = Slot{0};
  report.job = JobId{0};
  report.work = 90;
  report.rate = 1;
  scenario.injected = {report};
  TestRun run(scenario);
  run.turn_to(3);
  EXPECT_EQ(run.engine().jobs()[Slot{0}].total_work, 160);
  EXPECT_EQ(run.engine().jobs()[Slot{0}].spec.duration, 160);
}

TEST(Belief, OfAJobThatTakesNoTime) {
  Scenario scenario;
  scenario.scheduling = {"srtf"};
  scenario.jobs = believed_jobs({job_of(0, 0), job_of(3, 7)}, Durations::kEstimate,
                                std::make_unique<SameError>(0.1));
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).end, 0);
  EXPECT_EQ(log.job(1).end, 10);
}

}  // namespace
}  // namespace muster
