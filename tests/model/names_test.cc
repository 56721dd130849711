#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "model/decision.h"
#include "model/job.h"
#include "model/plan.h"

namespace muster {
namespace {

// Texts reach results and the command line: each is there, and none is used twice.
TEST(Names, OfActionsAndReasonsAreDistinct) {
  std::set<std::string_view> actions;
  for (int i = 0; i <= static_cast<int>(kLastAction); ++i) {
    EXPECT_TRUE(actions.insert(action_name(static_cast<Action>(i))).second);
  }
  std::set<std::string_view> reasons;
  std::set<std::string_view> sentences;
  for (int i = 0; i <= static_cast<int>(kLastReason); ++i) {
    EXPECT_TRUE(reasons.insert(reason_name(static_cast<Reason>(i))).second);
    EXPECT_TRUE(sentences.insert(reason_sentence(static_cast<Reason>(i))).second);
  }
  EXPECT_EQ(actions.count(""), 0U);
  EXPECT_EQ(reasons.count(""), 0U);
}

// Numbers are part of the result format: a change here breaks what was written before.
TEST(Names, KeepTheirNumbers) {
  EXPECT_EQ(static_cast<int>(Action::kStart), 4);
  EXPECT_EQ(static_cast<int>(Action::kSwitch), 13);
  EXPECT_EQ(static_cast<int>(Reason::kFirstInOrder), 6);
  EXPECT_EQ(static_cast<int>(Action::kUndrain), 17);
  EXPECT_EQ(static_cast<int>(Reason::kGrouped), 22);
  EXPECT_EQ(static_cast<int>(Reason::kRequested), 31);
  EXPECT_EQ(static_cast<int>(JobState::kCancelled), 7);
  EXPECT_EQ(reason_name(Reason::kNotEnoughFree), "not-enough-free");
  EXPECT_EQ(action_name(Action::kNodeDown), "node-down");
  EXPECT_EQ(job_state_name(JobState::kRefused), "refused");
}

TEST(Plan, SaysWhenLaterSharesCannotMatter) {
  Plan plan;
  plan.reset(4, Plan::Depth::kUntilBlocked);
  EXPECT_TRUE(plan.add(AllocationRequest::alone(Slot{0}, 3)));
  EXPECT_FALSE(
      plan.add(AllocationRequest::alone(Slot{1}, 3)));  // does not fit: nobody overtakes it
  plan.reset(4, Plan::Depth::kUntilFull);
  EXPECT_TRUE(plan.add(AllocationRequest::alone(Slot{0}, 3)));
  EXPECT_TRUE(plan.add(AllocationRequest::alone(Slot{1}, 3)));  // does not fit, but others might
  EXPECT_FALSE(plan.add(AllocationRequest::alone(Slot{2}, 1)));
  EXPECT_EQ(plan.requests().size(), 3U);
}

TEST(Plan, TakesManyAtOnceAsOneAfterTheOther) {
  std::vector<AllocationRequest> requests;
  for (const int gpus : {3, 4, 2, 1, 1}) {
    requests.push_back(AllocationRequest::alone(Slot{static_cast<std::uint32_t>(gpus)}, gpus));
  }
  requests.front().join(Slot{9});
  for (const Plan::Depth depth : {Plan::Depth::kUntilBlocked, Plan::Depth::kUntilFull,
                                  Plan::Depth::kUntilFirstMisfit, Plan::Depth::kAll}) {
    Plan one_by_one;
    one_by_one.reset(6, depth);
    for (const AllocationRequest& request : requests) one_by_one.add(request);
    Plan at_once;
    at_once.reset(6, depth);
    at_once.add(requests);
    EXPECT_EQ(at_once.left(), one_by_one.left());
    EXPECT_EQ(at_once.cut(), one_by_one.cut());
    ASSERT_EQ(at_once.requests().size(), one_by_one.requests().size());
    for (std::size_t i = 0; i < at_once.requests().size(); ++i) {
      EXPECT_EQ(at_once.requests()[i].jobs, one_by_one.requests()[i].jobs);
      EXPECT_EQ(at_once.requests()[i].size, one_by_one.requests()[i].size);
      EXPECT_EQ(at_once.requests()[i].gpus, one_by_one.requests()[i].gpus);
    }
  }
}

TEST(Plan, NamesTheFirstThatIsTurnedAwayAndSaysThatOthersAreMissing) {
  Plan plan;
  plan.reset(4, Plan::Depth::kUntilFirstMisfit);
  EXPECT_TRUE(plan.add(AllocationRequest::alone(Slot{0}, 2)));
  EXPECT_FALSE(plan.cut());
  EXPECT_TRUE(plan.add(AllocationRequest::alone(Slot{1}, 3)));
  EXPECT_FALSE(plan.cut());
  EXPECT_TRUE(plan.add(AllocationRequest::alone(Slot{2}, 3)));  // left out
  EXPECT_TRUE(plan.cut());
  EXPECT_EQ(plan.left(), 2);
  EXPECT_FALSE(plan.add(AllocationRequest::alone(Slot{3}, 2)));
  ASSERT_EQ(plan.requests().size(), 3U);
  EXPECT_EQ(plan.requests().back().lead(), Slot{3});

  // Where all fit, the one behind them still comes.
  plan.reset(4, Plan::Depth::kUntilFirstMisfit);
  EXPECT_TRUE(plan.add(AllocationRequest::alone(Slot{0}, 4)));
  EXPECT_FALSE(plan.add(AllocationRequest::alone(Slot{1}, 1)));
  EXPECT_EQ(plan.requests().size(), 2U);
  EXPECT_TRUE(plan.cut());

  plan.reset(4, Plan::Depth::kAll);
  EXPECT_TRUE(plan.add(AllocationRequest::alone(Slot{0}, 5)));
  EXPECT_TRUE(plan.add(AllocationRequest::alone(Slot{1}, 5)));
  EXPECT_EQ(plan.requests().size(), 2U);
  EXPECT_FALSE(plan.cut());
}

}  // namespace
}  // namespace muster
