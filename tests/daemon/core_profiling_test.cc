// Lucid's profiler in front of the queue of a live cluster: where jobs run first, for how long, and
// what comes of what was measured there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/core.h"
#include "daemon/memory_store.h"
#include "daemon/submission.h"
#include "run/config/load_config.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

RunConfig profiled_config(const std::string& shape, const std::string& scheduling = "lucid") {
  RunConfig config;
  config.cluster.shape = shape;
  config.scheduling = {scheduling};
  config.placement = {"packing", {{"share", "always"}}};
  config.workload.generator = {"poisson", {{"jobs", "1"}}};
  config.profiling.nodes = 1;
  config.profiling.gpus_per_node = 1;
  config.profiling.limit = 10;
  config.profiling.within = true;
  return config;
}

// Two GPUs: the first is for the queue, the second the profiler's.
class CoreProfiling : public ::testing::Test {
 protected:
  CoreProfiling() {
    recorder_ = std::move(*CoreRecorder::open(recording()));
    begin("1x2");
  }

  // A daemon that continues from what is on the disk.
  void begin(const std::string& shape) {
    store_ = std::make_unique<MemoryStore>(disk_);
    auto plan = make_live_plan(*complete_config(profiled_config(shape)));
    core_ = std::move(
        *Core::make(std::move(*plan), Abilities{}, {}, *store_->load(), now_, recorder_.get()));
    core_->begin_census();
    for (const RunId run : running_) {
      RunReport report;
      report.run = run;
      report.event = RunEvent::kSeenRunning;
      core_->hear(report, now_);
    }
    core_->hear(CensusReport{1, true}, now_);
    pass(0);
  }
  std::string recording() const { return (folder_.path() / "recording").string(); }

  void submit(std::uint32_t id, int gpus = 1) {
    submit_to(*core_, JobId{id}, training(gpus, 100), now_);
    pass(0);
  }
  // Time passes; whatever is prepared starts at once, and whatever is stopped has left.
  void pass(Seconds seconds) {
    const Seconds end = now_ + seconds;
    while (true) {
      core_->step(now_);
      const CoreEffects effects = core_->take(now_);
      ASSERT_TRUE(store_->commit({&effects.batch, 1}));
      for (const LaunchCall& call : effects.calls) answer(call);
      ASSERT_LT(++steps_, 1000) << "it does not come to rest";
      if (!effects.calls.empty()) continue;
      if (now_ >= end && core_->due() > now_) return;
      now_ = std::min(end, std::max(now_, core_->due()));
    }
  }
  void answer(const LaunchCall& call) {
    RunReport report;
    report.run = call.run;
    if (call.command == RunCommand::kPrepare) {
      const RunOrder order = core_->order(call.run, 0);
      launches_[static_cast<std::uint32_t>(call.run.job)].push_back(
          {order.gpus[0].mask, order.sharing});
      report.event = RunEvent::kReady;
    } else if (call.command == RunCommand::kGo) {
      report.event = RunEvent::kStarted;
      running_.insert(call.run);
    } else {
      running_.erase(call.run);
      report.event = RunEvent::kExited;
      report.outcome = RunOutcome::kStopped;
    }
    core_->hear(report, now_);
  }
  void uses(std::uint32_t id, double gpu, double memory_mb) {
    ProgressReport report;
    report.run = {JobId{id}, static_cast<std::uint32_t>(launches_.at(id).size())};
    report.metrics = {{"gpu_util", gpu}, {"gmem_util", gpu / 4}, {"gmem", memory_mb}, {"loss", 1}};
    core_->hear(report, now_);
    pass(0);
  }

  struct Launch {
    std::uint64_t gpus;
    Sharing sharing;
    friend bool operator==(const Launch&, const Launch&) = default;
  };
  using Launches = std::vector<Launch>;
  const Launch queue_{1, Sharing::kExclusive};
  const Launch profiler_{2, Sharing::kExclusive};

  TemporaryFolder folder_;
  std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
  std::unique_ptr<MemoryStore> store_;
  std::unique_ptr<CoreRecorder> recorder_;
  std::unique_ptr<Core> core_;
  Seconds now_ = 0;
  int steps_ = 0;
  std::set<RunId> running_;
  std::map<std::uint32_t, Launches> launches_;
};

