// What a daemon that is restarted knows of the past: pauses after failed starts, accounts, who
// shares what.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "daemon/core_on_disk.h"

namespace muster {
namespace {

class CoreRestart : public CoreOnDisk {
 protected:
  LivePlan plan() const override {
    RunConfig config;
    if (cpus_ > 0) {
      config.cluster.text = fmt::format("[[nodes]]\ngpus = 4\ncpus = {}\n", cpus_);
    } else {
      config.cluster.shape = "1x4";
    }
    config.scheduling = {policy_};
    if (policy_ == "antman") config.placement = {"antman"};
    config.workload.generator = {"poisson", {{"jobs", "1"}}};
    return std::move(*make_live_plan(*complete_config(std::move(config))));
  }
  std::uint32_t launch(std::uint32_t id) const { return job(id).launch; }

  std::string policy_ = "fifo";
  double cpus_ = 0;
};

TEST_F(CoreRestart, WaitsTheRestOfThePauseAfterFailedStarts) {
  begin();
  submit(1, training(1, 100));
  step();
  Seconds pause = 5;
  for (std::uint32_t number = 1; number <= 3; ++number) {
    ASSERT_EQ(launch(1), number);
    hear({JobId{1}, number}, RunEvent::kStartFailed);
    step();
    EXPECT_EQ(core_->due(), now_ + (pause *= 2));
    if (number < 3) step_at(now_ + pause);
  }
  const Seconds until = now_ + 40;
  EXPECT_EQ(jobs_.at(JobId{1}).paused_until, until);
  EXPECT_EQ(jobs_.at(JobId{1}).failed_starts, 3);
  now_ += 15;
  restart();
  EXPECT_TRUE(job(1).waiting());
  EXPECT_EQ(core_->due(), until);
  step_at(until - 1);
  EXPECT_EQ(launch(1), 3U) << "the pause is not over";
  // Once more, so that the pause goes through two daemons.
  restart();
  step_at(until);
  ASSERT_EQ(launch(1), 4U);
  EXPECT_EQ(jobs_.at(JobId{1}).paused_until, 0);
  hear({JobId{1}, 4}, RunEvent::kStartFailed);
  step();
  EXPECT_EQ(core_->due(), now_ + 80) << "twice as long as before the restart";
  // One that is over while no daemon is there is over.
  now_ += 1000;
  restart();
  EXPECT_EQ(launch(1), 5U);
  run(1, 5);
  EXPECT_EQ(jobs_.at(JobId{1}).failed_starts, 0);
}

TEST_F(CoreRestart, AStartThatFailsWhileNoDaemonIsThereIsOneMore) {
  begin();
  submit(1, training(1, 100));
  step();
  hear({JobId{1}, 1}, RunEvent::kStartFailed);
  step();
  step_at(now_ + 10);
  ASSERT_EQ(launch(1), 2U);
  now_ += 500;
  restart();
  hear({JobId{1}, 2}, RunEvent::kStartFailed);
  step();
  EXPECT_EQ(core_->due(), now_ + 20);
}

// Two GPUs from 10 to 110; it is told to stop then, and leaves at 130.
TEST_F(CoreRestart, CountsTimeWithGpusUpToTheDecisionToStop) {
  const auto expect_accounts = [this](const char* when) {
    EXPECT_EQ(job(1).held_before, 100) << when;
    EXPECT_EQ(job(1).gpu_seconds_before, 200) << when;
    EXPECT_EQ(job(1).waited_before + now_ - job(1).waiting_since, now_ - 110) << when;
  };
  policy_ = "srtf";
  begin();
  submit(1, training(2, 1000));
  step();
  run(1, 1);
  now_ = 110;
  submit(2, training(4, 1000));
  submit(3, training(3, 10));
  step();
  ASSERT_TRUE(stops({JobId{1}, 1}));
  now_ = 120;
  expect_accounts("while it saves its work");
  restart();
  expect_accounts("after a restart meanwhile");
  now_ = 130;
  hear({JobId{1}, 1}, RunEvent::kExited);
  step();
  expect_accounts("once it has left");
  now_ = 140;
  restart();
  expect_accounts("after a restart");
  run(3, 1);
  now_ = 150;
  hear({JobId{3}, 1}, RunEvent::kExited, RunOutcome::kFinished);
  step();
  ASSERT_EQ(launch(1), 2U);
  now_ = 160;
  restart();  // while it is starting
  run(1, 2);
  EXPECT_EQ(job(1).waited_before, 50) << "from 110 to 160";
  now_ = 170;
  restart();
  EXPECT_EQ(job(1).attained_at(now_), 110);
  EXPECT_EQ(job(1).gpu_seconds_at(now_), 220);
  // It ends while no daemon is there, and the rows of launches are ahead of those of jobs.
  runs_.at({JobId{1}, 2}).state = RunState::kEnded;
  runs_.at({JobId{1}, 2}).ended = 180;
  runs_.at({JobId{1}, 2}).outcome = RunOutcome::kStopped;
  now_ = 200;
  begin(stored());
  EXPECT_EQ(job(1).held_before, 120);
  EXPECT_EQ(job(1).gpu_seconds_before, 240);
}

// Rows of an earlier program: the launches say how long it held GPUs, the time to save included.
TEST_F(CoreRestart, TakesAccountsFromLaunchesWhereRowsDoNotHaveThem) {
  begin();
  submit(1, training(2, 1000));
  step();
  run(1, 1);
  now_ = 60;
  hear({JobId{1}, 1}, RunEvent::kExited);
  step();
  run(1, 2);
  now_ = 100;
  step();
  jobs_.at(JobId{1}).held_before = jobs_.at(JobId{1}).gpu_seconds_before = -1;
  restart();
  EXPECT_EQ(job(1).attained_at(now_), 90);
  EXPECT_EQ(job(1).gpu_seconds_at(now_), 180);
}

// It was believed to run for 100 s.
TEST_F(CoreRestart, KnowsWhatIsBelievedOfLengths) {
  policy_ = "srtf";
  begin();
  JobRequest request = training(1, 100);
  request.iterations = 10;
  submit(1, request);
  step();
  run(1, 1);
  step_at(core_->due());
  step_at(250);
  EXPECT_EQ(job(1).spec.duration, 400) << "it has run for 240 s";
  restart();
  EXPECT_EQ(job(1).work_at(now_), 240);
  EXPECT_EQ(job(1).total_work, 400);
  EXPECT_EQ(job(1).spec.duration, 400);
  EXPECT_EQ(job(1).spec.estimate, 400);
  EXPECT_EQ(job(1).spec.iterations, 40);
  EXPECT_EQ(core_->due(), 410) << "then it will have outrun that, too";
  now_ = 500;
  restart();
  EXPECT_EQ(job(1).work_at(now_), 490) << "no daemon was there, and it ran on";
  EXPECT_EQ(job(1).spec.duration, 800);
}

// It uses GPUs of which others hold some; that is known afterwards, and no second one joins it.
TEST_F(CoreRestart, KnowsWhoUsesWhatOthersLeave) {
  policy_ = "antman";
  begin();
  submit(1, training(2, 1000));
  step();
  run(1, 1);
  JobRequest opportunistic = training(3, 1000);
  opportunistic.priority = -1;
  submit(2, opportunistic);
  step();
  ASSERT_EQ(launch(2), 1U);
  run(2, 1);
  ASSERT_TRUE(job(2).opportunistic);
  restart();
  EXPECT_TRUE(job(1).running());
  EXPECT_TRUE(job(2).running());
  EXPECT_TRUE(job(2).opportunistic);
  EXPECT_EQ(core_->engine().cluster().used_gpus(), 2);
  JobRequest another = training(1, 1000);
  another.priority = -1;
  submit(3, another);
  step();
  EXPECT_EQ(core_->frozen(), "");
  ASSERT_TRUE(job(3).running()) << "there is one GPU that the other one does not use";
  another = training(2, 1000);
  another.priority = -1;
  submit(4, another);
  step();
  EXPECT_EQ(core_->frozen(), "");
  EXPECT_TRUE(job(4).waiting());
}

TEST_F(CoreRestart, KnowsTheCoresThatJobsHold) {
  cpus_ = 8;
  begin();
  JobRequest request = training(1, 1000);
  request.cpus = 5;
  submit(1, request);
  submit(2, request);
  step();
  run(1, 1);
  ASSERT_TRUE(job(2).waiting());
  restart();
  EXPECT_EQ(core_->engine().cluster().free_cpus(NodeId{0}), 3);
  EXPECT_TRUE(job(2).waiting());
  // The node has fewer of them by now: what runs there runs on.
  cpus_ = 4;
  restart();
  EXPECT_EQ(core_->frozen(), "");
  EXPECT_TRUE(job(1).running());
}

TEST_F(CoreRestart, KnowsWhoStartedFirst) {
  begin();
  submit(1, training(1, 1000));
  step();
  hear({JobId{1}, 1}, RunEvent::kStartFailed);
  step();
  step_at(now_ + 10);
  run(1, 2);
  now_ += 5;
  submit(2, training(1, 1000));
  step();
  run(2, 1);
  EXPECT_LT(job(1).start_order, job(2).start_order);
  restart();
  EXPECT_LT(job(1).start_order, job(2).start_order);
}

}  // namespace
}  // namespace muster
