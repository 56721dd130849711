#include "run/config/config.h"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/config/load_config.h"
#include "support/paths.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<RunConfig> read(std::string_view text, const ConfigLayers& layers = {}) {
  auto document = parse_toml(text, "run.toml");
  if (!document) return document.error();
  return load_config(*document, "run.toml", "", layers);
}

Result<RunConfig> complete(std::string_view text, const ConfigLayers& layers = {}) {
  auto config = read(text, layers);
  if (!config) return config.error();
  return complete_config(std::move(*config));
}

std::string problem(std::string_view text) {
  const auto config = complete(text);
  return config ? "" : config.error().message;
}

constexpr std::string_view kSmall = R"(
cluster = "2x4"
[workload]
generator = "poisson:jobs=10"
)";

TEST(RunConfig, DefaultsAreWrittenOut) {
  const auto config = complete(kSmall);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->pacing.name, "events");
  EXPECT_EQ(config->scheduling.params.at("preempt"), "false");
  EXPECT_EQ(config->workload.generator.params.at("seed"), "1");
  // A load refers to the cluster of the run.
  EXPECT_EQ(config->workload.generator.params.at("cluster_gpus"), "8");
  EXPECT_EQ(config->failures.seed, 1U);
}

TEST(RunConfig, NamesUpToEightMetrics) {
  const std::string small(kSmall);
  EXPECT_EQ(complete(kSmall)->metrics.size(), 5U);
  const auto list = complete("metrics = [\"loss\", \"watts\"]\n" + small);
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->metrics, (std::vector<std::string>{"loss", "watts"}));
  const auto text = complete("metrics = \"loss, watts\"\n" + small);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->metrics, list->metrics);
  EXPECT_NE(to_toml(*list).find("metrics = [\"loss\", \"watts\"]"), std::string::npos);
  EXPECT_EQ(problem("metrics = \"a,b,c,d,e,f,g,h,i\"\n" + small),
            "metrics has 9 names, but policies see 8 at most");
  EXPECT_EQ(problem("metrics = \"a,b,a\"\n" + small), "metrics names 'a' twice");
}

// Long: a description with all there is.
TEST(RunConfig, WholeDescriptionReadsBack) {
  const auto first = complete(R"(
name = "everything \"quoted\""
seed = 7
cluster = {nodes = [{count = 2, gpus = 4, gpu_type = "v100"}]}
pacing = "rounds:length=60"
perf = ["scaling:serial=0.1", {name = "gpu-types", speeds = "v100=1,k80=0.25"}]
durations = "estimate"
errors = "log-normal:sigma=0.7"
[selector]
name = "look-ahead"
every = 10
[[policy_set]]
scheduling = "las"
[[policy_set]]
scheduling = {name = "srtf", boost_after = 1000}
admission = "load-threshold:threshold=1.4"
[workload]
speed = 1.5
limit = 100
generator = {name = "diurnal", jobs = 50, gpus = "1:0.5,2:0.5"}
[restart]
first_start = 5
restart = 30.5
checkpoint_interval = 600
stop_saves = false
[[restart.table]]
model = "bert"
gpus = 8
seconds = 90
[failures]
node_mtbf = 1e6
seed = 3
[engine]
max_crashes = 2
until = 1e7
[measure]
first = 5
last = 20
stop = false
[output]
turns = true
)");
  ASSERT_TRUE(first) << first.error().message;
  const std::string text = to_toml(*first);
  const auto second = complete(text);
  ASSERT_TRUE(second) << second.error().message << "\n" << text;
  EXPECT_EQ(to_toml(*second), text);
  EXPECT_EQ(second->policy_sets.size(), 2U);
  EXPECT_EQ(second->policy_sets[0].placement.name, "consolidated");
  EXPECT_EQ(second->policy_sets[1].scheduling.params.at("boost_after"), "1000");
  EXPECT_EQ(second->perf[1].params.at("speeds"), "v100=1,k80=0.25");
  EXPECT_EQ(second->durations, Durations::kEstimate);
  EXPECT_EQ(second->errors.params.at("sigma"), "0.7");
  EXPECT_EQ(second->errors.params.at("seed"), "7");
  EXPECT_EQ(second->restart.table[0].model, "bert");
  EXPECT_EQ(second->failures.seed, 3U);
  EXPECT_EQ(second->measure.last, 20);
  EXPECT_FALSE(second->measure.stop);
  EXPECT_EQ(second->name, "everything \"quoted\"");
}

