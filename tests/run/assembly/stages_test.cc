// Runs in several simulations: partitions apart, and a profiling stage before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/assembly/simulation.h"
#include "run/config/load_config.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<RunConfig> config_of(std::string_view text) {
  const auto document = parse_toml(text, "run.toml");
  if (!document) return document.error();
  auto config = load_config(*document, "run.toml", "", {});
  if (!config) return config.error();
  return complete_config(std::move(*config));
}

std::string config_problem(std::string_view text) {
  const auto config = config_of(text);
  if (!config) return config.error().message;
  const auto simulation = Simulation::make(*config);
  return simulation ? "" : simulation.error().message;
}

// Repeats what a run tells, as text.
class Story final : public Observer {
 public:
  void on_decision(const Decision& decision) override {
    if (decision.action != Action::kStart && decision.action != Action::kFinish) return;
    lines.push_back(std::to_string(static_cast<int>(decision.time)) + " " +
                    std::string(action_name(decision.action)) + " " +
                    std::to_string(index(decision.job)));
  }
  void on_placement(const Decision& decision, const GpuSet& gpus) override {
    nodes.push_back(std::to_string(index(decision.job)) + " on " +
                    std::to_string(index(gpus[0].node)));
  }
  void on_job_end(const JobRecord& job) override { ends.push_back(job); }
  void on_turn(const TurnStats& turn) override {
    EXPECT_GE(turn.time, last);
    last = turn.time;
    most_used = std::max(most_used, static_cast<int>(turn.used_gpus));
    usable = turn.usable_gpus;
  }
  std::vector<std::string> lines;
  std::vector<std::string> nodes;
  std::vector<JobRecord> ends;
  Seconds last = 0;
  int most_used = 0;
  int usable = 0;
};

Story told(const RunConfig& config, unsigned threads = 1) {
  Story story;
  const auto simulation = Simulation::make(config);
  EXPECT_TRUE(simulation) << simulation.error().message;
  if (!simulation) return story;
  (*simulation)->use_threads(threads);
  (*simulation)->observe(story);
  const auto ended = (*simulation)->run();
  EXPECT_TRUE(ended && *ended);
  return story;
}

constexpr std::string_view kTwoClusters = R"(
cluster = {nodes = [{count = 1, gpus = 8, partition = "a"}, {count = 2, gpus = 8, partition = "b"}]}
pacing = "ticks"
[partitions]
apart = true
[workload]
rebase = "no"
)";

std::string on_trace(const TemporaryFolder& folder, std::string_view jobs,
                     std::string_view rest = "") {
  folder.write("trace.csv", "job_id,submit_s,duration_s,gpus,partition\n" + std::string(jobs));
  return std::string(kTwoClusters) + "trace = \"" + (folder.path() / "trace.csv").string() +
         "\"\n" + std::string(rest);
}

TEST(PartitionsApart, TellOneStoryInOrderOfTime) {
  const TemporaryFolder folder;
  const auto config =
      config_of(on_trace(folder, "x,0,10,8,a\ny,1,10,8,b\nz,2,10,8,a\nw,3,1,8,b\n"));
  ASSERT_TRUE(config) << config.error().message;
  const Story story = told(*config);
  EXPECT_THAT(story.lines, ElementsAre("0 start 0", "1 start 1", "3 start 3", "4 finish 3",
                                       "10 finish 0", "10 start 2", "11 finish 1", "20 finish 2"));
  // Nodes keep their numbers in the whole cluster.
  EXPECT_THAT(story.nodes, ElementsAre("0 on 0", "1 on 1", "3 on 2", "2 on 0"));
  EXPECT_EQ(story.most_used, 24);
  EXPECT_EQ(story.usable, 24);
  const Story threaded = told(*config, 4);
  EXPECT_EQ(threaded.lines, story.lines);
}

