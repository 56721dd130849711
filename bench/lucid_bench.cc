// Lucid against the clock: every policy on the month of Venus, where its data is on this machine,
// and the models on generated rows.
#include <algorithm>

#include <fmt/format.h>

#include "base/random.h"
#include "clock.h"
#include "learn/ebm.h"
#include "run/assembly/jobs.h"
#include "run/assembly/simulation.h"
#include "run/experiment/experiment.h"

namespace muster {
namespace {

// The simulation alone: jobs and tables are in memory before.
void bench_policies() {
  const auto experiment = load_experiment("lucid", "table4");
  if (!experiment) {
    fmt::print("{}\n", experiment.error().message);
    return;
  }
  for (const ExperimentRun& run : experiment->runs) {
    if (!run.missing.empty()) {
      fmt::print("no policies are timed: {}\n", run.missing);
      return;
    }
    const auto jobs = load_jobs(run.config.workload);
    if (!jobs) continue;
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const auto simulation = Simulation::make(run.config, *jobs);
      if (!simulation) continue;
      best = std::min(best, bench::wall_seconds_of([&] { (void)(*simulation)->run(); }));
    }
    fmt::print("{:<30} 23,859 jobs {:8.3f} s   (goal {} s)\n", run.name, best,
               run.name.starts_with("Lucid") ? 3 : 1);
  }
}

// The 13 features of the duration model, on made-up jobs.
void bench_models() {
  constexpr std::size_t kRows = 200000;
  Random random(1);
  std::vector<Feature> list;
  constexpr std::size_t kFeatures = 13;
  list.reserve(kFeatures);
  std::vector<std::string> users;
  users.reserve(118);
  for (int i = 0; i < 118; ++i) users.push_back(fmt::format("u{:03}", i));
  list.push_back({"user", true, users});
  for (int i = 0; i < 12; ++i) list.push_back({fmt::format("x{}", i), false, {}});
  const FeatureSet features(std::move(list));
  std::vector<std::vector<double>> columns(kFeatures);
  std::vector<double> target;
  target.reserve(kRows);
  for (auto& column : columns) column.reserve(kRows);
  for (std::size_t row = 0; row < kRows; ++row) {
    columns[0].push_back(static_cast<double>(random.below(118)));
    double sum = 50 * columns[0].back();
    for (std::size_t f = 1; f < kFeatures; ++f) {
      columns[f].push_back(random.unit());
      sum += static_cast<double>(f) * 300 * columns[f].back();
    }
    target.push_back(sum * random.uniform(0.5, 1.5));
  }
  EbmOptions options;
  options.learning_rate = 0.1;
  options.bags = 4;
  options.max_rounds = 300;
  Ebm model;
  const double training = bench::wall_seconds_of([&] {
    auto trained = train_ebm(features, columns, target, options);
    if (trained) model = std::move(*trained);
  });
  fmt::print("train the duration model on {} jobs   {:8.2f} s   (goal 10 s)\n", kRows, training);
  std::vector<double> row(kFeatures);
  double sum = 0;
  constexpr int kTimes = 200000;
  const double predicting = bench::wall_seconds_of([&] {
    for (int i = 0; i < kTimes; ++i) {
      for (std::size_t f = 0; f < kFeatures; ++f) row[f] = columns[f][static_cast<std::size_t>(i)];
      sum += model.predict(row);
    }
  });
  const double explaining = bench::wall_seconds_of([&] {
    for (int i = 0; i < kTimes / 10; ++i) {
      for (std::size_t f = 0; f < kFeatures; ++f) row[f] = columns[f][static_cast<std::size_t>(i)];
      sum += model.explain(row).prediction;
    }
  });
  fmt::print("one prediction                         {:8.3f} us  (goal 2 us)\n",
             predicting / kTimes * 1e6);
  fmt::print("one explanation                        {:8.3f} us  (goal 20 us)\n",
             explaining / kTimes * 1e7);
  if (sum == 0) fmt::print("\n");
}

}  // namespace
}  // namespace muster

int main() {
  muster::bench_policies();
  muster::bench_models();
  return 0;
}
