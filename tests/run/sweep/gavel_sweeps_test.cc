// What the two sweep scripts of Gavel can do, option by option (docs/gavel.md has the table), as
// sweeps of ours.
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/gavel_fixture.h"
#include "run/sweep/sweep.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GavelSweeps : public GavelFixture {
 protected:
  // run_sweep_continuous: rates x policies x seeds, jobs 5 to 14 of an endless stream.
  SweepConfig continuous(const std::string& policy = "gavel-as-coded:policy=isolated") const {
    SweepConfig sweep;
    sweep.base = base(drawn_toml(policy, "measure = {first = 5, last = 14}\n"));
    sweep.base.workload.generator.params["jobs"] = "0";
    // Short enough that the cluster can serve them.
    sweep.base.workload.generator.params["fixed_duration"] = "3600";
    sweep.seeds = {0, 1};
    EXPECT_TRUE(set_axis(sweep, "rate", {"0.5", "1"}));
    return sweep;
  }
  // run_sweep_static: all jobs at once.
  SweepConfig together(const std::string& policy = "gavel-as-coded:policy=isolated",
                       const std::string& more = {}) const {
    SweepConfig sweep;
    sweep.base = base(drawn_toml(policy, more));
    sweep.base.workload.generator.params["fixed_duration"] = "7200";
    sweep.seeds = {0};
    EXPECT_TRUE(set_axis(sweep, "jobs", {"6", "12"}));
    return sweep;
  }
  static SweepConfig on(const std::string& cluster, SweepConfig sweep) {
    sweep.base.cluster.shape = cluster;
    return sweep;
  }
  static SweepResult all_of(const SweepConfig& sweep, const SweepOptions& options = {}) {
    auto result = run_sweep(sweep, options);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    if (!result) return {};
    EXPECT_TRUE(result->complete());
    return std::move(*result);
  }
  // The option acts: the two values give other figures.
  static void expect_acts(SweepConfig sweep, const std::string& key,
                          const std::vector<std::string>& values,
                          double Metrics::*figure = &Metrics::avg_jct_s) {
    sweep.axes.erase(sweep.axes.begin());
    sweep.seeds = {0};
    ASSERT_TRUE(set_axis(sweep, key, values));
    const SweepResult result = all_of(sweep);
    ASSERT_EQ(result.metrics.size(), values.size()) << key;
    EXPECT_NE(result.metrics.front().*figure, result.metrics.back().*figure) << key;
    for (const Metrics& metrics : result.metrics) EXPECT_GT(metrics.finished, 0) << key;
  }
};

TEST_F(GavelSweeps, RatesPoliciesSeedsAndClusters) {
  SweepConfig sweep = continuous();
  ASSERT_TRUE(set_axis(sweep, "scheduling",
                       {"gavel-as-coded:policy=isolated", "gavel-as-coded:policy=allox"}));
  ASSERT_TRUE(set_axis(sweep, "cluster", {"2:2:2", "4:2:0", "4:4:4@2:2:4"}));
  const SweepResult result = all_of(sweep, {.threads = 2});
  ASSERT_EQ(result.points.size(), 2U * 2 * 3 * 2);
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    EXPECT_EQ(result.metrics[i].jobs, 10) << "only the window counts";
    const std::string& lam = result.points[i].config.workload.generator.params.at("lam");
    EXPECT_EQ(lam, result.points[i].values[0] == 0 ? "7200" : "3600");
  }
}

TEST_F(GavelSweeps, RatesAndCountsAreLinspace) {
  const auto rates = parse_points("0:2:5", false);
  ASSERT_TRUE(rates);
  EXPECT_THAT(*rates, ElementsAre("0.5", "1", "1.5", "2"));
  // As many jobs are made as it takes to reach a count that is not whole.
  const auto counts = parse_points("0:30:5", true);
  ASSERT_TRUE(counts);
  EXPECT_THAT(*counts, ElementsAre("8", "15", "23", "30"));
}

TEST_F(GavelSweeps, OptionsOfTheJobs) {
  expect_acts(continuous(), "workload.generator.fixed_duration", {"3600", "7200"});
  expect_acts(on("8:8:8", continuous()), "workload.generator.multi_gpu", {"false", "true"});
  SweepConfig shared = continuous("gavel-as-coded:policy=max-min-fairness-perf");
  expect_acts(shared, "workload.generator.multi_priority", {"false", "true"});
  expect_acts(continuous(), "workload.generator.steady_state", {"", "2:2:2"});
  expect_acts(together(), "workload.generator.deadlines", {"false", "true"},
              &Metrics::deadline_jobs);
}

TEST_F(GavelSweeps, OptionsOfTheScheduler) {
  expect_acts(continuous(), "pacing.length", {"360", "1440"});
  expect_acts(continuous(), "execution", {"turns", "fluid"});
  SweepConfig sweep = together();
  ASSERT_TRUE(set_axis(sweep, "jobs", {"12"}));
  expect_acts(sweep, "scheduling.global_queue", {"false", "true"});
  expect_acts(together("gavel-as-coded:policy=min-total-duration-perf"), "scheduling.solver",
              {"interior", "simplex"});
}

TEST_F(GavelSweeps, ProfilingAndReferenceModels) {
  const auto belief = [this](double profiled, int references) {
    return fmt::format("estimated-throughputs:file={},profiled={},references={}", table_, profiled,
                       references);
  };
  SweepConfig sweep = together("gavel-as-coded:policy=gandiva,learns=true");
  sweep.axes.clear();
  sweep.base.workload.generator.params["jobs"] = "15";
  sweep.base.workload.generator.params["lam"] = "0";
  ASSERT_TRUE(set_axis(sweep, "beliefs", {belief(1, 26), belief(0.3, 26), belief(0.3, 4)}));
  const SweepResult result = all_of(sweep);
  ASSERT_EQ(result.metrics.size(), 3U);
  for (const Metrics& metrics : result.metrics) EXPECT_EQ(metrics.finished, 15);
}