TEST(PartitionsApart, AJobOfAnUnknownPartitionIsRefused) {
  const TemporaryFolder folder;
  const auto config = config_of(on_trace(folder, "x,0,10,8,a\ny,1,10,8,nowhere\n"));
  ASSERT_TRUE(config) << config.error().message;
  const Story story = told(*config);
  ASSERT_EQ(story.ends.size(), 2U);
  EXPECT_EQ(story.ends[0].status, JobState::kRefused);
}

constexpr std::string_view kProfiling = R"(
[profiling]
nodes = 1
limit = 100
largest = 4
donors = ["b"]
)";

TEST(Profiling, ShortJobsEndThereAndLongOnesGoOn) {
  const TemporaryFolder folder;
  const std::string text =
      on_trace(folder, "short,0,60,1,a\nlong,0,500,1,a\nlarge,0,20,8,b\n", kProfiling);
  const auto config = config_of(text);
  ASSERT_TRUE(config) << config.error().message;
  const Story story = told(*config);
  std::map<std::string, JobRecord> by_name;
  for (const JobRecord& job : story.ends) by_name[job.name] = job;
  EXPECT_EQ(by_name["short"].end, 60);
  EXPECT_EQ(by_name["short"].reason, Reason::kProfiled);
  EXPECT_EQ(by_name["large"].end, 20);
  // Profiled for 100 s, then run from the beginning.
  EXPECT_EQ(by_name["long"].start, 100);
  EXPECT_EQ(by_name["long"].end, 600);
  const auto free = config_of(text + "free = true\n");
  ASSERT_TRUE(free) << free.error().message;
  for (const JobRecord& job : told(*free).ends) {
    EXPECT_EQ(job.end, job.name == "long" ? 500 : by_name[job.name].end);
  }
}

TEST(Profiling, TheAccountingSaysWhatIsBookedOfTheWaitForIt) {
  const TemporaryFolder folder;
  // Two jobs fill the profiler; the third waits 50 s for it, and not at all for its partition.
  const std::string text = on_trace(folder, "x,0,50,4,a\ny,0,50,4,a\nlong,0,500,4,a\n",
                                    std::string(kProfiling) + "borrow = false\nfree = true\n");
  const auto waits = [](const RunConfig& config) {
    std::map<std::string, Seconds> by_name;
    for (const JobRecord& job : told(config).ends) by_name[job.name] = job.queue;
    return by_name;
  };
  const auto net = config_of(text);
  ASSERT_TRUE(net) << net.error().message;
  const auto twice = config_of("accounting = \"profiled-wait-twice\"\n" + text);
  ASSERT_TRUE(twice) << twice.error().message;
  EXPECT_EQ(waits(*net)["long"], 0);
  EXPECT_EQ(waits(*twice)["long"], 50);
}

TEST(Profiling, WorksWithoutVirtualClusters) {
  const auto config = config_of(
      "cluster = \"4x8\"\n[workload.generator]\nname = \"poisson\"\njobs = 300\n"
      "[profiling]\nnodes = 1\n");
  ASSERT_TRUE(config) << config.error().message;
  const Story story = told(*config);
  EXPECT_EQ(story.ends.size(), 300U);
  int profiled = 0;
  for (const JobRecord& job : story.ends) {
    EXPECT_EQ(job.status, JobState::kFinished);
    profiled += job.reason == Reason::kProfiled ? 1 : 0;
  }
  EXPECT_GT(profiled, 0);
}

