// What people want of jobs: promised only where it can be kept, over a restart, too.
#include <gtest/gtest.h>

#include "daemon/core_on_disk.h"

namespace muster {
namespace {

using Changes = std::vector<std::pair<std::string, double>>;

class CoreChanges : public CoreOnDisk {
 protected:
  std::string refused(std::uint32_t job, const Changes& changes) {
    const Status done = core_->revise(JobId{job}, changes);
    return done ? "" : done.error().message;
  }
  int launched_with(std::uint32_t job, std::uint32_t launch) {
    return runs_.at({JobId{job}, launch}).gpus.gpus();
  }
};

TEST_F(CoreChanges, WhatARestartCouldNotReadIsRefused) {
  begin();
  JobRequest elastic = training(2);
  elastic.min_gpus = 1;
  elastic.max_gpus = 2;
  submit(1, elastic);
  submit(2, training(1));
  step();
  run(1, 1);
  const std::string before = jobs_.at(JobId{1}).description;
  EXPECT_NE(refused(1, {{"gpus", 4}}).find("a range of GPUs"), std::string::npos);
  EXPECT_NE(refused(2, {{"gpus", 5}}).find("job 2 cannot have 5 GPUs"), std::string::npos);
  step();
  EXPECT_EQ(jobs_.at(JobId{1}).description, before);
  EXPECT_FALSE(stops({JobId{1}, 1}));
  begin(stored());
  step();
  EXPECT_EQ(core_->frozen(), "");
  EXPECT_EQ(refused(1, {{"gpus", 1}}), "");
}

TEST_F(CoreChanges, OneThatIsOnHoldIsRevised) {
  begin();
  JobRequest held = training(1);
  held.hold = true;
  submit(1, held);
  step();
  EXPECT_EQ(refused(1, {{"gpus", 3}, {"priority", 7}}), "");
  step();
  ASSERT_EQ(effects_.requests.size(), 1);
  EXPECT_EQ(effects_.requests[0].second->gpus, 3);
  EXPECT_EQ(effects_.requests[0].second->priority, 7);
  ASSERT_TRUE(core_->release(JobId{1}));
  step();
  EXPECT_EQ(launched_with(1, 1), 3);
  run(1, 1);
  begin(stored());
  step();
  EXPECT_EQ(core_->frozen(), "");
}

TEST_F(CoreChanges, OneThatNobodyHasSeenIsRevised) {
  begin();
  submit(1, training(1));
  EXPECT_EQ(refused(1, {{"gpus", 2}}), "");
  step();
  EXPECT_EQ(launched_with(1, 1), 2);
}

TEST_F(CoreChanges, WhatRunsIsTrue) {
  begin();
  submit(1, training(1));
  submit(2, training(2));
  step();
  run(1, 1);
  run(2, 1);
  StoredWorld world = stored();
  world.jobs[0].description = job_request_text(training(3));
  begin(world);
  EXPECT_EQ(effects_.requests.at(0).second->gpus, 1);
  step();
  EXPECT_EQ(core_->frozen(), "");
  EXPECT_EQ(core_->engine().jobs().running().size(), 2);
  EXPECT_EQ(parse_job_request(jobs_.at(JobId{1}).description)->gpus, 1);
}

TEST_F(CoreChanges, WhatCannotBeReadFailsAlone) {
  begin();
  submit(1, training(1));
  submit(2, training(1));
  step();
  run(1, 1);
  run(2, 1);
  StoredWorld world = stored();
  world.jobs[0].description = R"({"command":["x"],"gpus":"many"})";
  begin(world);
  EXPECT_EQ(jobs_.at(JobId{1}).state, "failed");
  EXPECT_NE(jobs_.at(JobId{1}).reason.find("'gpus' is not a number"), std::string::npos);
  step();
  EXPECT_TRUE(stops({JobId{1}, 1}));
  EXPECT_FALSE(stops({JobId{2}, 1}));
  EXPECT_EQ(core_->frozen(), "");
  EXPECT_EQ(core_->engine().jobs().running().size(), 1);
}

// A job whose row denies the launch that there is would be launched by the same number again.
TEST_F(CoreChanges, OnceNothingIsDecidedJobsCanBeCancelledAndNothingElse) {
  begin();
  submit(1, training(1, 100));
  submit(2, training(1, 100));
  submit(3, training(4, 100));
  step();
  run(1, 1);
  run(2, 1);
  StoredWorld world = stored();
  world.jobs[0].launches = 0;
  world.jobs[0].state = "queued";
  begin(world);
  step();
  ASSERT_NE(core_->frozen(), "");
  for (const Status& status :
       {core_->hold(JobId{1}, "a person"), core_->revise(JobId{1}, {{"priority", 1}}),
        core_->drain("node0", true, "a person")}) {
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message.find("nothing is decided any more"), std::string::npos);
  }
  ASSERT_TRUE(core_->cancel(JobId{1}, "a person"));
  ASSERT_TRUE(core_->cancel(JobId{3}, "a person"));
  step();
  EXPECT_TRUE(stops({JobId{1}, 1}));
  EXPECT_FALSE(stops({JobId{2}, 1}));
  EXPECT_EQ(jobs_.at(JobId{1}).state, "cancelled");
  EXPECT_EQ(jobs_.at(JobId{3}).state, "cancelled");
  RunReport done;
  done.run = {JobId{2}, 1};
  done.event = RunEvent::kExited;
  done.outcome = RunOutcome::kFinished;
  core_->hear(done, now_);
  step();
  EXPECT_EQ(jobs_.at(JobId{2}).state, "finished");
}

}  // namespace
}  // namespace muster
