#include "policy/scaling/energy_saving.h"

#include <gtest/gtest.h>

#include "perf/product.h"
#include "run/assembly/partitions_apart.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

TEST(EnergyControl, KeepsABufferAndSleepsWhenLessIsExpected) {
  EnergyControl control({});
  for (int i = 0; i < 6; ++i) EXPECT_EQ(control.step(20, {}), 25);
  // Use falls, and the forecast falls further.
  EXPECT_EQ(control.step(15, {14, 13, 12}), 20);
  // The past is no longer above the present by enough, so nothing more sleeps.
  control.step(15, {14, 13, 12});
  control.step(15, {14, 13, 12});
  EXPECT_EQ(control.step(15, {14, 13, 12}), 20);
}

TEST(EnergyControl, WakesAtOnceAndHolds) {
  EnergyControl control({});
  for (int i = 0; i < 6; ++i) control.step(10, {});
  EXPECT_EQ(control.step(18, {}), 23);
  // In the steps after a rise nothing sleeps, whatever is forecast.
  for (int i = 0; i < 11; ++i) EXPECT_EQ(control.step(10, {5, 4, 3}), 23) << i;
}

TEST(EnergyControl, DoesNotSleepBeforeARise) {
  EnergyControl control({});
  for (int i = 0; i < 6; ++i) control.step(20, {});
  EXPECT_EQ(control.step(15, {12, 13, 14}), 25);
}

class Watts final : public Observer {
 public:
  void on_turn(const TurnStats& turn) override {
    gpu_seconds += (turn.time - turn.previous) * last;
    last = turn.usable_gpus;
    fewest = std::min(fewest, last);
  }
  double gpu_seconds = 0;
  int last = 0;
  int fewest = 1 << 20;
};

double average_completion(const std::vector<JobRecord>& records) {
  double sum = 0;
  for (const JobRecord& record : records) {
    EXPECT_EQ(record.status, JobState::kFinished);
    sum += record.completion_time();
  }
  return sum / static_cast<double>(records.size());
}

TEST(EnergySaving, SleepsThroughTheNightAndLosesLittle) {
  // Busy days, quiet nights, for four days on 20 nodes.
  std::vector<JobSpec> jobs;
  for (int hour = 0; hour < 96; ++hour) {
    const int count = hour % 24 >= 8 && hour % 24 < 20 ? 12 : 1;
    for (int i = 0; i < count; ++i) {
      JobSpec job;
      job.submit = job.arrival = hour * 3600.0 + i * 290;
      job.duration = 3300;
      job.gpus = 8;
      jobs.push_back(job);
    }
  }
  ApartSettings settings;
  settings.perf = multiply({});
  Watts awake;
  bool saving = false;
  settings.parts = [&awake, &saving](Symbol) {
    PolicySet made;
    made.admission =
        std::move(*make_from("admission", plugin_tables().admission, "accept-all", {}));
    made.scheduling = std::move(*make_from("scheduling", plugin_tables().scheduling, "fifo", {}));
    made.placement =
        std::move(*make_from("placement", plugin_tables().placement, "whole-nodes", {}));
    Engine::Parts parts;
    parts.pacing = make_ticks(1);
    parts.policy_sets.push_back(std::move(made));
    if (saving) {
      parts.scaling =
          std::move(*make_from("scaling", plugin_tables().scaling, "energy-saving", {}));
    }
    parts.observers.push_back(&awake);
    return parts;
  };
  const ClusterSpec cluster = uniform_cluster(20, 8);
  const auto plain = run_partitions_apart(cluster, jobs, settings);
  ASSERT_TRUE(plain);
  const double all = awake.gpu_seconds;
  awake = {};
  saving = true;
  const auto saved = run_partitions_apart(cluster, jobs, settings);
  ASSERT_TRUE(saved);
  EXPECT_LT(awake.gpu_seconds, 0.8 * all);
  EXPECT_LT(awake.fewest, 160);
  EXPECT_LT(average_completion(records_of(saved->pieces, jobs.size())),
            1.02 * average_completion(records_of(plain->pieces, jobs.size())));
}

}  // namespace
}  // namespace muster
