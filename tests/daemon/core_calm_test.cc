// A policy that changes its mind whenever it is asked: live, it is asked when something happens
// outside, and never because of what its own orders did.
#include <gtest/gtest.h>

#include "daemon/submission.h"
#include "support/scripted_policy.h"

namespace muster {
namespace {

class CoreCalm : public ::testing::TestWithParam<Seconds> {
 protected:
  CoreCalm() {
    LivePlan plan = live_plan("1x1");
    // Whoever runs is the last in its order.
    plan.parts.policy_sets[0].scheduling =
        std::make_unique<ScriptedPolicy>([](const View& view, Plan& chosen) {
          for (const Slot slot : view.jobs.waiting()) {
            chosen.add(AllocationRequest::alone(slot, 1, kNoSymbol));
          }
          for (const Slot slot : view.jobs.running()) {
            chosen.add(AllocationRequest::alone(slot, 1, kNoSymbol));
          }
        });
    core_ = core_of(std::move(plan));
  }

  // The executor does all it is told to, and says so after a while.
  void live_until(Seconds end) {
    while (true) {
      const Seconds next =
          std::min(core_->due(), answers_.empty() ? kNever : answers_.begin()->first);
      if (next > end) break;
      now_ = std::max(now_, next);
      while (!answers_.empty() && answers_.begin()->first <= now_) {
        core_->hear(answers_.begin()->second, now_);
        answers_.erase(answers_.begin());
      }
      step();
      ASSERT_LT(++steps_, 500);
    }
    now_ = end;
  }
  void step() {
    core_->step(now_);
    for (const LaunchCall& call : core_->take(now_).calls) {
      RunReport report;
      report.run = call.run;
      report.event = call.command == RunCommand::kPrepare ? RunEvent::kReady
                     : call.command == RunCommand::kGo    ? RunEvent::kStarted
                                                          : RunEvent::kExited;
      report.outcome = RunOutcome::kStopped;
      answers_.emplace(now_ + GetParam(), report);
    }
  }

  std::unique_ptr<Core> core_;
  Seconds now_ = 0;
  std::multimap<Seconds, RunReport> answers_;
  int steps_ = 0;
};

TEST_P(CoreCalm, ItsOwnOrdersAreNoNews) {
  for (std::uint32_t job = 1; job <= 4; ++job) {
    submit_to(*core_, JobId{job}, training(1, 10'000), now_);
    step();
  }
  live_until(60);
  const long long turns = core_->engine().turns();
  EXPECT_LE(turns, 5);
  live_until(1000);
  EXPECT_EQ(core_->engine().turns(), turns);
  ASSERT_TRUE(core_->cancel(JobId{1}, "a person"));
  live_until(2000);
  EXPECT_LE(core_->engine().turns(), turns + 1);
}

INSTANTIATE_TEST_SUITE_P(Latencies, CoreCalm, ::testing::Values(0, 0.01, 3));

}  // namespace
}  // namespace muster
