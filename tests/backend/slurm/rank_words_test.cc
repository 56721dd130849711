// The talk between a daemon and the ranks of a launch through files: with a real client, and with
// ranks that the test plays.
#include "backend/slurm/rank_words.h"

#include <cstdlib>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../include/muster/job.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

constexpr RunId kLaunch{JobId{7}, 3};

class RankWordsTest : public ::testing::Test {
 protected:
  RankWordsTest() { EXPECT_TRUE(make_rank_words(folder_.path())); }
  void says(int rank, const std::string& text) const {
    std::ofstream(folder_.path() / fmt::format("rank-{}.words", rank), std::ios::app) << text;
  }
  std::string told() const {
    std::ifstream file(folder_.path() / "words");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder_;
};

TEST_F(RankWordsTest, ProgressIsHeardOnce) {
  RankWords words(folder_.path(), kLaunch, 2);
  words.hear(false);
  EXPECT_FALSE(words.take_progress());
  says(0, "hello - 0\nstep 0 100\nstep 12 100\nmetric loss 0.5\nsaved 10\nst");
  words.hear(false);
  const auto progress = words.take_progress();
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->run, kLaunch);
  EXPECT_EQ(progress->step, 12);
  EXPECT_EQ(progress->total, 100);
  EXPECT_EQ(progress->saved_step, 10);
  ASSERT_EQ(progress->metrics.size(), 1U);
  EXPECT_EQ(progress->metrics[0].second, 0.5);
  words.hear(false);
  EXPECT_FALSE(words.take_progress());
  says(0, "ep 13 100\n");  // the rest of the line
  words.hear(false);
  EXPECT_EQ(words.take_progress()->step, 13);
}

TEST_F(RankWordsTest, AllRanksAgreeOnTheLastStepAcrossARestartOfTheDaemon) {
  RankWords words(folder_.path(), kLaunch, 2);
  for (int rank : {0, 1}) says(rank, fmt::format("hello - {}\nstep 5 100\n", rank));
  words.hear(true);
  EXPECT_TRUE(words.someone_listens());
  words.ask_to_leave();
  EXPECT_EQ(told(), "where\n");
  says(0, "at 5\n");
  words.hear(true);
  EXPECT_EQ(told(), "where\n") << "the other has not answered";
  RankWords later(folder_.path(), kLaunch, 2);
  says(1, "at 6\n");
  later.hear(true);
  EXPECT_EQ(told(), "where\nlast 7\n");
  RankWords latest(folder_.path(), kLaunch, 2);
  latest.ask_to_leave();
  latest.hear(true);
  EXPECT_EQ(told(), "where\nlast 7\n") << "it is not said twice";
  for (int rank : {0, 1}) says(rank, "left 7\n");
  latest.hear(true);
  EXPECT_TRUE(latest.left());
  EXPECT_FALSE(latest.someone_listens());
  EXPECT_EQ(latest.saved_step(), 7);
}

TEST_F(RankWordsTest, NonsenseIsNotHeard) {
  RankWords words(folder_.path(), kLaunch, 3);
  says(0, "step 5 100\n");  // without a greeting
  says(1, "hello - 1\nstep -5 100\nstep 9\n");
  says(2, std::string(100'000, 'x'));
  for (int look = 0; look < 3; ++look) words.hear(true);
  EXPECT_FALSE(words.take_progress());
  EXPECT_FALSE(words.someone_listens());
}

TEST_F(RankWordsTest, TheClientInCppLeavesAfterTheLastStep) {
  setenv("MUSTER_LAUNCH_FOLDER", folder_.path().c_str(), 1);
  unsetenv("MUSTER_JOB_SOCKET");
  std::int64_t completed = 0;
  bool leaving = false;
  std::thread rank([&] {
    muster_job::Job job;
    EXPECT_TRUE(job.scheduled());
    while (job.next(completed, 1'000'000)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++completed;
    }
    leaving = job.leaving();
    if (leaving) job.left(completed);
  });
  RankWords words(folder_.path(), kLaunch, 1);
  const auto hear_until = [&](auto condition) {
    for (int look = 0; look < 1000 && !condition(); ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      words.hear(true);
    }
    return condition();
  };
  EXPECT_TRUE(hear_until([&] { return words.someone_listens(); }));
  words.ask_to_leave();
  EXPECT_TRUE(hear_until([&] { return words.left(); }));
  rank.join();
  unsetenv("MUSTER_LAUNCH_FOLDER");
  EXPECT_TRUE(leaving);
  EXPECT_EQ(words.saved_step(), static_cast<double>(completed));
}

}  // namespace
}  // namespace muster