TEST_F(CoreProfiling, LightJobsShareAfterwardsAndHeavyOnesDoNot) {
  submit(1);
  EXPECT_EQ(launches_[1], Launches({profiler_}));
  uses(1, 60, 2000);
  submit(2);
  EXPECT_EQ(launches_[2], Launches()) << "it waits for the profiler, and not for the free GPU";
  pass(9.9);
  EXPECT_EQ(launches_[1], Launches({profiler_}));
  pass(0.2);
  EXPECT_EQ(launches_[1], Launches({profiler_, queue_}));
  EXPECT_EQ(launches_[2], Launches({profiler_}));
  uses(2, 95, 2000);
  submit(3);
  pass(10);
  EXPECT_EQ(launches_[2], Launches({profiler_})) << "it is too heavy a neighbour";
  uses(3, 25, 3000);
  pass(11);
  EXPECT_EQ(launches_[3], Launches({profiler_, {1, Sharing::kShared}}));
  EXPECT_EQ(launches_[2], Launches({profiler_}));
}

// The same from what the driver says of the GPUs, of those who have them to themselves.
TEST_F(CoreProfiling, WhatTheDriverSaysOfItsGpusCounts) {
  const auto look = [this](double first, double second) {
    std::vector<GpuUse> uses(2);
    for (int gpu = 0; gpu < 2; ++gpu) {
      uses[static_cast<std::size_t>(gpu)].gpu.index = gpu;
      uses[static_cast<std::size_t>(gpu)].busy = gpu == 0 ? first : second;
      uses[static_cast<std::size_t>(gpu)].memory_busy = 0.1;
      uses[static_cast<std::size_t>(gpu)].memory_bytes = 2e9;
    }
    core_->see_gpus(uses, now_);
    pass(1);
  };
  submit(1);
  for (int i = 0; i < 12; ++i) look(0.5, 0.5);
  submit(2);
  for (int i = 0; i < 12; ++i) look(0.5, 0.2);
  ASSERT_EQ(launches_[2], Launches({profiler_, {1, Sharing::kShared}}));
  EXPECT_THAT(disk_->jobs.at(JobId{2}).metrics, HasSubstr("gpu_util=20 gmem_util=10 gmem=1907"));
  submit(3);
  // Two share the first GPU now: what they do there is nobody's measure.
  for (int i = 0; i < 3; ++i) look(1, 0.9);
  const JobMetrics& metrics = *core_->engine().view().metrics;
  for (const Slot slot : core_->engine().jobs().running()) {
    const Job& job = core_->engine().jobs()[slot];
    const double busy = *metrics.of(slot, metrics.names()[0]);
    EXPECT_NEAR(busy, job.spec.id == JobId{1} ? 50 : job.spec.id == JobId{2} ? 20 : 90, 1e-9);
  }
}

TEST_F(CoreProfiling, WhoWasNotMeasuredSharesWithNobody) {
  submit(1);
  submit(2);
  pass(25);
  EXPECT_EQ(launches_[1], Launches({profiler_, queue_}));
  EXPECT_EQ(launches_[2], Launches({profiler_}));
}

TEST_F(CoreProfiling, WhoIsTooLargeForTheProfilerDoesNotWaitForIt) {
  begin("1x4");
  submit(1, 2);
  EXPECT_EQ(launches_[1], Launches({{3, Sharing::kExclusive}}));
  submit(2, 4);
  pass(20);
  EXPECT_EQ(launches_[2], Launches()) << "three GPUs are left for the queue";
  EXPECT_EQ(disk_->jobs.at(JobId{2}).state, "refused");
}

TEST_F(CoreProfiling, WhoHasRunOnceIsNotProfiledAgain) {
  submit(1);
  pass(11);
  ASSERT_EQ(launches_[1], Launches({profiler_, queue_}));
  ASSERT_TRUE(core_->hold(JobId{1}, "a person"));
  pass(1);
  ASSERT_TRUE(core_->release(JobId{1}));
  pass(1);
  EXPECT_EQ(launches_[1], Launches({profiler_, queue_, queue_}));
}