TEST_F(GavelSweeps, PricesCostAndMakespanOfStaticSweeps) {
  const std::string file = folder_
                               .write("prices.csv",
                                      "time_s,gpu_type,price,seller\n0,v100,2,a\n0,p100,1,a\n"
                                      "0,k80,0.5,a\n0,v100,1,b\n0,p100,1,b\n0,k80,1,b\n")
                               .string();
  SweepConfig sweep = together("gavel-as-coded:policy=max-sum-throughput-normalized-by-cost-perf",
                               fmt::format("prices = {{file = '{}'}}", file));
  sweep.axes.clear();
  ASSERT_TRUE(set_axis(sweep, "prices.sellers", {"a", "b"}));
  const SweepResult result = all_of(sweep);
  ASSERT_EQ(result.metrics.size(), 2U);
  EXPECT_NE(result.metrics[0].cost_usd, result.metrics[1].cost_usd);
  const std::string csv = points_csv(sweep, result);
  for (const std::string column : {"makespan_s", "cost_usd", "avg_jct_s", "utilization"}) {
    EXPECT_THAT(csv.substr(0, csv.find('\n')), HasSubstr(column));
  }
}

// A rate that reaches the cut-off is left out, and the servers of a cluster do not matter.
TEST_F(GavelSweeps, CutOffsByGavelsNames) {
  SweepConfig sweep = continuous();
  ASSERT_TRUE(set_axis(sweep, "rate", {"0.5", "1", "1.5"}));
  ASSERT_TRUE(set_axis(sweep, "scheduling",
                       {"gavel-as-coded:policy=fifo-perf", "gavel-as-coded:policy=isolated"}));
  ASSERT_TRUE(set_axis(sweep, "cluster", {"2:2:2", "2:2:2@2:2:2"}));
  sweep.cutoffs = folder_.write("cutoffs.json", R"({"2:2:2": {"fifo_perf": 1}})").string();
  const auto points = sweep_points(sweep);
  ASSERT_TRUE(points) << points.error().message;
  for (const SweepPoint& point : *points) {
    EXPECT_EQ(point.skip, point.values[0] >= 1 && point.values[1] == 0);
  }
}

// Gavel's --checkpoint-threshold: a sweep that was stopped in the middle of its runs goes on there.
TEST_F(GavelSweeps, RunsGoOnFromWhereTheyWereSaved) {
  SweepConfig sweep = on("4:4:4", continuous());
  ASSERT_TRUE(
      set_axis(sweep, "scheduling",
               {"gavel-as-coded:policy=allox", "gavel-as-coded:policy=finish-time-fairness-perf"}));
  const std::string straight = points_csv(sweep, all_of(sweep));
  const std::string place = (folder_.path() / "sweep").string();
  const auto saved = [&] {
    std::size_t files = 0;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(place + "/saved", none)) {
      files += entry.path().extension() == ".run" ? 1 : 0;
    }
    return files;
  };
  // Stopped as soon as a run has been saved.
  SweepOptions options = {.folder = place, .threads = 1, .save_at = 8};
  options.keep_going = [&] { return saved() == 0; };
  const auto stopped = run_sweep(sweep, options);
  ASSERT_TRUE(stopped) << stopped.error().message;
  ASSERT_FALSE(stopped->complete());
  EXPECT_EQ(saved(), 1U) << "the run that was under way";
  options.keep_going = {};
  const SweepResult later = all_of(sweep, options);
  EXPECT_EQ(later.continued, 1U);
  EXPECT_EQ(points_csv(sweep, later), straight);
  EXPECT_FALSE(std::filesystem::exists(place + "/saved")) << "nobody needs them any more";
}

TEST_F(GavelSweeps, WhatWasSavedAndCannotGoOnIsTold) {
  SweepConfig sweep = continuous();
  const std::string place = (folder_.path() / "sweep").string();
  EXPECT_THAT(run_sweep(sweep, {.save_at = 3}).error().message, HasSubstr("in its own folder"));
  folder_.write("sweep/saved/0.run", "not a run");
  folder_.write("sweep/sweep.toml", to_toml(sweep));
  const auto refused = run_sweep(sweep, {.folder = place, .threads = 1});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("saved/0.run is not a saved run"));
  EXPECT_THAT(refused.error().message, HasSubstr("remove that file to start the run again"));
  // A policy of another kind, and a run that ends before.
  ASSERT_TRUE(set_axis(sweep, "scheduling", {"las"}));
  const auto other = run_sweep(sweep, {.folder = place + "2", .threads = 1, .save_at = 3});
  ASSERT_TRUE(other) << other.error().message;
  const SweepResult short_runs = all_of(together(), {.folder = place + "3", .save_at = 1000});
  EXPECT_EQ(short_runs.continued, 0U);
}

TEST_F(GavelSweeps, FindsTheRateOfAUtilisationAndGivesUpWhatTakesTooLong) {
  SweepConfig sweep = continuous();
  ASSERT_TRUE(set_axis(sweep, "rate", {"0.2", "0.5", "1", "2", "3"}));
  sweep.threshold = 0.5;
  const SweepResult result = all_of(sweep);
  const std::vector<FoundRate> found = found_rates(sweep, result);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GE(found[0].rate.mean, 0.2);
  EXPECT_LE(found[0].utilization.mean, 0.5);
  sweep.threshold = 0;
  const SweepResult late = all_of(sweep, {.timeout = 1e-9});
  for (const PointState state : late.states) EXPECT_EQ(state, PointState::kTimedOut);
}

}  // namespace
}  // namespace muster
