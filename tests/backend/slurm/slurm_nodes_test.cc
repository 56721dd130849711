// Nodes of Slurm: down, drained, full, or counted wrongly, and whose GPUs others have.
#include <gmock/gmock.h>

#include "backend/slurm/slurm_desk_fixture.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(SlurmDeskTest, ANodeWithoutRoomIsLeftForAWhile) {
  slurm_.refuses[1] = "Resources";
  run(order(1, 1));
  EXPECT_THAT(events(kFirst), ElementsAre(RunEvent::kReady)) << "it may have room in a moment";
  pass(10);
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
  EXPECT_EQ(last(kFirst).detail, "Slurm does not start it on n1: Resources");
  EXPECT_TRUE(slurm_.job(1).row.held);
  pass(3);
  EXPECT_TRUE(nodes().back().drained);
  EXPECT_EQ(nodes().back().node, NodeId{0});
  pass(35);
  EXPECT_FALSE(nodes().back().drained);
}

TEST_F(SlurmDeskTest, ANodeWhoseCpusAreAllInUseHasNoFreeGpus) {
  slurm_.use_cpus("n2", 16, 16);
  pass(3);
  EXPECT_EQ(nodes().back().node, NodeId{1});
  EXPECT_EQ(nodes().back().taken, 4);
  slurm_.use_cpus("n2", 15, 16);
  pass(3);
  EXPECT_EQ(nodes().back().taken, 0);
}

TEST_F(SlurmDeskTest, NodesAreReportedBeforeTheirLaunchesEnd) {
  run(order(1, 1));
  heard_.clear();
  slurm_.node_fails("n1");
  pass(2);
  ASSERT_GE(heard_.size(), 2U);
  ASSERT_TRUE(std::holds_alternative<NodeReport>(heard_[0]));
  EXPECT_FALSE(std::get<NodeReport>(heard_[0]).up);
  EXPECT_EQ(last(kFirst).event, RunEvent::kExited);
  slurm_.node_returns("n1");
  slurm_.drain("n2", true);
  pass(3);
  EXPECT_TRUE(nodes()[nodes().size() - 2].up);
  EXPECT_TRUE(nodes().back().drained);
}

TEST_F(SlurmDeskTest, GpusOfOthersAreTaken) {
  slurm_.user_submits(3, false);
  pass(3);
  EXPECT_EQ(nodes().back().taken, 3);
  run(order(1, 1, {0, 0b1}));
  EXPECT_EQ(nodes().back().taken, 3) << "ours are not";
  slurm_.job(1).runs_for = 0;
  pass(3);
  EXPECT_EQ(nodes().back().taken, 0);
}

TEST_F(SlurmDeskTest, GpusThatSlurmLeftCountedAreTaken) {
  slurm_.count_wrongly("n1", 3);
  desk_->prepare(order(1, 1, {0b1111}));
  pass(0.5);
  desk_->go(kFirst, slurm_.now());
  pass(3);
  EXPECT_THAT(events(kFirst), ElementsAre(RunEvent::kReady)) << "it may be a moment's difference";
  pass(12);
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
  EXPECT_EQ(nodes().back().taken, 3);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("3 GPUs of n1 as used, and no job has them")));
  slurm_.count_wrongly("n1", 0);
  pass(3);
  EXPECT_EQ(nodes().back().taken, 0);
}

TEST_F(SlurmDeskTest, ANodeThatStartsNothingIsLeftAloneForAWhile) {
  slurm_.count_wrongly("n1", 1);
  pass(10);
  desk_->prepare(order(1, 1));
  pass(0.5);
  const auto id = std::prev(slurm_.all().end())->first;
  slurm_.job(id).eligible = 1e9;  // it would fit, and is not started
  desk_->go(kFirst, slurm_.now());
  pass(8);
  EXPECT_EQ(last(kFirst).event, RunEvent::kReady);
  pass(6);
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
  EXPECT_TRUE(nodes().back().drained);
  EXPECT_THAT(nodes().back().detail, HasSubstr("starts nothing"));
  EXPECT_THAT(said_.back(), HasSubstr("counts wrongly"));
  slurm_.count_wrongly("n1", 0);
  pass(5);
  EXPECT_FALSE(nodes().back().drained);
}

}  // namespace
}  // namespace muster
