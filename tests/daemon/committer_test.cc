#include "daemon/committer.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "daemon/memory_store.h"
#include "daemon/store_fixture.h"

namespace muster {
namespace {

TEST(Committer, EveryThreadsBatchesAreOnTheDiskWhenItIsTold) {
  auto disk = std::make_shared<MemoryDisk>();
  MemoryStore store(disk);
  {
    Committer committer(store);
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < 4; ++t) {
      threads.emplace_back([&committer, t] {
        for (std::uint32_t i = 0; i < 50; ++i) {
          Batch batch;
          batch.jobs.emplace_back().id = JobId{t * 50 + i};
          EXPECT_TRUE(committer.commit(std::move(batch)));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(disk->jobs.size(), 200U);
  EXPECT_LE(disk->commits, 200U);
}

TEST(Committer, OrderIsKeptAndTheRestIsCommittedAtTheEnd) {
  auto disk = std::make_shared<MemoryDisk>();
  MemoryStore store(disk);
  std::atomic<int> told = 0;
  {
    Committer committer(store);
    for (int n = 0; n <= 100; ++n) {
      committer.submit(numbered_batch(n),
                       [&told](const Status& status) { told += status ? 1 : 0; });
    }
  }
  EXPECT_EQ(told, 101);
  EXPECT_EQ(number_in(*store.load()), 100);
}

TEST(Committer, AFailureIsToldToAll) {
  auto disk = std::make_shared<MemoryDisk>();
  MemoryStore store(disk);
  Committer committer(store);
  disk->full = true;
  EXPECT_FALSE(committer.commit(numbered_batch(1)));
  disk->full = false;
  EXPECT_TRUE(committer.commit(numbered_batch(2)));
}

}  // namespace
}  // namespace muster
