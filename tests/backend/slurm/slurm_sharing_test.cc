// Jobs that share GPUs of Slurm, by its shards.
#include <gmock/gmock.h>

#include "backend/slurm/slurm_desk_fixture.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(SlurmDeskTest, SharingNeedsShards) {
  RunOrder one = order(1, 1);
  one.sharing = Sharing::kShared;
  desk_->prepare(one);
  pass(1);
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
  EXPECT_THAT(last(kFirst).detail, HasSubstr("no shards"));
}

TEST_F(SlurmDeskTest, WhoIsAloneOnAGpuIsNotJoined) {
  slurm_.give_shards(4);
  begin();
  run(order(1, 1));
  RunOrder second = order(2, 1);
  second.sharing = Sharing::kShared;
  desk_->prepare(second);
  pass(1);
  EXPECT_THAT(last(second.run).detail, HasSubstr("was started alone"));
}

TEST_F(SlurmDeskTest, AJobThatIsToShareIsSubmittedAnew) {
  slurm_.give_shards(4);
  begin();
  run(order(1, 1));
  desk_->stop(kFirst, Grace{30}, slurm_.now());
  pass(2);
  desk_->acknowledge(kFirst);
  RunOrder shared = order(1, 2);
  shared.sharing = Sharing::kShared;
  run(shared);
  pass(3);
  EXPECT_EQ(last(kSecond).event, RunEvent::kStarted);
  pass(15);
  ASSERT_EQ(slurm_.all().size(), 2U);
  EXPECT_EQ(slurm_.job(1).row.state, SlurmState::kCancelled);
  EXPECT_EQ(slurm_.job(2).placed.per_node, "gres:shard:2");
  heard_.clear();
  begin();
  desk_->census(1);
  pass(3);
  EXPECT_EQ(last(kSecond).event, RunEvent::kSeenRunning);
  EXPECT_THAT(people(), IsEmpty()) << "nobody has cancelled it";
  EXPECT_THAT(slurm_.violations, IsEmpty());
}

}  // namespace
}  // namespace muster
