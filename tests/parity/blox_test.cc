// Blox against Blox: every tracked job's submit and end second, for every configuration whose
// results exist. Differences are printed per job.
#include <fstream>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "artifacts/blox/every_stop.h"
#include "backend/sim/sim_backend.h"
#include "base/text.h"
#include "engine/engine.h"
#include "run/config/plugin_tables.h"
#include "support/paths.h"
#include "workload/generate/blox_sources.h"
#include "workload/perf/models.h"

namespace muster {
namespace {

struct Times {
  double submit = 0;
  double end = 0;
  double first_seen = 0;  // one round after its first start: when Blox's metrics notice it
};

struct Outcome {
  std::map<int, Times> jobs;
  long long turns = 0;
  long long preemptions = 0;
  double mean_jct() const {
    double sum = 0;
    for (const auto& [id, times] : jobs) sum += times.end - times.submit;
    return sum / static_cast<double>(jobs.size());
  }
  double mean_responsiveness() const {
    double sum = 0;
    for (const auto& [id, times] : jobs) sum += times.first_seen - times.submit;
    return sum / static_cast<double>(jobs.size());
  }
};

class Collector final : public Observer {
 public:
  Collector(Outcome& outcome, int first, int last)
      : outcome_(outcome), first_(first), last_(last) {}
  void on_job_end(const JobRecord& job) override {
    const auto id = static_cast<int>(index(job.id));
    if (id >= first_ && id <= last_) outcome_.jobs[id] = {job.submit, job.end, job.start + 300};
  }
  void on_turn(const TurnStats& stats) override { outcome_.preemptions += stats.stops; }

