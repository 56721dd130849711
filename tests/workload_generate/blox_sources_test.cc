// Blox's sources against Blox. The hashes were made with the original's own job sources on the
// 1,000-job log of the golden folder, driven turn by turn without its scheduler; the golden files
// are results of whole runs.
#include "workload/generate/blox_sources.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "support/paths.h"

namespace muster {
namespace {

using Factory = std::unique_ptr<JobSource> (*)(BloxOptions, Symbols&);
constexpr std::string_view kLog = "golden/blox/runs/fake_cluster_job_log.json";

BloxOptions options_for(double load, bool cached, std::vector<BloxLogJob> list) {
  BloxOptions options;
  options.jobs_per_hour = load;
  options.cached = cached;
  options.list = std::move(list);
  return options;
}

std::vector<BloxLogJob> golden_log(bool multi_gpu) {
  auto list = read_blox_log((shared_dir() / kLog).string(), multi_gpu);
  EXPECT_TRUE(list) << list.error().message;
  return *list;
}

struct Digest {
  std::size_t jobs = 0;
  std::uint64_t hash = 0xcbf29ce484222325U;

  void add(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) {
      hash = (hash ^ ((bits >> shift) & 0xffU)) * 0x100000001b3U;
    }
  }
};

// Turn, submit second, duration, GPUs and model of every job of the first `turns` turns.
Digest digest_of(Factory make, const BloxOptions& options, int turns) {
  Symbols symbols;
  const std::unique_ptr<JobSource> source = make(options, symbols);
  const std::vector<std::string> models = {"alexnet", "res18", "res50", "mobilenet", "shufflenet"};
  Digest digest;
  while (source->peek()->arrival < turns * options.round) {
    const JobSpec& job = *source->peek();
    digest.add(job.arrival);
    digest.add(job.submit);
    digest.add(job.duration);
    digest.add(job.gpus);
    const auto model = std::find(models.begin(), models.end(), symbols.text(job.model));
    digest.add(static_cast<double>(model - models.begin()));
    ++digest.jobs;
    source->pop();
  }
  return digest;
}

void expect_digest(Factory make, const BloxOptions& options, int turns, std::size_t jobs,
                   std::uint64_t hash) {
  const Digest digest = digest_of(make, options, turns);
  EXPECT_EQ(digest.jobs, jobs);
  EXPECT_EQ(digest.hash, hash);
}

TEST(BloxSources, SimpleEqualsBlox) {
  MUSTER_NEEDS_SHARED(kLog);
  expect_digest(make_blox_simple, options_for(7, false, golden_log(false)), 2000, 1177,
                0xd5b83432a610fcd8U);
  expect_digest(make_blox_simple, options_for(7, true, golden_log(false)), 2000, 1202,
                0xfeb46266f4d50f77U);
  expect_digest(make_blox_simple, options_for(3, false, golden_log(true)), 2000, 527,
                0x3e3a51c09035b435U);
}

TEST(BloxSources, OtherDurationsEqualBlox) {
  MUSTER_NEEDS_SHARED(kLog);
  BloxOptions from_log = options_for(3, false, golden_log(true));
  from_log.durations = BloxDurations::kFromLog;
  expect_digest(make_blox_simple, from_log, 2000, 506, 0x9d73f66649bb5da0U);
  BloxOptions brief = options_for(5, false, golden_log(false));
  brief.durations = BloxDurations::kDrawnShort;
  expect_digest(make_blox_simple, brief, 2000, 850, 0x879c1de132f57353U);
}

TEST(BloxSources, DualLoadEqualsBlox) {
  MUSTER_NEEDS_SHARED(kLog);
  for (const bool cached : {false, true}) {
    expect_digest(make_blox_dual_load, options_for(2, cached, golden_log(false)), 300, 2462,
                  0x0492989881e89b95U);
  }
  expect_digest(make_blox_dual_load, options_for(3, false, golden_log(true)), 250, 2280,
                0x66b875049105b1d6U);
}

TEST(BloxSources, SmallLargeEqualsBlox) {
  MUSTER_NEEDS_SHARED(kLog);
  expect_digest(make_blox_small_large, options_for(8, false, golden_log(false)), 2000, 2686,
                0xf9fc7f56cd0bb6d3U);
  expect_digest(make_blox_small_large, options_for(8, true, golden_log(false)), 2000, 2650,
                0xf1c74c6ef627b4bdU);
  expect_digest(make_blox_small_large, options_for(2.5, false, golden_log(true)), 2000, 856,
                0xf3e6d139d983ab76U);
}

// With drawn durations and a cached list the log does not matter, so this needs no shared folder.
TEST(BloxSources, CachedRunsNeedNoLog) {
  expect_digest(make_blox_simple, options_for(7, true, blox_plain_list(1000)), 2000, 1202,
                0xfeb46266f4d50f77U);
  expect_digest(make_blox_small_large, options_for(8, true, blox_plain_list(1000)), 2000, 2650,
                0xf1c74c6ef627b4bdU);
  expect_digest(make_blox_dual_load, options_for(2, true, blox_plain_list(1000)), 300, 2462,
                0x0492989881e89b95U);
}

TEST(BloxSources, ArrivalsNeverGoBackAndAreTurns) {
  for (const Factory make : {make_blox_simple, make_blox_dual_load, make_blox_small_large}) {
    Symbols symbols;
    const auto source = make(options_for(5, true, blox_plain_list(100)), symbols);
    Seconds before = 0;
    for (int i = 0; i < 5000; ++i) {
      const JobSpec job = *source->peek();
      ASSERT_GE(job.arrival, before);
      ASSERT_EQ(std::fmod(job.arrival, 300), 0);
      before = job.arrival;
      source->pop();
      ASSERT_FALSE(source->finished());
    }
  }
}

std::map<std::string, Seconds> submits_of(Factory make, const BloxOptions& options, int jobs) {
  Symbols symbols;
  const auto source = make(options, symbols);
  std::map<std::string, Seconds> submits;
  for (int i = 0; i < jobs; ++i) {
    submits[std::to_string(i)] = source->peek()->submit;
    source->pop();
  }
  return submits;
}

// The nine configurations whose results the authors of Blox committed. Ids are given at admission,
// which is first come, first served: they are the order of delivery.
TEST(BloxSources, SubmitSecondsOfTheAuthorsResults) {
  MUSTER_NEEDS_SHARED("golden/blox/small_large.csv");
  std::ifstream file(shared_dir() / "golden/blox/small_large.csv");
  std::string line;
  std::getline(file, line);
  ASSERT_EQ(line.substr(0, 51), "policy,admission,load_jobs_per_hour,job_id,submit_s");
  std::map<std::string, std::map<std::string, Seconds>> by_load;
  int rows = 0;
  int equal = 0;
  while (std::getline(file, line)) {
    const auto cells = split(line, ',');
    const std::string load(cells[2]);
    if (by_load.find(load) == by_load.end()) {
      by_load[load] =
          submits_of(make_blox_small_large,
                     options_for(*parse_real(load), true, blox_plain_list(20000)), 2001);
    }
    const auto found = by_load[load].find(std::string(cells[3]));
    ASSERT_NE(found, by_load[load].end()) << line;
    equal += found->second == parse_real(cells[4]) ? 1 : 0;
    ++rows;
  }
  EXPECT_EQ(rows, 9009);
  EXPECT_EQ(equal, rows);
}

struct GoldenRun {
  const char* file;
  double load;
  bool cached;
  bool multi_gpu;
  int jobs;
};

TEST(BloxSources, SubmitSecondsOfRunsOfTheOriginal) {
  MUSTER_NEEDS_SHARED(kLog);
  // Settings from golden/blox/runs/summary.csv, R1 to R5.
  const std::vector<GoldenRun> runs = {
      {"las_load7_1gpu_fresh_100_300", 7, false, false, 201},
      {"las_load3_multigpu_fresh_100_300", 3, false, true, 201},
      {"multirun_Fifo_load7_50_120", 7, false, false, 71},
      {"multirun_Tiresias_load7_50_120", 7, true, false, 71},
      {"multirun_Srtf_load7_50_120", 7, true, false, 71},
  };
  for (const GoldenRun& run : runs) {
    std::ifstream file(shared_dir() / "golden/blox/runs" /
                       (std::string(run.file) + ".job_stats.json"));
    const nlohmann::json stats = nlohmann::json::parse(file);
    const auto submits = submits_of(
        make_blox_simple, options_for(run.load, run.cached, golden_log(run.multi_gpu)), 301);
    int equal = 0;
    for (const auto& [id, times] : stats.items()) {
      equal += submits.at(id) == times.at(0).get<double>() ? 1 : 0;
    }
    EXPECT_EQ(equal, run.jobs) << run.file;
    EXPECT_EQ(stats.size(), static_cast<std::size_t>(run.jobs)) << run.file;
  }
}

// Up to five jobs an hour nothing queues in the sweep of figure 6: a job starts at its turn and is
// seen finished at the first turn that has all its work behind it. That much of the sweep follows
// from the source.
TEST(BloxSources, CompletionTimesOfFigureSixBelowSaturation) {
  MUSTER_NEEDS_SHARED("golden/blox/runs/figure6_recomputed.csv");
  std::ifstream file(shared_dir() / "golden/blox/runs/figure6_recomputed.csv");
  std::string line;
  int checked = 0;
  while (std::getline(file, line)) {
    const auto cells = split(line, ',');
    const auto load = cells.size() > 2 ? parse_real(cells[1]) : std::nullopt;
    if (!load || cells[0] != "Fifo" || *load > 5) continue;
    Symbols symbols;
    const auto source = make_blox_simple(options_for(*load, true, blox_plain_list(20000)), symbols);
    double sum = 0;
    for (int id = 0; id <= 4000; ++id, source->pop()) {
      const JobSpec& job = *source->peek();
      if (id >= 3000) sum += job.arrival + std::ceil(job.duration / 300) * 300 - job.submit;
    }
    EXPECT_NEAR(sum / 1001, *parse_real(cells[2]), 0.0006) << line;
    ++checked;
  }
  EXPECT_EQ(checked, 5);
}

}  // namespace
}  // namespace muster
