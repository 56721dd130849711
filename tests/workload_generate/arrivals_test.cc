#include "workload/generate/arrivals.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

constexpr Seconds kWeek = 7 * 86400;

// Counts arrivals per hour of the week.
std::vector<double> per_hour_of_week(ArrivalProcess& arrivals, int weeks, double* total = nullptr) {
  Random random(21);
  std::vector<double> counts(168);
  double jobs = 0;
  Seconds before = 0;
  while (true) {
    const Seconds time = arrivals.next(random).time;
    EXPECT_GE(time, before);
    before = time;
    if (time >= weeks * kWeek) break;
    counts[static_cast<std::size_t>(std::fmod(time, kWeek) / 3600)] += 1.0 / weeks;
    ++jobs;
  }
  if (total != nullptr) *total = jobs / (weeks * kWeek);
  return counts;
}

TEST(Arrivals, PoissonHasItsRateAndVariation) {
  const auto arrivals = make_poisson_arrivals(0.5);
  Random random(22);
  double sum = 0;
  double squares = 0;
  Seconds before = 0;
  constexpr int kJobs = 100000;
  for (int i = 0; i < kJobs; ++i) {
    const Seconds time = arrivals->next(random).time;
    sum += time - before;
    squares += (time - before) * (time - before);
    before = time;
  }
  const double mean = sum / kJobs;
  EXPECT_NEAR(mean, 2, 0.03);
  EXPECT_NEAR(std::sqrt(squares / kJobs - mean * mean) / mean, 1, 0.02);
}

TEST(Arrivals, WeekFollowsItsProfile) {
  const WeekProfile week = day_and_week(0.8, 15, 0.25);
  double sum = 0;
  for (const double factor : week) sum += factor;
  EXPECT_NEAR(sum, 168, 1e-9);
  EXPECT_GT(week[15], 5 * week[3]);
  EXPECT_NEAR(week[5 * 24 + 15] / week[15], 0.25, 1e-9);
  const auto arrivals = make_weekly_arrivals(0.1, week, {});
  const auto counts = per_hour_of_week(*arrivals, 200);
  for (std::size_t hour = 0; hour < 168; ++hour) {
    const double expected = 360 * week[hour];
    EXPECT_NEAR(counts[hour], expected, 6 * std::sqrt(expected / 200) + 0.01) << hour;
  }
}

TEST(Arrivals, BurstsKeepTheMeanAndRaiseTheVariation) {
  WeekProfile flat{};
  flat.fill(1);
  double plain_rate = 0;
  double burst_rate = 0;
  const auto plain = make_weekly_arrivals(0.02, flat, {});
  const auto bursty = make_weekly_arrivals(0.02, flat, {4, 20, 1800});
  per_hour_of_week(*plain, 400, &plain_rate);
  per_hour_of_week(*bursty, 400, &burst_rate);
  EXPECT_NEAR(plain_rate, 0.02, 0.0004);
  EXPECT_NEAR(burst_rate, 0.02, 0.001);
  // Counts per half hour vary like Poisson's without bursts, and far more with them.
  const auto dispersion = [&](const Bursts& bursts) {
    const auto arrivals = make_weekly_arrivals(0.02, flat, bursts);
    Random random(23);
    std::vector<double> counts(20000);
    for (Seconds time = 0; time < 1800.0 * 20000; time = arrivals->next(random).time) {
      counts[static_cast<std::size_t>(time / 1800)] += 1;
    }
    double mean = 0;
    double squares = 0;
    for (const double count : counts) mean += count / 20000;
    for (const double count : counts) squares += (count - mean) * (count - mean) / 20000;
    return squares / mean;
  };
  EXPECT_NEAR(dispersion({}), 1, 0.1);
  EXPECT_GT(dispersion({4, 20, 1800}), 10);
}

TEST(Arrivals, NightsWithoutJobsArePassedOver) {
  const auto arrivals = make_weekly_arrivals(0.1, day_and_week(1, 12, 0), {});
  const auto counts = per_hour_of_week(*arrivals, 50);
  for (std::size_t hour = 120; hour < 168; ++hour) EXPECT_EQ(counts[hour], 0);
}

TEST(Arrivals, PeriodicBurstsComeAtOnceAndInBetween) {
  const auto arrivals = make_periodic_bursts(1.0 / 600, 3600, 5);
  Random random(24);
  std::vector<int> per_burst(10);
  int plain = 0;
  Seconds before = 0;
  for (Arrival arrival = arrivals->next(random); arrival.time < 36000;
       arrival = arrivals->next(random)) {
    ASSERT_GE(arrival.time, before);
    before = arrival.time;
    if (arrival.kind == 1) {
      ASSERT_EQ(std::fmod(arrival.time, 3600), 0);
      ++per_burst[static_cast<std::size_t>(arrival.time / 3600)];
    } else {
      ++plain;
    }
  }
  for (const int count : per_burst) EXPECT_EQ(count, 5);
  EXPECT_NEAR(plain, 60, 40);
}

TEST(Arrivals, ResampledGapsAreThoseGiven) {
  const auto arrivals = make_resampled_gaps({1, 10}, 2);
  Random random(25);
  EXPECT_EQ(arrivals->next(random).time, 0);
  Seconds before = 0;
  for (int i = 0; i < 100; ++i) {
    const Seconds time = arrivals->next(random).time;
    EXPECT_TRUE(time - before == 2 || time - before == 20);
    before = time;
  }
}

}  // namespace
}  // namespace muster
