#include "engine/pacing.h"

#include <gtest/gtest.h>

#include "support/simulation.h"

namespace muster {
namespace {

Moments at(Seconds now, Seconds next_event = kNever, bool needs_periodic_turns = false) {
  Moments moments;
  moments.now = now;
  moments.next_event = next_event;
  moments.needs_periodic_turns = needs_periodic_turns;
  return moments;
}

TEST(Rounds, TurnAtTheNextMultipleWhereSomethingMayChange) {
  const auto rounds = make_rounds(300);
  EXPECT_EQ(rounds->first_turn(1000), 0);
  EXPECT_EQ(rounds->next_turn(at(0, kNever, true)), 300);
  EXPECT_EQ(rounds->next_turn(at(0, 300)), 300);
  EXPECT_EQ(rounds->next_turn(at(0, 301)), 600);
  EXPECT_EQ(rounds->next_turn(at(300, 300)), 600);
  EXPECT_EQ(rounds->next_turn(at(0)), kNever);
  EXPECT_EQ(rounds->end_of(301, 600), 600);
  EXPECT_EQ(rounds->length(), 300);
}

TEST(Rounds, CountTheTurnsTheyPassOver) {
  const auto rounds = make_rounds(300);
  EXPECT_EQ(rounds->skipped(0, 300), 0);
  EXPECT_EQ(rounds->skipped(0, 1500), 4);
  EXPECT_EQ(rounds->skipped(300, 300), 0);
  // Late turns count as those whose time they had.
  EXPECT_EQ(rounds->skipped(301, 605), 0);
  EXPECT_EQ(rounds->skipped(301, 950), 1);
}

// A live clock is always a little late: the next turn is nevertheless on the grid.
TEST(Grid, DoesNotDriftWhenTurnsAreLate) {
  for (const char* name : {"rounds", "slots", "ticks"}) {
    const auto pacing = make_pacing({name, {{"length", "0.1"}}});
    EXPECT_EQ(pacing->next_turn(at(0.1003, kNever, true)), 0.2);
    EXPECT_EQ(pacing->next_turn(at(0.1999, kNever, true)), 0.2);
    // Late by more than a whole length: what was missed is not made up for.
    EXPECT_EQ(pacing->next_turn(at(0.4501, kNever, true)), 0.5);
    EXPECT_EQ(pacing->next_turn(at(0.1003, 0.55)), 6 * 0.1);
  }
}

// Most multiples of 0.1 are not what adding 0.1 again and again gives; the grid is the multiples.
TEST(Grid, IsTheMultiplesOfTheLengthExactly) {
  for (const double length : {0.1, 0.3, 1.0 / 3, 0.7, 1e-3, 60.0, 299.99}) {
    for (const auto& pacing : {make_rounds(length), make_slots(length), make_ticks(length)}) {
      for (int k = 0; k < 3000; ++k) {
        const Seconds now = k * length;
        const Seconds next = (k + 1) * length;
        ASSERT_EQ(pacing->next_turn(at(now, kNever, true)), next) << k << " times " << length;
        ASSERT_EQ(pacing->next_turn(at(now, next)), next) << k << " times " << length;
        ASSERT_EQ(pacing->next_turn(at(now, std::nextafter(next, kNever))), (k + 2) * length);
        ASSERT_EQ(pacing->skipped(now, next), 0);
      }
    }
  }
}

TEST(Slots, BookExactEnds) {
  const auto slots = make_slots(60);
  EXPECT_EQ(slots->first_turn(61), 120);
  EXPECT_EQ(slots->first_turn(120), 120);
  EXPECT_EQ(slots->end_of(61.5, 120), 61.5);
  EXPECT_EQ(slots->skipped(0, 600), 0);
}

TEST(Ticks, BookEndsOnTheTick) {
  const auto ticks = make_ticks(1);
  EXPECT_EQ(ticks->first_turn(0.5), 1);
  EXPECT_EQ(ticks->end_of(61.5, 62), 62);
}

TEST(Events, TurnWhenSomethingHappens) {
  const auto events = make_events();
  EXPECT_EQ(events->first_turn(12.5), 12.5);
  Moments moments = at(5, 20);
  EXPECT_EQ(events->next_turn(moments), 20);
  moments.next_arrival = 10;
  EXPECT_EQ(events->next_turn(moments), 10);
  moments.wake = 7;
  EXPECT_EQ(events->next_turn(moments), 7);
  EXPECT_EQ(events->next_turn(at(5, kNever, true)), kNever);
  EXPECT_EQ(events->end_of(6, 6), 6);
  EXPECT_EQ(events->length(), 0);
}

// One small scene under each pacing: two GPUs, a job that takes both for 15.5 s, and one that comes
// at 3 s and wants one for 5 s.
struct Scene {
  const char* pacing;
  const char* length;
  Seconds first_end;
  Seconds second_start;
  Seconds second_end;
};

class PacingScene : public ::testing::TestWithParam<Scene> {};

TEST_P(PacingScene, HasTheTimelineOfItsKind) {
  const Scene& scene = GetParam();
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 2);
  scenario.jobs = {job_of(0, 15.5, 2), job_of(3, 5, 1)};
  scenario.pacing = {scene.pacing, {}};
  if (*scene.length != '\0') scenario.pacing.params["length"] = scene.length;
  const RunLog log = simulate(scenario);
  ASSERT_EQ(log.jobs.size(), 2U);
  EXPECT_EQ(log.job(0).start, 0);
  EXPECT_EQ(log.job(0).end, scene.first_end);
  EXPECT_EQ(log.job(1).start, scene.second_start);
  EXPECT_EQ(log.job(1).end, scene.second_end);
  EXPECT_EQ(log.job(1).queue, scene.second_start - 3);
}

INSTANTIATE_TEST_SUITE_P(All, PacingScene,
                         ::testing::Values(Scene{"rounds", "10", 20, 20, 30},
                                           Scene{"slots", "10", 15.5, 20, 25},
                                           Scene{"ticks", "1", 16, 16, 21},
                                           Scene{"events", "", 15.5, 15.5, 20.5}),
                         [](const auto& scene) { return std::string(scene.param.pacing); });

TEST(Rounds, OfARunAreAllCountedButOnlyThoseThatMatterTakePlace) {
  Scenario scenario;
  scenario.jobs = {job_of(25, 100)};
  scenario.pacing = {"rounds", {{"length", "10"}}};
  TestRun simulation(scenario);
  const RunLog& log = simulation.run();
  // 0 (the first turn), 30 (the job starts), 130 (it is seen to be done).
  ASSERT_EQ(log.turns.size(), 3U);
  EXPECT_EQ(log.turns[0].time, 0);
  EXPECT_EQ(log.turns[1].time, 30);
  EXPECT_EQ(log.turns[1].previous, 0);
  EXPECT_EQ(log.turns[1].skipped, 2);
  EXPECT_EQ(log.turns[2].time, 130);
  EXPECT_EQ(log.turns[2].skipped, 9);
  EXPECT_EQ(simulation.engine().turns(), 14);
}

}  // namespace
}  // namespace muster