TEST_F(CoreProfiling, WithoutItsNodeJobsGoToTheQueueAtOnce) {
  begin("2x1");
  ASSERT_TRUE(core_->drain("node1", true, "a person"));
  submit(1);
  EXPECT_EQ(launches_[1].size(), 1U);
  EXPECT_EQ(disk_->runs.at({JobId{1}, 1}).gpus[0].node, NodeId{0});
}

// A restart in the midst of it: the time there goes on, and what was measured before is kept.
TEST_F(CoreProfiling, ARestartForgetsNeitherTimeNorMeasures) {
  submit(1);
  uses(1, 60, 2000);
  pass(11);
  submit(2);
  uses(2, 25, 3000);
  pass(4);
  begin("1x2");
  EXPECT_EQ(launches_[1], Launches({profiler_, queue_}));
  EXPECT_EQ(launches_[2], Launches({profiler_}));
  submit(3);
  pass(5.9);
  EXPECT_EQ(launches_[2], Launches({profiler_}));
  uses(2, 25, 3000);
  pass(0.2);
  EXPECT_EQ(launches_[2], Launches({profiler_, {1, Sharing::kShared}}));
  EXPECT_EQ(launches_[3], Launches({profiler_}));
}

TEST_F(CoreProfiling, IsReplayedAcrossRestarts) {
  submit(1);
  uses(1, 60, 2000);
  pass(11);
  begin("1x2");
  submit(2);
  uses(2, 25, 3000);
  pass(11);
  ASSERT_EQ(launches_[2], Launches({profiler_, {1, Sharing::kShared}}));
  recorder_->flush();
  const auto outcome = replay_recording(recording());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->difference, "");
  EXPECT_EQ(outcome->segments, 2);
  EXPECT_GE(outcome->decisions, 10);
}

TEST_F(CoreProfiling, WhatIfsAndForksProfileAsWell) {
  submit(1);
  submit(2);
  const JobStory story = core_->explain(JobId{2});
  EXPECT_TRUE(story.waits);
  Question question;
  Subject subject = core_->subject(now_);
  const auto answer = ask(subject, question);
  ASSERT_TRUE(answer) << answer.error().message;
  question.scheduling = "sjf";
  EXPECT_TRUE(ask(subject, question));
  question.scheduling = "srtf";
  const auto refused = ask(subject, question);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("does not preempt"));
  question.scheduling = "elasticflow-as-coded";
  const auto published = ask(subject, question);
  ASSERT_FALSE(published);
  EXPECT_THAT(published.error().message, HasSubstr("counts on turns of the pacing"));
}

TEST(LiveProfiling, IsRefusedWhereItCannotBe) {
  const auto problem = [](const RunConfig& config) {
    const auto plan = make_live_plan(*complete_config(RunConfig(config)));
    return plan ? std::string() : plan.error().message;
  };
  EXPECT_EQ(problem(profiled_config("1x2")), "");
  EXPECT_THAT(problem(profiled_config("1x1")), HasSubstr("all GPUs would be the profiler's"));
  EXPECT_THAT(problem(profiled_config("1x2", "srtf")), HasSubstr("does not preempt"));
  RunConfig before = profiled_config("1x2");
  before.profiling.within = false;
  EXPECT_THAT(problem(before), HasSubstr("in advance"));
  before.profiling.online = true;
  EXPECT_THAT(problem(before), HasSubstr("nodes of its own"));
}

TEST(GpuMeter, AveragesWhatTheDriverSays) {
  GpuMeter meter;
  EXPECT_LT(meter.gpu_util(), 0);
  GpuUse use;
  use.busy = 0.2;
  use.memory_busy = 0.1;
  use.memory_bytes = 3.0 * 1024 * 1024;
  meter.see(use);
  use.busy = 0.4;
  use.memory_bytes = 1024 * 1024;
  use.memory_busy = -1;
  meter.see(use);
  EXPECT_DOUBLE_EQ(meter.gpu_util(), 30);
  EXPECT_DOUBLE_EQ(meter.memory_util(), 10);
  EXPECT_DOUBLE_EQ(meter.memory_mb(), 3);
  EXPECT_LT(meter.watts(), 0);
}

}  // namespace
}  // namespace muster