TEST(Stages, MistakesAreNamed) {
  const TemporaryFolder folder;
  const std::string jobs = "x,0,10,8,a\n";
  EXPECT_THAT(config_problem(on_trace(folder, jobs, "[profiling]\nnodes = 1\ndonors = [\"bb\"]\n")),
              HasSubstr("did you mean 'b'"));
  EXPECT_THAT(config_problem(on_trace(folder, jobs, "[profiling]\nnodes = 1\nlimit = -1\n")),
              HasSubstr("profiling: 1 nodes"));
  EXPECT_THAT(config_problem("cluster = \"1x8\"\nworkload = {generator = \"poisson\"}\n"
                             "progress = \"countdown\"\n"),
              HasSubstr("needs the pacing 'ticks'"));
  EXPECT_THAT(config_problem(on_trace(folder, jobs, "[scaling]\nname = \"energy-savin\"\n")),
              HasSubstr("did you mean 'energy-saving'"));
  EXPECT_THAT(config_problem(on_trace(folder, jobs, "[measure]\nfirst = 0\nlast = 0\n")),
              HasSubstr("partitions.apart"));
  EXPECT_THAT(config_problem(on_trace(folder, jobs,
                                      "[restart]\nby_size = [{gpus = 8, seconds = 4}, {gpus "
                                      "= 4, seconds = 5}]\n")),
              HasSubstr("must rise"));
  EXPECT_THAT(config_problem(
                  "cluster = \"1x8\"\n[workload]\ngenerator = \"poisson\"\nmodels = \"m.csv\"\n"),
              HasSubstr("they need a trace"));
}

TEST(JobTables, GiveEstimatesModelsAndForecasts) {
  const TemporaryFolder folder;
  folder.write("estimates.csv", "job_id,estimate\nx,100\ny,-5\n");
  folder.write("models.csv",
               "job_id,model,dataset,batchsize,amp\nx,BERT,SQuAD,32,1\ny,VGG,,64,0\n");
  const std::string at = "\"" + folder.path().string() + "/";
  const std::string text =
      on_trace(folder, "x,0,10,1,a\ny,1,10,1,b\n",
               "models = " + at + "models.csv\"\n[workload.estimates]\nfile = " + at +
                   "estimates.csv\"\nnegative = 1000\n");
  const auto config = config_of(text);
  ASSERT_TRUE(config) << config.error().message;
  const auto jobs = load_jobs(config->workload);
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ((*jobs)->jobs[0].estimate, 100);
  EXPECT_EQ((*jobs)->jobs[1].estimate, 1000);
  EXPECT_EQ((*jobs)->symbols.text((*jobs)->jobs[0].model), "BERT/SQuAD/32/amp");
  EXPECT_EQ((*jobs)->symbols.text((*jobs)->jobs[1].model), "VGG/64");
  // What is written beside a result says the same.
  const auto again = config_of(to_toml(*config));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_toml(*again), to_toml(*config));

  folder.write("estimates.csv", "job_id,estimate\nx,100\n");
  EXPECT_THAT(config_problem(text), HasSubstr("no row for job 'y'"));
  folder.write("estimates.csv", "job_id,guess\nx,100\n");
  EXPECT_THAT(config_problem(text), HasSubstr("no column 'estimate'"));
  EXPECT_THAT(config_problem(
                  on_trace(folder, "x,0,10,1,a\n", "[forecast]\nfile = " + at + "models.csv\"\n")),
              HasSubstr("no column 'jobs'"));
}

TEST(Config, StagesSurviveBeingWritten) {
  const auto config = config_of(
      "cluster = \"2x8\"\npacing = \"ticks\"\nscaling = \"energy-saving:buffer=1\"\n"
      "[workload.generator]\nname = \"poisson\"\njobs = 3\n[profiling]\nnodes = 1\nfree = true\n"
      "[progress]\nname = \"countdown\"\n[restart]\n"
      "by_size = [{gpus = 1, seconds = 7}, {gpus = 8, seconds = 30}]\n");
  ASSERT_TRUE(config) << config.error().message;
  const auto again = config_of(to_toml(*config));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_toml(*again), to_toml(*config));
  EXPECT_EQ(again->progress.name, "countdown");
  EXPECT_EQ(again->restart.by_size.size(), 2U);
  EXPECT_EQ(again->scaling.params.at("buffer"), "1");
  EXPECT_TRUE(again->profiling.free);
}

}  // namespace
}  // namespace muster
