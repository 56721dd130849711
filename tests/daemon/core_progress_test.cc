// From the steps that jobs report to what is decided.
#include <gtest/gtest.h>

#include "daemon/submission.h"

namespace muster {
namespace {

// One GPU, shortest remaining time first, and a job of 100 steps that runs from 1 s on.
class CoreProgress : public ::testing::Test {
 protected:
  CoreProgress() { begin(training(1, 22)); }

  void begin(const JobRequest& first) {
    core_ = core_of(live_plan("1x1", "srtf"));
    submit_to(*core_, JobId{1}, first, 0);
    step(0);
    for (const RunEvent event : {RunEvent::kReady, RunEvent::kStarted}) {
      RunReport report;
      report.run = {JobId{1}, 1};
      report.event = event;
      core_->hear(report, 1);
      step(1);
    }
  }

  void submit(std::uint32_t id, Seconds estimate, Seconds now) {
    submit_to(*core_, JobId{id}, training(1, estimate), now);
    step(now);
  }
  void done(double steps, Seconds now, double total = 100) {
    ProgressReport report;
    report.run = {JobId{1}, 1};
    report.step = steps;
    report.total = total;
    core_->hear(report, now);
    step(now);
  }
  // Whether the first job has been told to stop by then.
  bool stopped(Seconds now) {
    step(now);
    return stopped_;
  }
  void step(Seconds now) {
    core_->step(now);
    for (const LaunchCall& call : core_->take(now).calls) {
      stopped_ = stopped_ || call.command == RunCommand::kStop;
    }
  }

  std::unique_ptr<Core> core_;
  bool stopped_ = false;
};

TEST_F(CoreProgress, AJobThatHasDoneItsLastStepIsNotPreempted) {
  done(0, 2);
  done(10, 4);
  done(60, 14);
  done(100, 22);
  submit(2, 6, 23.5);  // while the first one saves its result
  EXPECT_FALSE(stopped(24));
}

// Five steps a second, 60 of them done, and another job of 25 s comes.
TEST_F(CoreProgress, IterationsOfTheOwnerCountWhereTheJobNamesNoTotal) {
  const auto stopped_with = [this](double iterations) {
    JobRequest request = training(1);
    request.iterations = iterations;
    begin(request);
    stopped_ = false;
    done(0, 2, 0);
    done(10, 4, 0);
    done(60, 14, 0);
    submit(2, 25, 14.5);
    return stopped(14.5);
  };
  EXPECT_FALSE(stopped_with(100)) << "8 s are left of it";
  EXPECT_TRUE(stopped_with(1000)) << "188 s are left of it";
  EXPECT_FALSE(stopped_with(20)) << "it has outrun them: 80 are believed, and 4 s are left";
}

// Those that the description names, and no others; a loss may be below zero.
TEST_F(CoreProgress, PoliciesSeeTheMetricsThatTheDescriptionNames) {
  RunConfig config;
  config.cluster.shape = "1x1";
  config.workload.generator = {"poisson", {{"jobs", "1"}}};
  config.metrics = {"loss", "watts"};
  core_ = core_of(std::move(*make_live_plan(*complete_config(std::move(config)))));
  submit_to(*core_, JobId{1}, training(1), 0);
  step(0);
  for (const RunEvent event : {RunEvent::kReady, RunEvent::kStarted}) {
    RunReport report;
    report.run = {JobId{1}, 1};
    report.event = event;
    core_->hear(report, 1);
    step(1);
  }
  ProgressReport report;
  report.run = {JobId{1}, 1};
  report.metrics = {{"loss", -1.5}, {"gpu_util", 50}};
  core_->hear(report, 2);
  step(2);
  const View view = core_->engine().view();
  const Slot slot = core_->engine().jobs().find(JobId{1});
  ASSERT_NE(view.metrics, nullptr);
  EXPECT_EQ(view.metrics->of(slot, "loss"), -1.5);
  EXPECT_EQ(view.metrics->of(slot, "watts"), std::nullopt);
  EXPECT_EQ(view.metrics->of(slot, "gpu_util"), std::nullopt);
}

// What it is to do, what its owner believes, how long it may: the first that is there.
TEST_F(CoreProgress, OfWhatIsSaidOfItsLengthTheBestIsBelieved) {
  const auto believed = [](double iterations, Seconds estimate, Seconds limit) {
    JobRequest request = training(1, estimate);
    request.iterations = iterations;
    request.step_ms = 100;
    request.time_limit = limit;
    const auto core = core_of(live_plan("1x1"));
    submit_to(*core, JobId{1}, request, 0);
    core->step(0);
    return core->engine().jobs()[core->engine().jobs().find(JobId{1})].spec.duration;
  };
  EXPECT_EQ(believed(500, 70, 90), 50);
  EXPECT_EQ(believed(0, 70, 90), 70);
  EXPECT_EQ(believed(0, 0, 90), 90);
  EXPECT_EQ(believed(0, 0, 0), 3600);
}

TEST_F(CoreProgress, NorOneWhoseStepsWereTooFastToBeMeasured) {
  done(0, 2);
  done(100, 2.5);
  submit(2, 6, 3);
  EXPECT_FALSE(stopped(3.5));
}

TEST_F(CoreProgress, BetweenReportsItGoesOnAsFastAsWasMeasured) {
  done(0, 2);
  done(10, 4);
  done(90, 20);  // 2 s are left
  submit(2, 1, 21.5);
  EXPECT_FALSE(stopped(21.5)) << "half a second is left of it";
}

TEST_F(CoreProgress, OneThatHangsIsBelievedToNeedAsLongAgainAsItHasBeenSilent) {
  done(0, 2);
  done(10, 4);
  done(90, 20);  // 2 s are left
  submit(2, 30, 21);
  // At 22 s it is believed to need 2 s more, at 24 s 4 s, and so on.
  for (const Seconds now : {22, 24, 28, 36}) {
    EXPECT_DOUBLE_EQ(core_->due(), now);
    EXPECT_FALSE(stopped(now));
  }
  EXPECT_DOUBLE_EQ(core_->due(), 52);
  EXPECT_TRUE(stopped(52)) << "it has been silent for 32 s, and the other one takes 30 s";
}

TEST_F(CoreProgress, OneThatIsLateAndSpeaksAgainIsBelieved) {
  done(0, 2);
  done(10, 4);
  done(90, 20);
  for (const Seconds now : {22, 24, 28, 36}) step(now);
  done(95, 40);  // 5 steps are left, at 2.36 a second
  submit(2, 3, 41);
  EXPECT_FALSE(stopped(41));
}

TEST_F(CoreProgress, HowLongTheEndTakesDoesNotMakeItLonger) {
  done(0, 2);
  done(10, 4);
  done(100, 22);
  submit(2, 6, 60);
  EXPECT_FALSE(stopped(61));
}

}  // namespace
}  // namespace muster
