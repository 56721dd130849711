// What an executor reports beyond launches: nodes that go and come, GPUs that others use, and what
// people did to jobs with its tools.
#include <gtest/gtest.h>

#include "daemon/submission.h"

namespace muster {
namespace {

class CoreOutside : public ::testing::Test {
 protected:
  CoreOutside() {
    core_ = core_of(live_plan("2x4"));
    step();
  }

  void submit(std::uint32_t id, int gpus, const std::string& origin = {}) {
    JobRequest request = training(gpus);
    request.origin = origin;
    submit_to(*core_, JobId{id}, std::move(request), now_);
    step();
  }
  void step() {
    now_ += 1;
    core_->step(now_);
    CoreEffects more = core_->take(now_);
    for (const StoredJob& row : more.batch.jobs) jobs_[row.id] = row;
    for (const StoredNode& row : more.batch.nodes) nodes_[row.id] = row;
    calls_ = more.calls;
    over_.insert(over_.end(), more.over.begin(), more.over.end());
  }
  void hear(const Report& report) {
    core_->hear(report, now_);
    step();
  }
  void node(std::uint32_t id, bool up, bool drained, int taken) {
    hear(NodeReport{NodeId{id}, up, drained, taken, up ? "" : "no power"});
  }
  void runs(RunId run) {
    RunReport report;
    report.run = run;
    report.event = RunEvent::kReady;
    hear(report);
    report.event = RunEvent::kStarted;
    hear(report);
  }
  void person(JobReport::Kind kind, std::uint32_t job) {
    JobReport report;
    report.kind = kind;
    report.job = JobId{job};
    report.why = "by hand";
    hear(report);
  }
  int free() const { return core_->engine().view().cluster.free_gpus(); }
  int usable() const { return core_->engine().view().cluster.usable_gpus(); }

  std::unique_ptr<Core> core_;
  Seconds now_ = 0;
  std::map<JobId, StoredJob> jobs_;
  std::map<NodeId, StoredNode> nodes_;
  std::vector<LaunchCall> calls_;
  std::vector<JobOver> over_;
};

TEST_F(CoreOutside, NodesGoDrainAndComeBack) {
  node(1, false, false, 0);
  EXPECT_EQ(usable(), 4);
  EXPECT_FALSE(nodes_.at(NodeId{1}).up);
  EXPECT_EQ(nodes_.at(NodeId{1}).reason, "no power");
  node(1, false, false, 0);
  node(1, true, true, 0);
  EXPECT_EQ(usable(), 4);
  EXPECT_TRUE(nodes_.at(NodeId{1}).drained_outside);
  EXPECT_FALSE(nodes_.at(NodeId{1}).drained) << "not by us, so not for the next daemon either";
  // A person drains it as well: it comes back when both have had enough.
  ASSERT_TRUE(core_->drain("node1", true, "mine"));
  node(1, true, false, 0);
  EXPECT_EQ(usable(), 4);
  ASSERT_TRUE(core_->drain("node1", false, ""));
  step();
  EXPECT_EQ(usable(), 8);
  EXPECT_FALSE(nodes_.at(NodeId{1}).drained_outside);
  node(99, false, false, 0);
  EXPECT_EQ(usable(), 8);
}

TEST_F(CoreOutside, ALostNodeStopsItsLaunches) {
  submit(1, 8);
  runs({JobId{1}, 1});
  node(0, false, false, 0);
  ASSERT_EQ(calls_.size(), 1U);
  EXPECT_EQ(calls_[0].command, RunCommand::kStop);
  EXPECT_EQ(calls_[0].grace.seconds, 0);
}

TEST_F(CoreOutside, GpusOfOthersAreNotPlannedWith) {
  node(0, true, false, 3);
  EXPECT_EQ(free(), 5);
  submit(1, 8);
  EXPECT_EQ(jobs_.at(JobId{1}).launches, 0);
  node(0, true, false, 1);
  EXPECT_EQ(free(), 7);
  node(0, true, false, 0);
  EXPECT_EQ(jobs_.at(JobId{1}).launches, 1);
  // They are counted where nobody of ours is: what runs is left alone.
  runs({JobId{1}, 1});
  node(0, true, false, 2);
  EXPECT_TRUE(calls_.empty());
}

TEST_F(CoreOutside, WhatPeopleDidIsAdopted) {
  submit(1, 8);
  runs({JobId{1}, 1});
  submit(2, 8, "there:7@a");
  person(JobReport::Kind::kHeld, 2);
  EXPECT_EQ(jobs_.at(JobId{2}).reason, "by hand");
  person(JobReport::Kind::kHeld, 2);
  person(JobReport::Kind::kReleased, 2);
  person(JobReport::Kind::kReleased, 2);
  person(JobReport::Kind::kCancelled, 2);
  EXPECT_EQ(jobs_.at(JobId{2}).state, "cancelled");
  EXPECT_EQ(jobs_.at(JobId{2}).reason, "by hand");
  ASSERT_EQ(over_.size(), 1U);
  EXPECT_EQ(over_[0].job, JobId{2});
  EXPECT_EQ(over_[0].origin, "there:7@a");
  EXPECT_TRUE(over_[0].taken_back);
  person(JobReport::Kind::kCancelled, 2);
  person(JobReport::Kind::kSeen, 1);
  EXPECT_EQ(over_.size(), 1U) << "job 1 is wanted";
  person(JobReport::Kind::kSeen, 2);
  EXPECT_EQ(over_.size(), 2U) << "and job 2 is not";
}

}  // namespace
}  // namespace muster
