#include "run/assembly/simulation.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/parallel.h"
#include "run/assembly/recorded_run.h"
#include "run/config/load_config.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

RunConfig described(std::string_view text) {
  auto document = parse_toml(text, "run.toml");
  EXPECT_TRUE(document) << (document ? "" : document.error().message);
  auto config = load_config(*document, "run.toml", "", {});
  EXPECT_TRUE(config) << (config ? "" : config.error().message);
  auto complete = complete_config(std::move(*config));
  EXPECT_TRUE(complete) << (complete ? "" : complete.error().message);
  return complete ? std::move(*complete) : RunConfig{};
}

const RunConfig& busy() {
  static const RunConfig kConfig = described(R"(
cluster = "4x4"
scheduling = "las"
[workload.generator]
name = "poisson"
jobs = 400
load = 1.1
users = 5
[restart]
restart = 20
checkpoint_interval = 300
[failures]
node_mtbf = 100000
)");
  return kConfig;
}

TEST(Simulation, SharedJobsGiveWhatStreamedJobsGive) {
  const auto jobs = load_jobs(busy().workload);
  ASSERT_TRUE(jobs) << jobs.error().message;
  const auto shared = measure_run(busy(), *jobs);
  const auto streamed = measure_run(busy(), nullptr);
  ASSERT_TRUE(shared && *shared && streamed && *streamed);
  EXPECT_EQ((*shared)->metrics.avg_jct_s, (*streamed)->metrics.avg_jct_s);
  EXPECT_EQ((*shared)->metrics.preemptions, (*streamed)->metrics.preemptions);
  EXPECT_GT((*shared)->metrics.restarts, 0);
}

TEST(Simulation, ModelsWithoutARestartCostAreRefusedWhereWanted) {
  constexpr std::string_view kRun = R"(
cluster = "2x4"
[workload.generator]
name = "poisson"
jobs = 20
models = "bert:1,unheard-of:1"
[restart]
restart = 10
unknown = "refuse"
table = [{model = "bert", gpus = 0, seconds = 3}]
)";
  const auto run = measure_run(described(kRun), nullptr);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message,
              HasSubstr("for which the table of [restart] has no row; add {model = "));
  EXPECT_THAT(run.error().message, HasSubstr("set restart.unknown to \"usual\""));
}

TEST(Simulation, JobsLargerThanTheClusterAreRefusedByMuriToo) {
  const auto run = measure_run(described(R"(
cluster = "1x4"
scheduling = "muri"
placement = "yarn"
perf = ["interleave"]
[workload.generator]
name = "poisson"
jobs = 60
gpus = "1:0.5,8:0.5"
)"),
                               nullptr);
  ASSERT_TRUE(run && *run) << run.error().message;
  EXPECT_GT((*run)->metrics.refused, 0);
  EXPECT_EQ((*run)->metrics.refused + (*run)->metrics.finished, 60);
}

TEST(Simulation, ManyAtOnceInOneProcess) {
  const auto jobs = load_jobs(busy().workload);
  ASSERT_TRUE(jobs);
  const auto alone = measure_run(busy(), *jobs);
  ASSERT_TRUE(alone && *alone);
  std::vector<double> results(64, 0);
  in_parallel(results.size(), 8, [&](std::size_t i) {
    const auto run = measure_run(busy(), *jobs);
    if (run && *run) results[i] = (*run)->metrics.avg_jct_s;
  });
  for (const double result : results) EXPECT_EQ(result, (*alone)->metrics.avg_jct_s);
}

TEST(Simulation, SpeedAndLimitChangeTheWorkload) {
  RunConfig config = busy();
  config.workload.limit = 10;
  config.workload.speed = 2;
  const auto usual = load_jobs(busy().workload);
  const auto changed = load_jobs(config.workload);
  ASSERT_TRUE(usual && changed);
  ASSERT_EQ((*changed)->jobs.size(), 10U);
  EXPECT_DOUBLE_EQ((*changed)->jobs[9].submit, (*usual)->jobs[9].submit / 2);
  EXPECT_EQ((*changed)->jobs[9].duration, (*usual)->jobs[9].duration);
}

TEST(Simulation, SelectorsChooseAmongCombinations) {
  const RunConfig config = described(R"(
cluster = "2x4"
selector = "look-ahead:every=5"
pacing = "rounds:length=300"
[[policy_set]]
scheduling = "fifo"
[[policy_set]]
scheduling = "srtf"
[workload.generator]
name = "poisson"
jobs = 80
load = 1.5
)");
  const auto run = measure_run(config, nullptr);
  ASSERT_TRUE(run && *run);
  EXPECT_EQ((*run)->metrics.finished, 80);
}

TEST(RecordedRun, InputsRunAgainToTheSameJobs) {
  const TemporaryFolder folder;
  folder.write("cluster.toml", "[[nodes]]\ncount = 4\ngpus = 4\n");
  folder.write("trace.csv",
               "job_id,submit_s,duration_s,gpus\n1,0,100,4\n2,10,50,4\n3,20,400,16\n4,30,10,1\n");
  const auto document = parse_toml(
      "cluster = \"cluster.toml\"\nscheduling = \"las\"\nworkload.trace = \"trace.csv\"\n",
      "run.toml");
  ASSERT_TRUE(document);
  auto loaded = load_config(*document, "run.toml", folder.path().string(), {});
  ASSERT_TRUE(loaded) << loaded.error().message;
  auto config = complete_config(std::move(*loaded));
  ASSERT_TRUE(config) << config.error().message;
  config->output.folder = (folder.path() / "first").string();
  const auto first = record_run(*config, nullptr, {});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->complete);

  auto again = load_config({.file = (folder.path() / "first/inputs/run.toml").string()});
  ASSERT_TRUE(again) << again.error().message;
  auto complete = complete_config(std::move(*again));
  ASSERT_TRUE(complete) << complete.error().message;
  complete->output.folder = (folder.path() / "second").string();
  const auto second = record_run(*complete, nullptr, {});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(folder.read("first/jobs.csv"), folder.read("second/jobs.csv"));
  EXPECT_EQ(folder.read("first/inputs/run.toml"), folder.read("second/inputs/run.toml"));
  EXPECT_THAT(first->info.rerun, HasSubstr("--config"));
}

TEST(RecordedRun, StoppedRunsAreMarked) {
  const TemporaryFolder folder;
  RunConfig config = busy();
  config.output.folder = (folder.path() / "run").string();
  int turns = 0;
  const auto run = record_run(config, nullptr, {.keep_going = [&turns] { return ++turns < 50; }});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_FALSE(run->complete);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run"));
  EXPECT_THAT(run->folder, HasSubstr("incomplete"));
}

TEST(RecordedRun, FileNames) {
  EXPECT_EQ(file_name_for("las:service=seconds + consolidated"),
            "las-service-seconds-consolidated");
  EXPECT_EQ(file_name_for("../x").find('/'), std::string::npos);
  EXPECT_EQ(file_name_for("  "), "run");
}

}  // namespace
}  // namespace muster
