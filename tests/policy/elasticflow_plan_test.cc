// The arithmetic of ElasticFlow: timelines of free GPUs, the plan of one job, and what a larger
// share would cost.
#include <random>

#include <gtest/gtest.h>

#include "artifacts/elasticflow/plans.h"
#include "policy/elasticflow/bid.h"
#include "policy/elasticflow/planner.h"

namespace muster {
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

std::string text(const GpuTimeline& timeline) {
  std::string text;
  for (const TimeStep& step : timeline) {
    text += std::to_string(static_cast<long>(step.at)) + ":" + std::to_string(step.gpus) + " ";
  }
  return text;
}

TEST(GpuTimeline, SplitsSetsAndCompacts) {
  GpuTimeline free(0, 8);
  free.set(100, 4);
  EXPECT_EQ(free.value_at(99), 8);
  EXPECT_EQ(free.value_at(100), 4);
  EXPECT_EQ(free.value_at(500), 4);
  EXPECT_EQ(free.split(50), 1U);
  EXPECT_EQ(text(free), "0:8 50:8 100:4 ");
  free.compact();
  EXPECT_EQ(text(free), "0:8 100:4 ");
}

TEST(GpuTimeline, AlignsToTheEndOfASlot) {
  EXPECT_EQ(align(10, 10, 60), 10);
  EXPECT_EQ(align(10, 11, 60), 70);
  EXPECT_EQ(align(10, 70, 60), 70);
  EXPECT_EQ(align(10, -5, 60), 10);
  EXPECT_EQ(align(10, -51, 60), -50);
}

TEST(SharePlan, TakesTheFewestGpusThatSuffice) {
  const PlanFrame frame{0, 60, 8};
  JobPlan plan;
  plan_minimum_share(frame, job_with(500, 600), GpuTimeline(0, 8), 0, plan);
  EXPECT_TRUE(plan.in_time);
  EXPECT_EQ(text(plan.gpus), "0:1 ");
  EXPECT_EQ(plan.exact, 500);
  EXPECT_EQ(plan.end, 540);
  EXPECT_EQ(text(plan.free), "0:7 540:8 ");
}

TEST(SharePlan, TakesTheLargerShareAsLateAsPossible) {
  // One GPU does 1200 by the deadline; the rest needs two in the later period.
  GpuTimeline free(0, 8);
  free.set(180, 7);
  const PlanFrame frame{0, 60, 8};
  JobPlan plan;
  plan_minimum_share(frame, job_with(1300, 1200), free, 0, plan);
  EXPECT_TRUE(plan.in_time);
  EXPECT_EQ(text(plan.gpus), "0:1 180:2 ");
  EXPECT_LE(plan.exact, 1200);
}

TEST(SharePlan, CountsTheLastSlotUpToTheDeadlineOnly) {
  const PlanFrame frame{0, 60, 8};
  JobPlan plan;
  // 601 units cannot be done by 600 with one GPU, although its slot ends at 600.
  plan_minimum_share(frame, job_with(601, 600), GpuTimeline(0, 8), 0, plan);
  EXPECT_EQ(plan.gpus[0].gpus, 2);
  // Nor by 599, although that slot ends at 600 too.
  plan_minimum_share(frame, job_with(600, 599), GpuTimeline(0, 8), 0, plan);
  EXPECT_EQ(plan.gpus[0].gpus, 2);
}

TEST(SharePlan, PlansAHopelessJobAllTheSame) {
  const PlanFrame frame{0, 60, 8};
  JobPlan plan;
  plan_minimum_share(frame, job_with(4000, 100), GpuTimeline(0, 8), 0, plan);
  EXPECT_FALSE(plan.in_time);
  EXPECT_EQ(plan.gpus[0].gpus, 8);
  EXPECT_EQ(plan.exact, 1020);  // 100 s at 4 per second to the deadline, the rest from 120 s on
  EXPECT_EQ(plan.free.value_at(plan.end), 8);
}

TEST(SharePlan, GivesNothingToABestEffortJobBeforeReservationsEnd) {
  GpuTimeline free(0, 3);
  free.set(240, 8);
  const PlanFrame frame{0, 60, 8};
  JobPlan plan;
  plan_minimum_share(frame, job_with(50, kFarDeadline), free, 0, plan);
  EXPECT_TRUE(plan.in_time);
  EXPECT_EQ(text(plan.gpus), "0:0 240:1 ");
}

TEST(SharePlan, StartsWithAGivenSize) {
  GpuTimeline free(0, 8);
  free.set(120, 6);
  const PlanFrame frame{0, 60, 8};
  JobPlan plan;
  plan_minimum_share(frame, job_with(800, 1200), free, 4, plan);
  EXPECT_EQ(plan.gpus[0].gpus, 4);
  EXPECT_EQ(plan.gpus[1].at, 120);
  EXPECT_EQ(plan.gpus[1].gpus, 1);
  EXPECT_EQ(text(without(plan.free, plan.gpus, plan.end)), text(free));
  EXPECT_EQ(gpu_seconds(plan.gpus, plan.end), 4 * 120 + 1 * (plan.end - 120));
}

TEST(SharePlan, NeverTakesMoreThanIsFree) {
  for (int work = 10; work < 6000; work += 37) {
    for (int deadline = 30; deadline < 1500; deadline += 97) {
      GpuTimeline free(0, 5);
      free.set(60, 1);
      free.set(180, 0);
      free.set(240, 6);
      free.set(600, 8);
      const PlanFrame frame{0, 60, 8};
      JobPlan plan;
      plan_minimum_share(frame, job_with(work, deadline), free, 0, plan);
      for (const TimeStep& step : plan.free) {
        ASSERT_GE(step.gpus, 0) << work << " by " << deadline;
        ASSERT_LE(step.gpus, 8);
      }
      ASSERT_EQ(plan.free[plan.free.size() - 1].gpus, 8);
      ASSERT_EQ(text(without(plan.free, plan.gpus, plan.end)), text(free))
          << work << " by " << deadline;
    }
  }
}

// A whole number from 0 to below `count`.
int draw(std::mt19937& random, int count) {
  return static_cast<int>(random() % static_cast<unsigned>(count));
}

GpuTimeline random_timeline(std::mt19937& random, int gpus, double grid) {
  GpuTimeline free(0, draw(random, gpus + 1));
  double at = 0;
  for (int i = 0; i < 8; ++i) {
    at += grid * (1 + draw(random, 5));
    free.set(at, draw(random, gpus + 1));
  }
  free.set(at + grid, gpus);
  free.compact();
  return free;
}

// Plans made at another time have steps that lie off the grid of this one.
TEST(SharePlan, FitsIntoStepsOffTheGrid) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const GpuTimeline free = random_timeline(random, 8, 17);
    const PlanFrame frame{0, 60, 8, false};
    JobPlan plan;
    const PlannedJob job = job_with(1 + draw(random, 3000), 20 + draw(random, 900));
    plan_minimum_share(frame, job, free, 0, plan);
    double work = 0;
    for (std::size_t s = 0; s < plan.gpus.size(); ++s) {
      const Seconds to = s + 1 < plan.gpus.size() ? plan.gpus[s + 1].at : plan.end;
      work += job.speed(plan.gpus[s].gpus) * (to - plan.gpus[s].at);
    }
    ASSERT_GE(work, job.left - 1e-6);
    if (plan.in_time) {
      ASSERT_LE(plan.end, job.deadline);
    }
    for (const TimeStep& step : plan.free) ASSERT_GE(step.gpus, 0);
    ASSERT_EQ(text(without(plan.free, plan.gpus, plan.end)), text(free)) << i;
  }
}

