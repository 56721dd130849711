#include "report/time_left.h"

#include <algorithm>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

using Runs = std::vector<TimeLeft::Run>;

// Asks ten times a second until `end`; returns all answers.
std::vector<TimeLeft::Answer> follow(double end, std::size_t expected,
                                     const std::function<Runs(double)>& at) {
  TimeLeft left;
  std::vector<TimeLeft::Answer> answers;
  for (int tick = 0; tick <= static_cast<int>(end * 10); ++tick) {
    const double now = tick / 10.0;
    const Runs runs = at(now);
    if (const auto answer = left.at(now, runs, expected)) answers.push_back(*answer);
  }
  return answers;
}

void expect_never_climbs(const std::vector<TimeLeft::Answer>& answers) {
  ASSERT_FALSE(answers.empty());
  for (std::size_t i = 1; i < answers.size(); ++i) {
    EXPECT_LE(answers[i].seconds, answers[i - 1].seconds) << i;
  }
}

TEST(TimeLeft, IsThatOfTheSlowestRun) {
  // Three runs take a second, one takes a hundred: on average they are far already.
  const auto answers = follow(50, 4, [](double now) {
    Runs runs(4, {1000, 1000, now >= 1});
    for (std::size_t i = 0; i < 3 && now < 1; ++i) {
      runs[i].done = static_cast<std::uint64_t>(now * 1000);
    }
    runs[3] = {static_cast<std::uint64_t>(now * 10), 1000, false};
    return runs;
  });
  expect_never_climbs(answers);
  EXPECT_NEAR(answers.back().seconds, 50, 2);
  EXPECT_FALSE(answers.back().over);
}

TEST(TimeLeft, CountsRunsThatHaveNotBegun) {
  // One after the other, ten seconds each, in one thread.
  const auto answers = follow(25, 10, [](double now) {
    Runs runs;
    for (int i = 0; i * 10 <= now; ++i) {
      const double own = now - i * 10;
      runs.push_back({static_cast<std::uint64_t>(std::min(own, 10.0) * 10), 100, own >= 10});
    }
    return runs;
  });
  expect_never_climbs(answers);
  EXPECT_NEAR(answers.back().seconds, 75, 5);
}

TEST(TimeLeft, DoesNotClimbWhenARunSlowsDownButSaysSo) {
  const auto answers = follow(60, 1, [](double now) {
    const double done = now < 10 ? 50 * now : 500 + (now - 10);  // a fiftieth as fast from then on
    return Runs{{static_cast<std::uint64_t>(done), 1000, false}};
  });
  expect_never_climbs(answers);
  EXPECT_TRUE(answers.back().over);
}

TEST(TimeLeft, SaysNothingWithoutTotalOrBeforeAnythingIsDone) {
  EXPECT_TRUE(follow(5, 1, [](double now) {
                return Runs{{static_cast<std::uint64_t>(now * 100), 0, false}};
              }).empty());
  EXPECT_TRUE(follow(5, 2, [](double) { return Runs{{9, 9, true}, {0, 100, false}}; }).empty());
}

}  // namespace
}  // namespace muster