// Every key of a description that is written out must be named in docs/configuration.md.
TEST(RunConfig, PageNamesEveryKey) {
  std::ifstream file(source_dir() / "docs" / "configuration.md");
  std::ostringstream page;
  page << file.rdbuf();
  auto config = complete(kSmall);
  ASSERT_TRUE(config) << config.error().message;
  config->measure = {1, 2, true};
  config->policy_sets.resize(1);
  config->restart.table.resize(1);
  config->failure_seed = 1;
  config->name = "named";
  config->scaling = {"all", {}};
  config->durations = Durations::kEstimate;
  config->errors = {"biased", {}};
  config->partitions_apart = true;
  config->forecast.file = "forecast.csv";
  config->profiling.nodes = 1;
  config->restart.by_size.resize(1);
  WorkloadConfig traced;
  traced.trace = "trace.csv";
  traced.sha256 = "0";
  traced.settings["last_ran"] = "true";
  traced.models = "models.csv";
  traced.estimates.file = "estimates.csv";
  RunConfig with_trace = *config;
  with_trace.workload = traced;
  for (const RunConfig& one : {*config, with_trace}) {
    const auto document = parse_toml(to_toml(one), "run.toml");
    ASSERT_TRUE(document);
    for (const auto& [name, value] : document->members) {
      EXPECT_THAT(page.str(), HasSubstr(name));
      // The parameters of plug-ins are in docs/policy-reference.md.
      if (value.find("name") != nullptr) continue;
      for (const TomlMember& member : value.members) {
        if (name == "cluster") continue;
        EXPECT_THAT(page.str(), HasSubstr("`" + member.name + "`")) << "in [" << name << "]";
      }
    }
  }
}

TEST(RunConfig, LaterLayersReplaceEarlierOnes) {
  ConfigLayers layers;
  layers.settings.push_back({toml_at("scheduling", toml_text("las")), "--scheduling"});
  layers.settings.push_back({toml_at("restart.restart", toml_text("40")), "--set"});
  const auto config = complete(std::string(kSmall) + R"(
[scheduling]
name = "fifo"
preempt = true
[restart]
first_start = 5
restart = 30
)",
                               layers);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->scheduling.name, "las");
  EXPECT_EQ(config->scheduling.params.count("preempt"), 0U);
  EXPECT_EQ(config->restart.restart, 40);
  EXPECT_EQ(config->restart.first_start, 5);
}

TEST(RunConfig, ParametersCanBeAddedToAChoice) {
  ConfigLayers layers;
  layers.settings.push_back({toml_at("scheduling.quantum", toml_text("60")), "--set"});
  const auto config =
      complete(std::string("scheduling = \"las:service=seconds\"\n") + std::string(kSmall), layers);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->scheduling.params.at("quantum"), "60");
  EXPECT_EQ(config->scheduling.params.at("service"), "seconds");
}

TEST(RunConfig, PresetsGivePoliciesTheirUsualParameters) {
  const TemporaryFolder folder;
  const std::string preset = folder
                                 .write("system.toml", R"(
scheduling = "fifo"
cluster = "32x4"
[usual.scheduling.las]
service = "seconds"
boost_after = 100
)")
                                 .string();
  ConfigLayers layers;
  layers.preset = preset;
  layers.settings.push_back({toml_at("scheduling", toml_text("las:boost_after=200")), "-s"});
  const auto config = complete("workload.generator = \"poisson\"\n", layers);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->scheduling.params.at("service"), "seconds");
  EXPECT_EQ(config->scheduling.params.at("boost_after"), "200");
  EXPECT_EQ(config->cluster.shape, "32x4");
}

TEST(RunConfig, BloxPresetIsWhole) {
  ConfigLayers layers;
  layers.preset = (source_dir() / "presets" / "blox.toml").string();
  for (const std::string_view policy : {"fifo", "las", "srtf", "optimus-as-coded"}) {
    ConfigLayers chosen = layers;
    chosen.settings.push_back({toml_at("scheduling", toml_text(policy)), "-s"});
    const auto config = complete(
        "workload.generator = \"blox-simple:load=7\"\nmeasure = {first = 10, last = 20}\n", chosen);
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->scheduling.params.at("boost_after"), "3600000");
    EXPECT_EQ(config->workload.generator.params.at("jobs"), "0");
    EXPECT_TRUE(config->engine.preemptions.passing_stops);
  }
}

