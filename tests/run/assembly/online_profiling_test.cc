// Profiling jobs as they come gives what profiling all of them before the run gives.
#include "run/assembly/online_profiling.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "run/assembly/simulation.h"
#include "run/config/load_config.h"
#include "support/paths.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

Result<RunConfig> profiled_run(std::string_view text) {
  const auto document = parse_toml(text, "run.toml");
  if (!document) return document.error();
  auto config = load_config(*document, "run.toml", "", {});
  if (!config) return config.error();
  return complete_config(std::move(*config));
}

// Everything that is told of jobs, nodes and turns, sorted: at equal times the two may speak in
// another order.
class Everything final : public Observer {
 public:
  void on_decision(const Decision& decision) override {
    // Who blocks whom, and which entry of the queue started first, is told by number.
    lines.push_back(fmt::format("{} {} {} {} {}", exact_text(decision.time),
                                action_name(decision.action), index(decision.job),
                                reason_name(decision.reason), decision.gpus));
  }
  void on_placement(const Decision& decision, const GpuSet& gpus) override {
    lines.push_back(
        fmt::format("{} on {} {:x}", index(decision.job), index(gpus[0].node), gpus[0].mask));
  }
  void on_job_end(const JobRecord& job) override {
    lines.push_back(fmt::format("{} {} {} {} {} {} {} {}", index(job.id), job.name,
                                job_state_name(job.status), reason_name(job.reason),
                                exact_text(job.start), exact_text(job.end), exact_text(job.queue),
                                exact_text(job.gpu_seconds)));
    profiled += job.reason == Reason::kProfiled ? 1 : 0;
    ++jobs;
  }
  void on_turn(const TurnStats& turn) override {
    EXPECT_GE(turn.time, last);
    last = turn.time;
  }
  std::vector<std::string> lines;
  Seconds last = 0;
  int profiled = 0;
  int jobs = 0;
};

Everything told_by(const std::string& text) {
  Everything everything;
  const auto config = profiled_run(text);
  EXPECT_TRUE(config) << config.error().message;
  if (!config) return everything;
  auto simulation = Simulation::make(*config);
  EXPECT_TRUE(simulation) << simulation.error().message;
  if (!simulation) return everything;
  (*simulation)->observe(everything);
  const auto ran = (*simulation)->run();
  EXPECT_TRUE(ran && *ran);
  std::sort(everything.lines.begin(), everything.lines.end());
  return everything;
}

constexpr std::string_view kModels = "vision-small/32:1,vision-small/64:1,point-cloud/32:1";

class OnlineProfiling : public ::testing::TestWithParam<std::string> {};

TEST_P(OnlineProfiling, EqualsProfilingBeforeTheRun) {
  for (const std::string& policies : std::vector<std::string>{
           "scheduling = \"fifo\"", "scheduling = \"srtf\"",
           "scheduling = \"lucid\"\nplacement = \"packing:share=always\"\n"
           "durations = \"estimate\"\nerrors = \"log-normal\"\nperf = \"colocation:profiles=" +
               (source_dir() / "presets" / "venus_like_profiles.csv").string() + "\""}) {
    const std::string text = fmt::format(
        "cluster = \"3x8\"\npacing = \"{}\"\n{}\n[workload.generator]\nname = \"poisson\"\n"
        "jobs = 400\nload = 1\nmean_duration = 500\nmodels = \"{}\"\n"
        "gpus = \"1:0.4,2:0.2,4:0.2,8:0.1,16:0.1\"\n"
        "[profiling]\nnodes = 1\nlimit = 150\nlargest = 8\n",
        GetParam(), policies, kModels);
    SCOPED_TRACE(text);
    const Everything before = told_by(text);
    const Everything online = told_by(text + "online = true\n");
    EXPECT_EQ(online.lines, before.lines);
    EXPECT_EQ(online.jobs, 400);
    EXPECT_GT(online.profiled, 20);
    EXPECT_LT(online.profiled, 380);
  }
}

INSTANTIATE_TEST_SUITE_P(Pacings, OnlineProfiling,
                         ::testing::Values("events", "ticks", "slots:length=60",
                                           "rounds:length=30"),
                         [](const auto& test) {
                           return test.param.substr(0, test.param.find(':'));
                         });

TEST(OnlineProfiler, TakesJobsFromAStreamWithoutEnd) {
  const Everything told_of = told_by(
      "cluster = \"3x8\"\nscheduling = \"fifo\"\n[engine]\nuntil = 50000\n"
      "[workload.generator]\nname = \"poisson\"\njobs = 0\nload = 0.5\n"
      "[profiling]\nnodes = 1\nonline = true\n");
  EXPECT_GT(told_of.jobs, 10);
}

TEST(OnlineProfiler, SaysWhatItCannotBeCombinedWith) {
  const std::string text =
      "cluster = \"3x8\"\nworkload.generator = \"poisson:jobs=10\"\n[profiling]\nnodes = 1\n"
      "online = true\n";
  const auto free = profiled_run(text + "free = true\n");
  ASSERT_FALSE(free);
  EXPECT_THAT(free.error().message, HasSubstr("before anybody could have profiled them"));
  const auto apart = profiled_run(text + "[partitions]\napart = true\n");
  ASSERT_FALSE(apart);
  EXPECT_THAT(apart.error().message, HasSubstr("partitions.apart"));
  const auto both = profiled_run(text + "within = true\n");
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, HasSubstr("nodes of its own"));
}

TEST(ProfilerWithin, ProfilesOnGpusOfTheCluster) {
  for (const char* pacing : {"events", "ticks", "rounds:length=30"}) {
    const Everything everything = told_by(fmt::format(
        "cluster = \"3x8\"\npacing = \"{}\"\nscheduling = \"lucid\"\n"
        "placement = \"packing:share=always\"\nperf = \"colocation:profiles={}\"\n"
        "[workload.generator]\nname = \"poisson\"\njobs = 300\nload = 0.7\nmean_duration = 500\n"
        "models = \"{}\"\ngpus = \"1:0.6,2:0.2,4:0.1,8:0.1\"\n"
        "[profiling]\nnodes = 1\ngpus_per_node = 4\nlimit = 150\nlargest = 4\nwithin = true\n",
        pacing, (source_dir() / "presets" / "venus_like_profiles.csv").string(), kModels));
    EXPECT_EQ(everything.jobs, 300);
    std::map<std::string, int> stops;  // by job
    for (const std::string& line : everything.lines) {
      const std::vector<std::string_view> words = split(line, ' ');
      if (words[1] == "stop" && words[3] == "profiled") ++stops[std::string(words[2])];
    }
    EXPECT_GT(stops.size(), 100U) << pacing;
    EXPECT_LT(stops.size(), 280U) << pacing;
    for (const auto& [job, count] : stops) EXPECT_EQ(count, 1) << job;
  }
}

}  // namespace
}  // namespace muster
