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

// Of three past durations two end within the next 10 s, after 5 and 8 s; the third takes all 10.
TEST(DurationSample, GittinsIndexIsChanceOverService) {
  const DurationSample sample = sample_of("5,8,100");
  EXPECT_DOUBLE_EQ(sample.gittins(0), (2.0 / 3) / ((5 + 8 + 10) / 3.0));
  EXPECT_DOUBLE_EQ(sample.gittins(4), (2.0 / 3) / ((1 + 4 + 10) / 3.0)) << "less what was had";
  EXPECT_DOUBLE_EQ(sample.gittins(5), (1.0 / 2) / ((3 + 10) / 2.0)) << "5 is not longer";
  EXPECT_DOUBLE_EQ(sample.gittins(6.5), (1.0 / 2) / ((1.5 + 10) / 2.0)) << "not rounded";
  EXPECT_EQ(sample.gittins(8), 0) << "the last takes longer than 10";
  EXPECT_DOUBLE_EQ(sample.gittins(90), 1.0 / 10) << "the longest counts, too";
  EXPECT_DOUBLE_EQ(sample.gittins(98), 1.0 / 2);
  EXPECT_EQ(sample.gittins(100), 0) << "beyond the longest";
  EXPECT_EQ(sample_of("").gittins(0), 0);
}

// The order may be left alone until the next change only because of this.
TEST(DurationSample, GittinsIndexGrowsUntilItsNextChange) {
  const DurationSample sample = sample_of("2.5,8,8,13,40,55,55.25,300", 20);
  double attained = 0;
  int changes = 0;
  while (sample.gittins(attained) > 0 || attained < 300) {
    const double next = sample.next_change(attained);
    double before = sample.gittins(attained);
    for (double at = attained; at < next; at += 0.125) {
      EXPECT_GE(sample.gittins(at), before) << at;
      before = sample.gittins(at);
    }
    EXPECT_LT(sample.gittins(next), before) << next;
    attained = next;
    ++changes;
  }
  EXPECT_EQ(changes, 7) << "two are equal";
}

TEST(DurationSample, KnowsTheNextChange) {
  const DurationSample sample = sample_of("5,8,100");
  EXPECT_EQ(sample.next_change(0), 5);
  EXPECT_EQ(sample.next_change(5), 8);
  EXPECT_EQ(sample.next_change(4.999999999), 8) << "rounding left it a hair short";
  EXPECT_NEAR(sample.gittins(4.999999999), sample.gittins(5), 1e-9) << "as the index has it";
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