TEST(RunConfig, PathsAreRelativeToTheirFile) {
  auto document = parse_toml("cluster = \"c.toml\"\n[workload]\ntrace = \"t.csv\"\n", "x/run.toml");
  ASSERT_TRUE(document);
  const auto config = load_config(*document, "x/run.toml", "x", {});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->workload.trace, "x/t.csv");
  EXPECT_EQ(config->cluster.file, "x/c.toml");
}

TEST(RunConfig, MistakesNamePlaceAndRemedy) {
  const std::string small(kSmall);
  EXPECT_THAT(problem("schedulng = \"las\"\n" + small), HasSubstr("line 1"));
  EXPECT_THAT(problem("schedulng = \"las\"\n" + small), HasSubstr("did you mean 'scheduling'"));
  EXPECT_THAT(problem("scheduling = \"lass\"\n" + small), HasSubstr("did you mean 'las'"));
  EXPECT_THAT(problem("scheduling = \"las:quantm=5\"\n" + small),
              HasSubstr("did you mean 'quantum'"));
  EXPECT_THAT(problem(small + "[failures]\nnode_mtbf = -5\n"),
              HasSubstr("failures.node_mtbf is -5"));
  EXPECT_THAT(problem(small + "[failures]\nnode_mtbf = nan\n"), HasSubstr("must be a number"));
  EXPECT_THAT(problem(small + "[restart]\nrestart = inf\n"), HasSubstr("restart.restart is inf"));
  EXPECT_THAT(problem("cluster = \"0x4\"\nworkload.generator = \"poisson\"\n"), HasSubstr("0"));
  EXPECT_THAT(problem("workload.generator = \"poisson\"\n"), HasSubstr("no cluster"));
  EXPECT_THAT(problem("cluster = \"2x4\"\n"), HasSubstr("no workload"));
  EXPECT_THAT(problem("cluster = \"2x4\"\n[workload]\ntrace = \"a\"\ngenerator = \"poisson\"\n"),
              HasSubstr("both a trace and a generator"));
  EXPECT_THAT(problem(small + "[measure]\nfirst = 5\nlast = 3\n"), HasSubstr("5-3"));
  EXPECT_THAT(problem("cluster = \"2x4\"\nworkload.generator = \"poisson:jobs=0\"\n"),
              HasSubstr("never ends"));
  EXPECT_THAT(problem(small + "[[policy_set]]\nscheduling = \"las\"\n"),
              HasSubstr("need a selector"));
  EXPECT_THAT(problem("selector = \"look-ahead\"\n" + small), HasSubstr("needs policy sets"));
  EXPECT_THAT(problem("seed = -1\n" + small), HasSubstr("negative"));
  EXPECT_THAT(problem("preset = \"blx\"\n" + small), HasSubstr("preset"));
  EXPECT_THAT(problem("durations = \"guess\"\n" + small),
              HasSubstr("'durations' is 'guess', but must be true, estimate or none"));
  EXPECT_THAT(problem("errors = \"biased\"\n" + small), HasSubstr("add --durations estimate"));
  EXPECT_THAT(problem("durations = \"estimate\"\nerrors = \"biasd\"\n" + small),
              HasSubstr("did you mean 'biased'"));
  EXPECT_THAT(problem("durations = \"none\"\nexecution = \"fluid\"\n" + small),
              HasSubstr("execution 'fluid' lets policies know how long jobs run"));
}

TEST(RunConfig, LifeIsReadWrittenAndChecked) {
  const std::string small(kSmall);
  const auto alive =
      complete(small + "[life]\nstart_latency = 10\nstart_failure = 0.25\nseed = 4\n");
  ASSERT_TRUE(alive) << alive.error().message;
  const auto again = complete(to_toml(*alive));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->life.start_latency, 10);
  EXPECT_EQ(again->life.start_failure, 0.25);
  EXPECT_EQ(again->life.seed, 4U);
  EXPECT_EQ(again->life.census, 60);
  EXPECT_FALSE(complete(kSmall)->life.any());
  EXPECT_THAT(problem(small + "[life]\nstop_latency = -1\n"), HasSubstr("life.stop_latency is -1"));
  EXPECT_THAT(problem(small + "[life]\nreport_loss = 1\n"), HasSubstr("less than 1"));
  EXPECT_THAT(problem("progress = 'recharged'\n" + small + "[life]\nstart_latency = 1\n"),
              HasSubstr("needs the progress model 'continuous'"));
  EXPECT_THAT(problem("execution = 'fluid'\nscheduling = 'gavel-isolated'\n" + small +
                      "[life]\nstart_latency = 1\n"),
              HasSubstr("[life] cannot be combined with the execution 'fluid' (--ideal)"));
  EXPECT_EQ(problem("execution = 'fluid'\nscheduling = 'gavel-isolated'\n" + small), "");
}

