#include "backend/live/mailbox.h"

#include <thread>

#include <gtest/gtest.h>

namespace muster {
namespace {

using Clock = std::chrono::steady_clock;

TEST(Mailbox, ReportsOfManyThreadsArriveOnceAndInTheirOrder) {
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint32_t kEach = 500;
  Mailbox mailbox;
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&mailbox, t] {
      for (std::uint32_t i = 0; i < kEach; ++i) {
        mailbox.post(RunReport{.run = {JobId{t}, i}, .detail = {}});
      }
    });
  }
  std::vector<std::uint32_t> next(kThreads, 0);
  for (std::uint32_t seen = 0; seen < kThreads * kEach;) {
    for (const Report& report : mailbox.take(Clock::now() + std::chrono::seconds(10))) {
      const RunId run = std::get<RunReport>(report).run;
      EXPECT_EQ(run.launch, next[index(run.job)]++);
      ++seen;
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(mailbox.take(Clock::now()).empty());
}

TEST(Mailbox, WaitsNoLongerThanTold) {
  Mailbox mailbox;
  EXPECT_TRUE(mailbox.take(Clock::now() + std::chrono::milliseconds(5)).empty());
  std::thread waker([&mailbox] { mailbox.wake(); });
  const Clock::time_point before = Clock::now();
  EXPECT_TRUE(mailbox.take(before + std::chrono::seconds(60)).empty());
  EXPECT_LT(Clock::now() - before, std::chrono::seconds(50));
  waker.join();
}

}  // namespace
}  // namespace muster
