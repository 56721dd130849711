#include "policy/tiresias/duration_sample.h"

#include <cmath>

#include <gtest/gtest.h>

namespace muster {
namespace {

DurationSample sample_of(const char* text, double delta = 10) {
  DurationSample sample(delta);
  sample.read(text);
  return sample;
}

TEST(DurationSample, ReadsNumbersAndPassesOverTheHeading) {
  const DurationSample sample = sample_of("duration\n30\n10\n20\n");
  EXPECT_DOUBLE_EQ(sample.expected_remaining(0), 20);
  EXPECT_DOUBLE_EQ(sample.expected_remaining(15), 10);
  EXPECT_DOUBLE_EQ(sample.expected_remaining(30), 30) << "nothing known lasts longer";
  EXPECT_TRUE(sample_of("").empty());
}

// Two of three are over within the next 10 s, which takes 10, 10 and 10 s of service on average.
TEST(DurationSample, GittinsIndexIsChanceOverService) {
  const DurationSample sample = sample_of("5,8,100");
  // At 4: chance 2/3, service (5 + 8 + 10) / 3 rounded down = 7.
  EXPECT_NEAR(sample.gittins(0), 1e6 * 0.66667 / 7, 1e-3);
  EXPECT_EQ(sample.gittins(100), 0) << "beyond the longest";
  EXPECT_EQ(sample.next_change(0), 5);
  EXPECT_EQ(sample.next_change(5), 8);
  EXPECT_TRUE(std::isinf(sample.next_change(100)));
}

TEST(DurationSample, SumsThoseThatLastLonger) {
  const DurationSample sample = sample_of("30,10,20");
  EXPECT_EQ(sample.size(), 3U);
  EXPECT_EQ(sample.first_above(10), 1U);
  EXPECT_EQ(sample.duration(2), 30);
  EXPECT_DOUBLE_EQ(sample.sum(1, 3), 50);
}

}  // namespace
}  // namespace muster
