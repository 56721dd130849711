#include "daemon/memory_store.h"

#include <gtest/gtest.h>

#include "daemon/store_fixture.h"

namespace muster {
namespace {

TEST(MemoryStore, AcknowledgedCommitsSurviveACrashAtAnyCommit) {
  for (const bool after : {false, true}) {
    for (int crash_at = 0; crash_at < 6; ++crash_at) {
      auto disk = std::make_shared<MemoryDisk>();
      disk->commits_to_crash = crash_at;
      disk->crash_after = after;
      MemoryStore store(disk);
      int acknowledged = -1;
      for (int n = 0; n < 6; ++n) {
        if (commit_one(store, numbered_batch(n))) acknowledged = n;
      }
      EXPECT_TRUE(store.crashed());
      EXPECT_FALSE(store.load());
      EXPECT_EQ(acknowledged, crash_at - 1);

      MemoryStore again(disk);
      const Result<StoredWorld> world = again.load();
      ASSERT_TRUE(world);
      EXPECT_EQ(world->generation, 2);
      EXPECT_EQ(number_in(*world), after ? crash_at : crash_at - 1);
      EXPECT_TRUE(commit_one(again, numbered_batch(9)));
    }
  }
}

TEST(MemoryStore, AFullDiskTakesNothing) {
  auto disk = std::make_shared<MemoryDisk>();
  MemoryStore store(disk);
  ASSERT_TRUE(commit_one(store, numbered_batch(1)));
  disk->full = true;
  EXPECT_FALSE(commit_one(store, numbered_batch(2)));
  EXPECT_EQ(number_in(*store.load()), 1);
  disk->full = false;
  EXPECT_TRUE(commit_one(store, numbered_batch(3)));
  EXPECT_EQ(number_in(*store.load()), 3);
}

}  // namespace
}  // namespace muster