// The same with a larger share to begin with, late jobs among them: what a plan takes can be given
// back.
TEST(SharePlan, WithAFirstShareFitsIntoStepsOffTheGrid) {
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    const GpuTimeline free = random_timeline(random, 8, 17);
    const PlanFrame frame{0, 60, 8, false};
    const int first = 1 << draw(random, 4);
    if (first > free[0].gpus) continue;
    JobPlan plan;
    plan_minimum_share(frame, job_with(1 + draw(random, 3000), draw(random, 400) - 100), free,
                       first, plan);
    for (const TimeStep& step : plan.free) ASSERT_GE(step.gpus, 0);
    ASSERT_EQ(text(without(plan.free, plan.gpus, plan.end)), text(free)) << i;
  }
}

// A bid is what the plan would cost, and holds as long as what it has read.
TEST(Bid, IsTheCostOfThePlanWithoutThePlan) {
  std::mt19937 random(11);
  Bidder bidder;
  int kept = 0;
  for (int i = 0; i < 20000; ++i) {
    const bool on_grid = i % 2 == 0;
    const PlanFrame frame{0, 60, 8, on_grid,
                          on_grid ? &published::whole_second_rules() : &exact_rules()};
    const GpuTimeline before = random_timeline(random, 8, on_grid ? 60 : 17);
    const PlannedJob job = job_with(1 + draw(random, 3000), 20 + draw(random, 900));
    JobPlan own;
    plan_minimum_share(frame, job, before, 0, own);
    const int next = job.next(own.gpus[0].gpus);
    if (next == own.gpus[0].gpus || next > before[0].gpus) continue;
    const Bid bid = bidder.bid(frame, job, own.free, own.gpus, own.end, next);
    JobPlan larger;
    const auto cost = [&](const GpuTimeline& free) {
      plan_minimum_share(frame, job, without(free, own.gpus, own.end), next, larger);
      return gpu_seconds(larger.gpus, larger.end);
    };
    ASSERT_DOUBLE_EQ(bid.gpu_seconds, cost(own.free)) << i;
    // Somebody else takes or gives back GPUs for a while.
    GpuTimeline changed = own.free;
    const Seconds from = (on_grid ? 60 : 17) * draw(random, 12);
    const std::size_t first = changed.split(from);
    const std::size_t last = changed.split(from + (on_grid ? 60 : 17) * (1.0 + draw(random, 4)));
    const int step = draw(random, 2) == 0 ? 1 : -1;
    bool possible = true;
    for (std::size_t s = first; s < last; ++s) {
      changed[s].gpus += step;
      possible = possible && changed[s].gpus >= 0;
    }
    changed.compact();
    if (!possible || changed[0].gpus + own.gpus[0].gpus < next) continue;
    std::vector<TimeRange> changes;
    find_changes(own.free, changed, changes);
    if (bid.survives(changes) && bid.first_step == Bidder::first_step(changed, own.gpus, own.end)) {
      ++kept;
      ASSERT_DOUBLE_EQ(bid.gpu_seconds, cost(changed)) << i;
    }
  }
  EXPECT_GT(kept, 500);
}

}  // namespace
}  // namespace muster
