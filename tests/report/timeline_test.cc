#include "report/timeline.h"

#include <string>

#include <gtest/gtest.h>

#include "fake_run.h"

namespace muster {
namespace {

TurnStats turn(Seconds time, int waiting, int used) {
  TurnStats stats;
  stats.time = time;
  stats.waiting = waiting;
  stats.used_gpus = used;
  stats.usable_gpus = 10;
  return stats;
}

TEST(Timeline, AveragesOverTheTimeThatAStateLasted) {
  TimelineFold fold(4);
  fold.on_turn(turn(0, 0, 4));
  fold.on_turn(turn(0.25, 8, 8));
  fold.on_turn(turn(1, 1, 10));
  fold.on_turn(turn(2, 0, 0));
  const Timeline timeline = fold.timeline();
  EXPECT_EQ(timeline.width, 1);
  ASSERT_EQ(timeline.buckets.size(), 2U);
  EXPECT_DOUBLE_EQ(timeline.buckets[0].used_gpus, 0.25 * 4 + 0.75 * 8);
  EXPECT_DOUBLE_EQ(timeline.buckets[0].waiting, 6);
  EXPECT_DOUBLE_EQ(timeline.buckets[1].used_gpus, 10);
}

TEST(Timeline, DoublesItsWidthAndLosesNothing) {
  TimelineFold fold(8);
  double area = 0;
  double stops = 0;
  for (int i = 0; i < 1000; ++i) {
    TurnStats stats = turn(i * 3.0, i % 7, i % 10);
    stats.stops = i % 3;
    stops += stats.stops;
    if (i < 999) area += 3.0 * stats.used_gpus;
    fold.on_turn(stats);
  }
  const Timeline timeline = fold.timeline();
  EXPECT_LE(timeline.buckets.size(), 8U);
  EXPECT_EQ(timeline.width, 512);
  double found = 0;
  double found_stops = 0;
  for (std::size_t i = 0; i < timeline.buckets.size(); ++i) {
    const double end = std::min(timeline.buckets[i].start + timeline.width, 2997.0);
    found += timeline.buckets[i].used_gpus * (end - timeline.buckets[i].start);
    found_stops += timeline.buckets[i].stops;
  }
  EXPECT_NEAR(found, area, 1e-6 * area);
  EXPECT_EQ(found_stops, stops);
}

TEST(Timeline, BridgesALongJumpInTime) {
  TimelineFold fold(100);
  fold.on_turn(turn(5, 1, 1));
  fold.on_turn(turn(1e9, 2, 2));
  const Timeline timeline = fold.timeline();
  EXPECT_LE(timeline.buckets.size(), 100U);
  for (const TimelineBucket& bucket : timeline.buckets) EXPECT_DOUBLE_EQ(bucket.used_gpus, 1);
}

TEST(Timeline, IsEmptyWithoutTurns) { EXPECT_TRUE(TimelineFold().timeline().buckets.empty()); }

TEST(Turns, AreWrittenInBloxColumnsAndWhatIsBusyBehindThem) {
  TurnStats stats = turn(300, 2, 7);
  stats.running = 5;
  stats.held = 1;
  stats.demanded_gpus = 12;
  stats.stops = 3;
  stats.skipped = 4;
  stats.blocking_index = 0.25;
  stats.busy = {0.5, 1, 2, 0};
  char line[kTurnRoom];
  EXPECT_EQ(std::string(line, put_turn(line, stats)), "300,8,2,5,3,12,3,1,4,0.25,0.5,1,2,0\n");
}

}  // namespace
}  // namespace muster
