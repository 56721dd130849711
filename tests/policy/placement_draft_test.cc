#include "policy/placement_draft.h"

#include <gtest/gtest.h>

#include "support/gpus_on.h"
#include "support/simulation.h"

namespace muster {
namespace {

// Two nodes of four GPUs; jobs 0 and 1 run on two GPUs of node 0 each, jobs 2 and 3 wait.
class PlacementDraftTest : public ::testing::Test {
 protected:
  PlacementDraftTest() {
    for (int i = 0; i < 4; ++i) {
      JobSpec spec = job_of(0, 10, 2);
      spec.id = JobId{static_cast<std::uint32_t>(i)};
      slots_.push_back(jobs_.add(spec));
      jobs_.set_state(slots_.back(), JobState::kQueued);
    }
    for (int i = 0; i < 2; ++i) {
      Job& job = jobs_[slots_[static_cast<std::size_t>(i)]];
      job.gpus = gpus_on(0, i == 0 ? 0b0011 : 0b1100);
      jobs_.set_state(job.self, JobState::kRunning);
      cluster_.take(job.gpus, kNoSymbol);
    }
  }

  JobTable jobs_;
  ClusterState cluster_{std::make_shared<const ClusterSpec>(uniform_cluster(2, 4))};
  std::vector<Slot> slots_;
  PlacementDraft draft_{jobs_, cluster_};
};

TEST_F(PlacementDraftTest, ChangesTheClusterButNotTheJobs) {
  EXPECT_TRUE(draft_.holds(slots_[0]));
  draft_.stop(slots_[0], Reason::kOutranked, JobId{2});
  EXPECT_FALSE(draft_.holds(slots_[0]));
  EXPECT_EQ(cluster_.free_mask(NodeId{0}), 0b0011U);
  EXPECT_TRUE(jobs_[slots_[0]].running());
  draft_.start(AllocationRequest::alone(slots_[2], 2), gpus_on(0, 0b0011), Reason::kFirstInOrder);
  EXPECT_EQ(*draft_.holding(slots_[2]), gpus_on(0, 0b0011));
  EXPECT_EQ(cluster_.free_on(NodeId{0}), 0);
  ASSERT_EQ(draft_.steps().size(), 2U);
  EXPECT_EQ(draft_.steps()[0].kind, PlacementDraft::Kind::kStop);
  EXPECT_EQ(draft_.steps()[0].other, JobId{2});
  EXPECT_EQ(draft_.steps()[1].kind, PlacementDraft::Kind::kStart);
}

TEST_F(PlacementDraftTest, AJobMayStopAndStartAgain) {
  draft_.stop(slots_[0], Reason::kElastic);
  draft_.start(AllocationRequest::alone(slots_[0], 4), gpus_on(1, 0b1111), Reason::kElastic);
  EXPECT_EQ(draft_.holding(slots_[0])->gpus(), 4);
  draft_.stop(slots_[0], Reason::kOutranked);
  EXPECT_FALSE(draft_.holds(slots_[0]));
  EXPECT_EQ(cluster_.free_gpus(), 6);
}

TEST_F(PlacementDraftTest, SharedGpusAreReleasedByTheLastToLeave) {
  draft_.join(slots_[2], slots_[0], Reason::kGrouped);
  draft_.join(slots_[3], slots_[0], Reason::kGrouped);
  EXPECT_EQ(cluster_.used_gpus(), 4);
  EXPECT_EQ(*draft_.holding(slots_[2]), gpus_on(0, 0b0011));
  EXPECT_EQ(draft_.steps()[0].co_located_with, slots_[0]);
  draft_.stop(slots_[0], Reason::kOutranked);
  draft_.stop(slots_[2], Reason::kOutranked);
  EXPECT_EQ(cluster_.free_mask(NodeId{0}), 0U);
  draft_.stop(slots_[3], Reason::kOutranked);
  EXPECT_EQ(cluster_.free_mask(NodeId{0}), 0b0011U);
}

TEST_F(PlacementDraftTest, OldGroupsAreReleasedByTheLastToLeave) {
  jobs_[slots_[2]].gpus = jobs_[slots_[0]].gpus;
  jobs_.set_state(slots_[2], JobState::kRunning);
  jobs_[slots_[0]].next_co_located = slots_[2];
  jobs_[slots_[2]].next_co_located = slots_[0];
  draft_.stop(slots_[2], Reason::kOutranked);
  EXPECT_EQ(cluster_.free_mask(NodeId{0}), 0U);
  draft_.stop(slots_[0], Reason::kOutranked);
  EXPECT_EQ(cluster_.free_mask(NodeId{0}), 0b0011U);
}

TEST_F(PlacementDraftTest, AShareOfSeveralStartsTogether) {
  AllocationRequest request = AllocationRequest::alone(slots_[2], 2);
  request.join(slots_[3]);
  draft_.start(request, gpus_on(1, 0b0011), Reason::kFirstInOrder);
  EXPECT_EQ(*draft_.holding(slots_[3]), gpus_on(1, 0b0011));
  EXPECT_EQ(cluster_.used_gpus(), 6);
  EXPECT_EQ(draft_.steps()[1].reason, Reason::kGrouped);
  EXPECT_EQ(draft_.steps()[1].other, JobId{2});
}

TEST_F(PlacementDraftTest, RemembersTheFirstBlockOnly) {
  EXPECT_EQ(draft_.blocked(), nullptr);
  draft_.block(AllocationRequest::alone(slots_[2], 8), Reason::kNotEnoughFree);
  draft_.block(AllocationRequest::alone(slots_[3], 2), Reason::kFragmented);
  ASSERT_NE(draft_.blocked(), nullptr);
  EXPECT_EQ(draft_.blocked()->request.lead(), slots_[2]);
  EXPECT_EQ(draft_.blocked()->reason, Reason::kNotEnoughFree);
  EXPECT_EQ(draft_.blocked()->free, 4);
  draft_.reset();
  EXPECT_EQ(draft_.blocked(), nullptr);
  EXPECT_TRUE(draft_.holds(slots_[0]));
}

TEST_F(PlacementDraftTest, CoresFollowTheGpusThroughStopsAndChanges) {
  ClusterSpec spec = uniform_cluster(1, 4);
  spec.nodes[0].cpus = 16;
  ClusterState cluster(std::make_shared<const ClusterSpec>(spec));
  PlacementDraft draft(jobs_, cluster);
  draft.start(AllocationRequest::alone(slots_[2], 2), gpus_on(0, 0b11), Reason::kFirstInOrder,
              {4, 0});
  EXPECT_EQ(cluster.free_cpus(NodeId{0}), 8);
  draft.rehost(slots_[2], {1, 0});
  EXPECT_EQ(cluster.free_cpus(NodeId{0}), 14);
  EXPECT_EQ(draft.host_of(slots_[2]).cpus_per_gpu, 1);
  draft.join(slots_[3], slots_[2], Reason::kGrouped);
  draft.rehost(slots_[2], {2, 0});
  EXPECT_EQ(draft.host_of(slots_[3]).cpus_per_gpu, 2);
  draft.stop(slots_[2], Reason::kOutranked);
  EXPECT_EQ(cluster.free_cpus(NodeId{0}), 12);
  draft.stop(slots_[3], Reason::kOutranked);
  EXPECT_EQ(cluster.free_cpus(NodeId{0}), 16);
  // What was said about its cores before it stopped does not hold for its next start.
  draft.start(AllocationRequest::alone(slots_[2], 2), gpus_on(0, 0b11), Reason::kFirstInOrder,
              {3, 0});
  EXPECT_EQ(draft.host_of(slots_[2]).cpus_per_gpu, 3);
}

}  // namespace
}  // namespace muster
