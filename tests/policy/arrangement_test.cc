#include "policy/arrangement.h"

#include <gtest/gtest.h>

#include "perf/product.h"
#include "support/gpus_on.h"
#include "support/simulation.h"
#include "workload/perf/models.h"

namespace muster {
namespace {

using Kind = PlacementDraft::Kind;

// Two nodes of two GPUs; jobs 0 and 1 run on a node each, jobs 2 and 3 wait. All ask for two GPUs.
class ArrangementTest : public ::testing::Test {
 protected:
  ArrangementTest() {
    for (std::uint32_t i = 0; i < 4; ++i) {
      JobSpec spec = job_of(0, 10, 2);
      spec.id = JobId{i};
      slots_.push_back(jobs_.add(spec));
      jobs_.set_state(slots_.back(), JobState::kQueued);
      if (i > 1) continue;
      jobs_[slots_[i]].gpus = gpus_on(i, 0b11);
      jobs_.set_state(slots_[i], JobState::kRunning);
      cluster_.take(jobs_[slots_[i]].gpus, kNoSymbol);
    }
    arrangement_.reset(view_);
  }
  void share(std::size_t a, std::size_t b) {
    jobs_[slots_[a]].next_co_located = slots_[b];
    jobs_[slots_[b]].next_co_located = slots_[a];
  }
  AllocationRequest request(std::initializer_list<std::size_t> who) const {
    AllocationRequest request;
    request.gpus = 2;
    for (const std::size_t i : who) request.join(slots_[i]);
    return request;
  }
  const std::vector<PlacementDraft::Step>& write() {
    arrangement_.write(draft_);
    return draft_.steps();
  }

  JobTable jobs_;
  ClusterState cluster_{std::make_shared<const ClusterSpec>(uniform_cluster(2, 2))};
  std::unique_ptr<PerfModel> perf_ = multiply({});
  View view_{0, 0, jobs_, cluster_, *perf_, nullptr, nullptr};
  std::vector<Slot> slots_;
  PlacementDraft draft_{jobs_, cluster_};
  Arrangement arrangement_;
};

TEST_F(ArrangementTest, WhatIsSoAlreadyCostsNoStep) {
  arrangement_.keep(slots_[0], request({0}), Reason::kFirstInOrder);
  arrangement_.put(request({1}), gpus_on(1, 0b11), Reason::kFirstInOrder);
  EXPECT_TRUE(write().empty());
}

TEST_F(ArrangementTest, WhoIsLeftOutStopsForTheFirstNewcomer) {
  arrangement_.keep(slots_[0], request({0}), Reason::kFirstInOrder);
  arrangement_.put(request({2}), gpus_on(1, 0b11), Reason::kBackfilled);
  const auto& steps = write();
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].kind, Kind::kStop);
  EXPECT_EQ(steps[0].job, slots_[1]);
  EXPECT_EQ(steps[0].other, JobId{2});
  EXPECT_EQ(steps[1].kind, Kind::kStart);
  EXPECT_EQ(steps[1].reason, Reason::kBackfilled);
  EXPECT_EQ(cluster_.free_gpus(), 0);
}

TEST_F(ArrangementTest, JobsMayChangePlacesAndAreNotPreempted) {
  arrangement_.put(request({0}), gpus_on(1, 0b11), Reason::kFirstInOrder);
  arrangement_.put(request({1}), gpus_on(0, 0b11), Reason::kFirstInOrder);
  const auto& steps = write();
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_TRUE(steps[0].kind == Kind::kStart && steps[0].lifted);
  EXPECT_TRUE(steps[1].kind == Kind::kStart && steps[1].lifted);
  EXPECT_EQ(draft_.lifted(), 0);
  EXPECT_EQ(*draft_.holding(slots_[0]), gpus_on(1, 0b11));
}

TEST_F(ArrangementTest, GroupsFormAroundWhoStays) {
  arrangement_.keep(slots_[1], request({2, 1, 3}), Reason::kFirstInOrder);
  const auto& steps = write();
  ASSERT_EQ(steps.size(), 3U);  // job 0 stops, 2 and 3 join
  EXPECT_EQ(steps[0].kind, Kind::kStop);
  EXPECT_EQ(steps[1].job, slots_[2]);
  EXPECT_EQ(steps[1].co_located_with, slots_[1]);
  EXPECT_EQ(steps[1].reason, Reason::kFirstInOrder);
  EXPECT_EQ(steps[2].reason, Reason::kGrouped);
  EXPECT_EQ(cluster_.free_gpus(), 2);
}

TEST_F(ArrangementTest, AGroupThatPartsIsReleasedByTheLast) {
  jobs_[slots_[2]].gpus = gpus_on(0, 0b11);
  jobs_.set_state(slots_[2], JobState::kRunning);
  share(0, 2);
  // Job 2 goes where job 1 was, job 0 keeps its GPUs alone.
  arrangement_.keep(slots_[0], request({0}), Reason::kFirstInOrder);
  arrangement_.put(request({2}), gpus_on(1, 0b11), Reason::kFirstInOrder);
  const auto& steps = write();
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].job, slots_[1]);
  EXPECT_EQ(steps[1].job, slots_[2]);
  EXPECT_TRUE(steps[1].lifted);
  EXPECT_EQ(cluster_.free_gpus(), 0);
}

}  // namespace
}  // namespace muster
