// The turns of the pacings that published simulators take.
#include <gtest/gtest.h>

#include "artifacts/elasticflow/gathered_pacing.h"
#include "artifacts/gavel/lease_pacing.h"
#include "artifacts/muri/merged_events_pacing.h"
#include "artifacts/tiresias/steps_pacing.h"

namespace muster {
namespace {

Moments at(Seconds now, Seconds next_arrival, Seconds next_event) {
  Moments moments;
  moments.now = now;
  moments.next_arrival = next_arrival;
  moments.next_event = next_event;
  moments.active = true;
  return moments;
}

TEST(GatheredPacing, PutsEventsOffToTheEndOfTheSlot) {
  const auto pacing = make_gathered(60, Gathering::kEverything);
  EXPECT_EQ(pacing->next_turn(at(100, 110, 130)), 160);
  EXPECT_EQ(pacing->next_turn(at(100, 300, 250)), 250);
  // An event that is the only one left keeps its moment.
  EXPECT_EQ(pacing->next_turn(at(100, kNever, 130)), 130);
  EXPECT_TRUE(pacing->needs_last_arrival());
}

TEST(GatheredPacing, MayPutOffArrivalsAlone) {
  const auto arrivals = make_gathered(60, Gathering::kArrivals);
  EXPECT_EQ(arrivals->next_turn(at(100, 110, 130)), 130);
  EXPECT_EQ(arrivals->next_turn(at(100, 110, 500)), 160);
  Moments last = at(100, 110, 500);
  last.last_arrival = true;
  EXPECT_EQ(arrivals->next_turn(last), 110);
  const auto alone = make_gathered(60, Gathering::kArrivalsAlone);
  EXPECT_EQ(alone->next_turn(at(100, 400, 130)), 400);
  EXPECT_EQ(alone->next_turn(at(100, kNever, 130)), 160);
  const auto every = make_gathered(60, Gathering::kEverySlot);
  EXPECT_EQ(every->next_turn(at(100, 400, 130)), 160);
}

TEST(LeasePacing, TurnsWhenTheLeasesEnd) {
  const auto pacing = make_leases(360);
  EXPECT_EQ(pacing->next_turn(at(0, 10, 355)), 355);
  EXPECT_EQ(pacing->next_turn(at(0, 10, kNever)), 10);
  EXPECT_EQ(pacing->next_turn(at(7, kNever, kNever)), 7);
  EXPECT_EQ(pacing->length(), 360);
}

TEST(MergedEventsPacing, TakesACompletionWithTheArrivalAfterIt) {
  const auto pacing = make_merged_events({1e-9, 1e-4});
  EXPECT_EQ(pacing->next_turn(at(0, 100, 99.99995)), 100);
  EXPECT_EQ(pacing->next_turn(at(0, 100, 99.9)), 99.9);
  EXPECT_EQ(arrival_closeness(*pacing).absolute, 1e-4);
  EXPECT_EQ(arrival_closeness(*make_events()).absolute, 0);
}

TEST(StepsPacing, CountsFromTheLastTurn) {
  const auto pacing = make_steps(10);
  EXPECT_EQ(pacing->next_turn(at(3, 100, 15)), 23);
  EXPECT_EQ(pacing->next_turn(at(3, 7, 15)), 7);
  EXPECT_EQ(pacing->next_turn(at(3, 7, kNever)), 7);
  EXPECT_EQ(pacing->end_of(15, 23), 23);
}

}  // namespace
}  // namespace muster
