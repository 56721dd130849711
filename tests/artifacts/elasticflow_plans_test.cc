// What the published ElasticFlow schedulers plan otherwise than ElasticFlow's planner.
#include <gtest/gtest.h>

#include "artifacts/elasticflow/plans.h"

namespace muster::published {
namespace {

constexpr ThroughputCurve::Point kLevels[] = {{1, 1.0}, {2, 1.8}, {4, 3.0}, {8, 4.0}};

PlannedJob job_with(double work, Seconds deadline) {
  PlannedJob job;
  job.levels = kLevels;
  job.cap = 8;
  job.left = work;
  job.deadline = deadline;
  return job;
}

TEST(GreedyPlan, TakesAllItCanUse) {
  GpuTimeline free(0, 3);
  free.set(100, 8);
  JobPlan plan;
  plan_greedy({0, 50, 8}, job_with(580, 300), free, plan);
  EXPECT_EQ(plan.gpus.value_at(0), 2);
  EXPECT_EQ(plan.gpus.value_at(100), 8);
  EXPECT_EQ(plan.end, 200);  // 180 in the first 100 s, then 4 per second
  EXPECT_TRUE(plan.in_time);
}

// 100 units of work at 3 a second.
TEST(WholeSecondRules, EndWorkOnAWholeSecondAndHoldItsSlot) {
  JobPlan exact;
  plan_minimum_share({0, 60, 4, false}, job_with(100, 34), GpuTimeline(0, 4), 0, exact);
  JobPlan whole;
  plan_minimum_share({0, 60, 4, true, &whole_second_rules()}, job_with(100, 34), GpuTimeline(0, 4),
                     0, whole);
  EXPECT_NEAR(exact.exact, 100.0 / 3, 1e-9);
  EXPECT_EQ(whole.exact, 34);
  EXPECT_EQ(whole.end, 60);
}

// It is late, and its first GPUs are held until the next step; the published planner takes them out
// of the first step alone.
TEST(WholeSecondRules, ForgetTheFirstGpusOfALateJob) {
  GpuTimeline free(0, 4);
  free.set(30, 3);
  free.set(600, 4);
  GpuTimeline exact = free;
  exact_rules().take_first(exact, 0, 2, 600, false);
  EXPECT_EQ(exact.value_at(0), 2);
  EXPECT_EQ(exact.value_at(30), 1);
  GpuTimeline whole = free;
  whole_second_rules().take_first(whole, 0, 2, 600, false);
  EXPECT_EQ(whole.value_at(0), 2);
  EXPECT_EQ(whole.value_at(30), 3);
  EXPECT_EQ(exact_rules().first_until(100, 40), kNever);
  EXPECT_EQ(whole_second_rules().first_until(100, 40), 40);
}

}  // namespace
}  // namespace muster::published
