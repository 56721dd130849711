// Lucid against Lucid: start and end second of every one of 23,859 jobs of the Venus cluster, for
// each policy whose recorded schedule exists.
#include <chrono>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "perf/models.h"
#include "policy/table.h"
#include "run/lucid_stages.h"
#include "support/paths.h"
#include "support/venus.h"

namespace muster {
namespace {

constexpr char kEbm[] = "Venus_Sept_ebm_weekly_updated.csv";
constexpr char kLightGbm[] = "Venus_Sept_lgb.csv";

const Venus& venus(const char* estimates) {
  static const Venus kEbmVenus = load_venus(shared_dir().string(), kEbm);
  static const Venus kLightGbmVenus = load_venus(shared_dir().string(), kLightGbm);
  return estimates == kEbm ? kEbmVenus : kLightGbmVenus;
}

const TestTable& golden() {
  static const TestTable kTable =
      read_test_table((shared_dir() / "golden/lucid/venus_sept_golden_schedules.csv.gz").string());
  return kTable;
}

Combination combination(std::string_view scheduling, const ParamTexts& params) {
  Combination made;
  made.admission = std::move(*make_from("admission", admission_table(), "accept-all", {}));
  auto order = make_from("scheduling", scheduling_table(), scheduling, params);
  EXPECT_TRUE(order);
  made.scheduling = std::move(*order);
  const ParamTexts backfill = {{"backfill", scheduling.ends_with("-quota") ? "true" : "false"}};
  made.placement = std::move(*make_from("placement", placement_table(), "whole-nodes", backfill));
  return made;
}

// Returns how many jobs differ.
int compare(const std::vector<JobRecord>& records, const std::string& name, bool with_preemptions) {
  const TestTable& want = golden();
  EXPECT_EQ(want.rows.size(), records.size());
  std::map<std::string, std::size_t> row_of;
  for (std::size_t i = 0; i < want.rows.size(); ++i) row_of[want.at(i, "job_id")] = i;
  int different = 0;
  for (const JobRecord& record : records) {
    const std::size_t i = row_of.at(record.name);
    const double start = want.number(i, name + "_start");
    const double end = want.number(i, name + "_end");
    bool equal = record.start == start && record.end == end;
    if (with_preemptions) equal = equal && record.preemptions == want.number(i, name + "_preempts");
    if (!equal && ++different <= 5) {
      ADD_FAILURE() << fmt::format("{}: job {} ({} GPUs, submit {}): {}..{}, golden {}..{}", name,
                                   record.name, record.gpus, record.submit, record.start,
                                   record.end, start, end);
    }
  }
  EXPECT_EQ(different, 0) << name;
  fmt::print("{}: {} of {} jobs equal\n", name, static_cast<int>(records.size()) - different,
             records.size());
  return different;
}

double mean_jct(const std::vector<JobRecord>& records) {
  double sum = 0;
  for (const JobRecord& record : records) sum += record.completion_time();
  return sum / static_cast<double>(records.size());
}

double mean_queue(const std::vector<JobRecord>& records) {
  double sum = 0;
  for (const JobRecord& record : records) sum += record.queue;
  return sum / static_cast<double>(records.size());
}

struct Baseline {
  std::string golden;  // name in the recorded schedules
  std::string scheduling;
  ParamTexts params;
  const char* estimates;
  bool preempts;
  double jct;  // published by a third party, or recomputed
  double queue;
};

class LucidBaselines : public testing::TestWithParam<Baseline> {};

TEST_P(LucidBaselines, EqualJobByJob) {
  MUSTER_NEEDS_SHARED("golden/lucid/venus_sept_golden_schedules.csv.gz");
  const Baseline& baseline = GetParam();
  const Venus& data = venus(baseline.estimates);
  ApartSettings settings;
  settings.policies = [&baseline](Symbol) {
    return combination(baseline.scheduling, baseline.params);
  };
  settings.perf = multiply({});
  if (baseline.preempts) {
    auto cost = std::make_shared<RestartCost>();
    cost->by_size = {{8, 40}};
    cost->restart = 60;
    cost->stop_adds_work = true;
    settings.cost = cost;
    settings.progress.countdown = true;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto records = run_partitions_apart(data.cluster, data.jobs, settings);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print("{}: {:.3f} s\n", baseline.golden, took.count());
  ASSERT_TRUE(records) << records.error().message;
  EXPECT_EQ(compare(*records, baseline.golden, baseline.preempts), 0);
  EXPECT_NEAR(mean_jct(*records), baseline.jct, 1e-3);
  EXPECT_NEAR(mean_queue(*records), baseline.queue, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(
    Venus, LucidBaselines,
    testing::Values(
        Baseline{"fifo", "fifo", {}, kEbm, false, 65720.543, 53951.272},
        Baseline{"sjf", "sjf", {}, kEbm, false, 21095.024, 9325.754},
        Baseline{"qssf_ebm", "qssf", {{"fresh_by_size", "true"}}, kEbm, false, 15548.882, 3779.611},
        Baseline{
            "qssf_lgb", "qssf", {{"fresh_by_size", "true"}}, kLightGbm, false, 18797.471, 7028.200},
        Baseline{"srtf", "srtf-quota", {}, kEbm, true, 12609.898, 829.722},
        Baseline{"tiresias", "tiresias-quota", {}, kEbm, true, 14700.039, 2915.992}));

LucidSettings published(const Venus& data) {
  LucidSettings settings;
  settings.profiling.free = true;
  settings.profiling.donors = {data.symbols.find("vc8Gr"), data.symbols.find("vcefl")};
  settings.profiling.lender = data.symbols.find("vcYVn");
  settings.apart.perf = data.perf;
  settings.apart.forecast = data.forecast;
  settings.apart.progress.countdown = true;
  settings.apart.progress.guests_keep_rate = true;
  settings.placement = {{"guests_never_host", "true"}};
  return settings;
}

TEST(LucidParity, Profiling) {
  MUSTER_NEEDS_SHARED("golden/lucid/venus_sept_golden_schedules.csv.gz");
  const Venus& data = venus(kEbm);
  const auto profiling = run_profiling(data.jobs, published(data).profiling, data.forecast);
  ASSERT_TRUE(profiling) << profiling.error().message;
  int profiled = 0;
  int finished = 0;
  double queue = 0;
  for (std::size_t i = 0; i < data.jobs.size(); ++i) {
    const ProfiledJob& job = profiling->jobs[i];
    if (job.start == kNever) continue;
    ++profiled;
    finished += job.finished ? 1 : 0;
    queue += job.start - data.jobs[i].submit;
  }
  EXPECT_EQ(profiled, 21417);
  EXPECT_EQ(finished, 10644);
  // The published average counts jobs that are never profiled as not waiting.
  EXPECT_NEAR(queue / static_cast<double>(data.jobs.size()), 73.33, 0.01);
  ASSERT_EQ(profiling->events.size(), 56U);
  const double first[] = {13296620, 13301500, 13443010, 13468200,
                          13539300, 13543800, 13870270, 13873200};
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(profiling->events[i].time, first[i]);
}

struct Variant {
  std::string golden;
  ParamTexts placement;
  bool host_fixed;
  double jct;
  double queue;
};

class LucidVariants : public testing::TestWithParam<Variant> {};

TEST_P(LucidVariants, EqualJobByJob) {
  MUSTER_NEEDS_SHARED("golden/lucid/venus_sept_golden_schedules.csv.gz");
  const Variant& variant = GetParam();
  const Venus& data = venus(kEbm);
  LucidSettings settings = published(data);
  for (const auto& [name, value] : variant.placement) settings.placement[name] = value;
  settings.apart.progress.guests_keep_rate = !variant.host_fixed;
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = run_lucid(data.cluster, data.jobs, settings);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print("{}: {:.3f} s\n", variant.golden, took.count());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(compare(outcome->records, variant.golden, false), 0);
  EXPECT_NEAR(mean_jct(outcome->records), variant.jct, 1);
  EXPECT_NEAR(mean_queue(outcome->records), variant.queue, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Venus, LucidVariants,
    testing::Values(Variant{"lucid_noshare", {{"share", "never"}}, false, 15098.914, 3388.0},
                    Variant{"lucid", {}, false, 12886.130, 915.241},
                    Variant{"lucid_hostfix", {{"guests_never_host", "false"}}, true, 12804, 881}));

}  // namespace
}  // namespace muster