// Every layer changes the prices that it names.
TEST(RunConfig, PricesOfLayersAreMerged) {
  ConfigLayers layers;
  for (const char* text :
       {"prices.table.v100=2", "prices.table.k80=1", "prices.table={p100 = 0.5, k80 = 0.25}"}) {
    auto setting = toml_setting(text);
    ASSERT_TRUE(setting) << setting.error().message;
    layers.settings.push_back({std::move(*setting), std::string("--set ") + text});
  }
  const auto config =
      complete(std::string(kSmall) + "[prices]\ntable = {v100 = 9, a100 = 4}\n", layers);
  ASSERT_TRUE(config) << config.error().message;
  const decltype(config->prices.table) expected = {
      {"a100", 4}, {"k80", 0.25}, {"p100", 0.5}, {"v100", 2}};
  EXPECT_EQ(config->prices.table, expected);
}

TEST(RunConfig, DoubtsRestartsThatOutlastTheirTurn) {
  const std::string las = std::string("scheduling = \"las\"\n") + std::string(kSmall);
  EXPECT_EQ(doubt_about(*complete(las)), "");
  EXPECT_THAT(doubt_about(*complete(las + "[restart]\nrestart = 300\n")), HasSubstr("quantum"));
  EXPECT_EQ(doubt_about(*complete(las + "[restart]\nrestart = 299\n")), "");
  EXPECT_THAT(
      doubt_about(*complete("pacing = \"rounds:length=60\"\n" + las + "[restart]\nrestart = 60\n")),
      HasSubstr("round"));
  // Jobs take no turns under first come, first served.
  EXPECT_EQ(doubt_about(*complete(std::string(kSmall) + "[restart]\nrestart = 900\n")), "");
}

// Starts and stops take up to half as long again as they do on average.
TEST(RunConfig, DoubtsCommandsThatOutlastTheirTurn) {
  const std::string small(kSmall);
  const std::string las = "scheduling = \"las\"\n" + small;
  const std::string life = "[life]\nstop_latency = 100\nstart_latency = ";
  EXPECT_EQ(doubt_about(*complete(las + life + "100\n")),
            "a stop and a start take up to 300 s ([life]), and las reorders jobs every 300 s: jobs "
            "that take turns may hardly get on, or never; lengthen the quantum or lower the cost");
  EXPECT_EQ(doubt_about(*complete(las + life + "99\n")), "");
  EXPECT_THAT(doubt_about(*complete(las + life + "50\n[restart]\nrestart = 75\n")),
              HasSubstr("up to 225 s ([life]) and a restart costs 75 s, and las"));
  EXPECT_EQ(doubt_about(*complete(las + life + "50\n[restart]\nrestart = 74\n")), "");
  // Gavel's have rounds of their own, which those of the pacing replace.
  const std::string gavel = "scheduling = \"gavel-isolated\"\n" + small;
  EXPECT_THAT(doubt_about(*complete(gavel + life + "140\n")),
              HasSubstr("gavel-isolated reorders jobs every 360 s"));
  EXPECT_EQ(doubt_about(*complete(gavel + life + "130\n")), "");
  const std::string rounds = "pacing = \"rounds:length=120\"\n";
  EXPECT_THAT(doubt_about(*complete(rounds + gavel + "[restart]\nrestart = 120\n")),
              HasSubstr("lengthen the round"));
  EXPECT_EQ(doubt_about(*complete(rounds + gavel + "[restart]\nrestart = 119\n")), "");
  // Jobs that are preempted once, by a shorter one, get on.
  EXPECT_EQ(doubt_about(*complete(rounds + "scheduling = \"srtf\"\n" + small + life + "900\n")),
            "");
  // The policies of a selector, whatever is beside them.
  EXPECT_THAT(doubt_about(*complete("selector = \"look-ahead\"\n" + small + life +
                                    "100\n[[policy_set]]\nscheduling = \"fifo\"\n"
                                    "[[policy_set]]\nscheduling = \"las\"\n")),
              HasSubstr("las reorders jobs every 300 s"));
}

TEST(RunConfig, LabelShowsWhatIsNotUsual) {
  const auto config = complete("scheduling = \"las:service=seconds\"\n" + std::string(kSmall));
  ASSERT_TRUE(config);
  EXPECT_EQ(config->label(), "las:service=seconds + consolidated");
}

}  // namespace
}  // namespace muster