 private:
  Outcome& outcome_;
  int first_;
  int last_;
};

struct Setting {
  std::string policy;    // Blox's name
  double threshold = 0;  // of admission; 0: accept all
  double load = 7;
  int first = 0;
  int last = 0;
};

std::unique_ptr<SchedulingPolicy> policy_of(const std::string& name) {
  const ParamTexts boost = {{"boost_after", "3600000"}};
  const auto make = [](std::string_view policy, const ParamTexts& params) {
    auto made = make_from("scheduling policy", plugin_tables().scheduling, policy, params);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return std::move(*made);
  };
  if (name == "Fifo")
    return make("fifo-as-coded", {{"boost_after", "3600000"}, {"preempt", "true"}});
  if (name == "Srtf") return make("srtf-as-coded", boost);
  if (name == "Optimus") return make("optimus-as-coded", boost);
  return make("las-as-coded", {{"boost_after", "3600000"}, {"service", "seconds"}});
}

Outcome run_blox(const Setting& setting, std::unique_ptr<JobSource> source) {
  Symbols symbols;
  Outcome outcome;
  Collector collector(outcome, setting.first, setting.last);
  Engine::Parts parts;
  parts.cluster = std::make_shared<ClusterSpec>(uniform_cluster(32, 4));
  ParamTexts load = {{"load", exact_text(setting.load)}};
  for (const PerfInfo& info : plugin_tables().perf) {
    const bool optimus = setting.policy == "Optimus";
    if (info.name != (optimus ? "optimus-as-coded" : "ideal")) continue;
    const auto params = Params::make("perf", info.params, optimus ? load : ParamTexts{});
    parts.perf = std::move(*info.make(*params, symbols));
  }
  parts.pacing = make_rounds(300);
  PolicySet policy_set;
  const ParamTexts threshold = {{"threshold", exact_text(setting.threshold)}};
  policy_set.admission =
      setting.threshold == 0
          ? std::move(*make_from("admission", plugin_tables().admission, "accept-all", {}))
          : std::move(
                *make_from("admission", plugin_tables().admission, "load-threshold", threshold));
  policy_set.scheduling = policy_of(setting.policy);
  policy_set.placement =
      std::move(*make_from("placement", plugin_tables().placement, "blox-as-coded", {}));
  parts.policy_sets.push_back(std::move(policy_set));
  SimBackend backend({parts.cluster, parts.perf});
  parts.backend = &backend;
  parts.source = source.get();
  parts.observers = {&collector};
  parts.options.until_left = {JobId{static_cast<std::uint32_t>(setting.first)},
                              JobId{static_cast<std::uint32_t>(setting.last)}};
  parts.options.preemptions = every_stop_accounting().rule;
  Engine engine(std::move(parts));
  EXPECT_TRUE(engine.run());
  outcome.turns = engine.turns();
  return outcome;
}

std::unique_ptr<JobSource> source_of(std::string_view kind, double load, bool cached,
                                     std::vector<BloxLogJob> list) {
  Symbols symbols;
  BloxOptions options;
  options.jobs_per_hour = load;
  options.cached = cached;
  options.list = std::move(list);
  if (kind == "small_large") return make_blox_small_large(std::move(options), symbols);
  if (kind == "dual_load") return make_blox_dual_load(std::move(options), symbols);
  return make_blox_simple(std::move(options), symbols);
}

void expect_equal(const std::map<int, Times>& golden, const Outcome& ours, bool with_start,
                  const std::string& name) {
  EXPECT_EQ(golden.size(), ours.jobs.size()) << name;
  int different = 0;
  for (const auto& [id, want] : golden) {
    const auto found = ours.jobs.find(id);
    const Times got = found == ours.jobs.end() ? Times{} : found->second;
    const bool equal = got.submit == want.submit && got.end == want.end &&
                       (!with_start || got.first_seen == want.first_seen);
    if (!equal && ++different <= 5) {
      ADD_FAILURE() << fmt::format(
          "{}: job {}: submit {} end {} seen {}, golden submit {} end {} seen {}", name, id,
          got.submit, got.end, got.first_seen, want.submit, want.end, want.first_seen);
    }
  }
  EXPECT_EQ(different, 0) << name << ": jobs that differ";
  fmt::print("{}: {} of {} jobs equal\n", name, golden.size() - static_cast<std::size_t>(different),
             golden.size());
}

TEST(BloxParity, SmallLargeBursts) {
  MUSTER_NEEDS_SHARED("golden/blox/small_large.csv");
  std::ifstream file(shared_dir() / "golden/blox/small_large.csv");
  std::string line;
  std::getline(file, line);
  std::map<std::string, std::map<int, Times>> golden;
  while (std::getline(file, line)) {
    line = std::string(trim(line));
    const auto cell = split(line, ',');
    ASSERT_EQ(cell.size(), 7U) << line;
    const std::string key = fmt::format("{},{},{}", cell[0], cell[1], cell[2]);
    golden[key][static_cast<int>(*parse_integer(cell[3]))] = {
        *parse_real(cell[4]), *parse_real(cell[5]), *parse_real(cell[6])};
  }
  ASSERT_EQ(golden.size(), 9U);
  for (const auto& [key, jobs] : golden) {
    const auto part = split(key, ',');
    Setting setting;
    setting.policy = part[0];
    const std::size_t dash = part[1].find('-');
    if (dash != std::string_view::npos) {
      setting.threshold = *parse_real(part[1].substr(dash + 1, part[1].size() - dash - 2));
    }
    setting.load = *parse_real(part[2]);
    setting.first = 1000;
    setting.last = 2000;
    const Outcome ours =
        run_blox(setting, source_of("small_large", setting.load, true, blox_plain_list(20000)));
    expect_equal(jobs, ours, true, key);
  }
}

struct RecordedRun {
  std::string file;
  std::string policy;
  double load;
  bool multi_gpu;
  bool cached;
  int first;
  int last;
  long long rounds;
  long long preemptions;
  double mean_jct;
  double mean_responsiveness;
};

class BloxRuns : public testing::TestWithParam<RecordedRun> {};

TEST_P(BloxRuns, EqualJobByJob) {
  const RecordedRun& run = GetParam();
  MUSTER_NEEDS_SHARED("golden/blox/runs/fake_cluster_job_log.json");
  const auto folder = shared_dir() / "golden/blox/runs";
  auto list = read_blox_log((folder / "fake_cluster_job_log.json").string(), run.multi_gpu);
  ASSERT_TRUE(list) << list.error().message;
  Setting setting;
  setting.policy = run.policy;
  setting.load = run.load;
  setting.first = run.first;
  setting.last = run.last;
  const std::string kind = run.file == "dual_load" ? "dual_load" : "simple";
  const Outcome ours = run_blox(setting, source_of(kind, run.load, run.cached, std::move(*list)));
  EXPECT_EQ(ours.turns, run.rounds);
  EXPECT_EQ(ours.preemptions, run.preemptions);
  EXPECT_NEAR(ours.mean_jct(), run.mean_jct, 5e-4);
  EXPECT_NEAR(ours.mean_responsiveness(), run.mean_responsiveness, 5e-4);
  if (!run.file.ends_with("_300") && !run.file.ends_with("_120")) return;
  std::ifstream file(folder / (run.file + ".job_stats.json"));
  const nlohmann::json stats = nlohmann::json::parse(file);
  std::map<int, Times> golden;
  for (const auto& [id, times] : stats.items()) golden[std::stoi(id)] = {times[0], times[1], 0};
  expect_equal(golden, ours, false, run.file);
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, BloxRuns,
    testing::Values(RecordedRun{"las_load7_1gpu_fresh_100_300", "Las", 7, false, false, 100, 300,
                                2176, 42, 65962.204, 451.756},
                    RecordedRun{"las_load3_multigpu_fresh_100_300", "Las", 3, true, false, 100, 300,
                                2723, 602, 67566.930, 447.527},
                    RecordedRun{"multirun_Fifo_load7_50_120", "Fifo", 7, false, false, 50, 120,
                                2046, 0, 67114.535, 468.056},
                    RecordedRun{"multirun_Tiresias_load7_50_120", "Tiresias", 7, false, true, 50,
                                120, 2294, 152, 69445.268, 453.718},
                    RecordedRun{"multirun_Srtf_load7_50_120", "Srtf", 7, false, true, 50, 120, 2039,
                                46, 67100.197, 453.718},
                    RecordedRun{"optimus_load3", "Optimus", 3, false, false, 50, 100, 1723, 0,
                                38318.882, 436.529},
                    RecordedRun{"optimus_load8", "Optimus", 8, false, true, 50, 100, 2020, 356,
                                53530.647, 430.647},
                    RecordedRun{"dual_load", "Fifo", 2, false, false, 3, 12, 337, 63, 56429.700,
                                5369.700}));

TEST(BloxParity, FigureSix) {
  MUSTER_NEEDS_SHARED("golden/blox/runs/figure6_recomputed.csv");
  std::ifstream file(shared_dir() / "golden/blox/runs/figure6_recomputed.csv");
  std::string line;
  int points = 0;
  while (std::getline(file, line)) {
    line = std::string(trim(line));
    const auto cell = split(line, ',');
    if (line.starts_with('#') || cell[0] == "policy") continue;
    Setting setting;
    setting.policy = cell[0];
    setting.load = *parse_real(cell[1]);
    setting.first = 3000;
    setting.last = 4000;
    const Outcome ours =
        run_blox(setting, source_of("simple", setting.load, true, blox_plain_list(20000)));
    EXPECT_NEAR(ours.mean_jct(), *parse_real(cell[2]), 5e-4) << line;
    EXPECT_NEAR(ours.mean_responsiveness(), *parse_real(cell[5]), 5e-4) << line;
    EXPECT_EQ(ours.turns, *parse_integer(cell[6])) << line;
    EXPECT_EQ(ours.preemptions, *parse_integer(cell[7])) << line;
    ++points;
  }
  EXPECT_EQ(points, 27);
}

}  // namespace
}  // namespace muster
