#include "run/sweep/sweep.h"

#include <atomic>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/config/load_config.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SweepConfig small_sweep() {
  SweepConfig sweep;
  auto document = parse_toml(R"(
cluster = "2x4"
[workload.generator]
name = "poisson"
jobs = 60
mean_duration = 600
load = 0.9
[failures]
node_mtbf = 40000
)",
                             "run.toml");
  EXPECT_TRUE(document);
  auto base = load_config(*document, "run.toml", "", {});
  EXPECT_TRUE(base);
  sweep.base = *base;
  EXPECT_TRUE(set_axis(sweep, "load", {"0.5", "1.2"}));
  EXPECT_TRUE(set_axis(sweep, "scheduling", {"fifo", "srtf"}));
  sweep.seeds = {1, 2, 3};
  return sweep;
}

TEST(Sweep, Seeds) {
  const auto seeds = [](std::string_view text) {
    const auto parsed = parse_seeds(text);
    return parsed ? *parsed : std::vector<long long>{-1};
  };
  EXPECT_THAT(seeds("3"), ElementsAre(1, 2, 3));
  EXPECT_THAT(seeds("4,9"), ElementsAre(4, 9));
  EXPECT_THAT(seeds("5-5"), ElementsAre(5));
  EXPECT_THAT(seeds("1, 8-10"), ElementsAre(1, 8, 9, 10));
  for (const std::string_view wrong : {"", "0", "a", "3-1", "-3", "1,1", "1-1e9", "1,,2"}) {
    EXPECT_THAT(seeds(wrong), ElementsAre(-1)) << wrong;
  }
}

TEST(Sweep, SeedsMatterWhereSomethingDraws) {
  const auto matter = [](std::string_view run, std::string_view placement) {
    SweepConfig sweep;
    const auto document = parse_toml(run, "run.toml");
    EXPECT_TRUE(document);
    const auto base = load_config(*document, "run.toml", "", {});
    EXPECT_TRUE(base);
    sweep.base = *base;
    EXPECT_TRUE(set_axis(sweep, "scheduling", {"fifo", "srtf"}));
    EXPECT_TRUE(set_axis(sweep, "placement", {"consolidated", std::string(placement)}));
    const auto answer = seeds_matter(sweep);
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
    return answer && *answer;
  };
  const std::string trace = "cluster = \"2x4\"\n[workload]\ntrace = \"jobs.csv\"\n";
  EXPECT_FALSE(matter(trace, "scattered"));
  EXPECT_TRUE(matter(trace, "random"));
  EXPECT_TRUE(matter(trace + "[failures]\nnode_mtbf = 40000\n", "scattered"));
  EXPECT_TRUE(matter("cluster = \"2x4\"\n[workload.generator]\nname = \"poisson\"\n", "scattered"));
}

TEST(Sweep, ALoadIsMoreThanNothing) {
  SweepConfig sweep = small_sweep();
  for (const char* wrong : {"0", "-1", "inf", "x"}) {
    const Status set = set_axis(sweep, "load", {"0.5", wrong});
    ASSERT_FALSE(set) << wrong;
    EXPECT_THAT(set.error().message, HasSubstr("expected a number above 0"));
  }
}

TEST(Sweep, PointsAreTheProduct) {
  const auto points = sweep_points(small_sweep());
  ASSERT_TRUE(points) << points.error().message;
  ASSERT_EQ(points->size(), 2U * 2U * 3U);
  EXPECT_EQ((*points)[0].config.workload.generator.params.at("load"), "0.5");
  EXPECT_EQ((*points)[1].seed, 2);
  EXPECT_EQ((*points)[1].config.workload.generator.params.at("seed"), "2");
  EXPECT_EQ((*points)[1].config.failures.seed, 2U);
  EXPECT_EQ((*points)[3].config.scheduling.name, "srtf");
  EXPECT_EQ((*points)[11].config.workload.generator.params.at("load"), "1.2");
}

TEST(Sweep, SameFiguresAtAnyNumberOfThreads) {
  const SweepConfig sweep = small_sweep();
  const auto one = run_sweep(sweep, {.threads = 1});
  const auto four = run_sweep(sweep, {.threads = 4});
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_TRUE(four);
  EXPECT_EQ(points_csv(sweep, *one), points_csv(sweep, *four));
  EXPECT_TRUE(one->complete());
}

TEST(Sweep, PoliciesSeeTheSameJobs) {
  const SweepConfig sweep = small_sweep();
  const auto result = run_sweep(sweep, {});
  ASSERT_TRUE(result) << result.error().message;
  // At a light load and with the same seed, makespans of the two policies stem from the same jobs.
  for (std::size_t seed = 0; seed < 3; ++seed) {
    EXPECT_EQ(result->metrics[seed].jobs, 60);
    EXPECT_EQ(result->metrics[seed].jobs, result->metrics[3 + seed].jobs);
  }
  EXPECT_NE(result->metrics[0].avg_jct_s, result->metrics[1].avg_jct_s);
  const auto cells = summarise(sweep, *result, {"avg_jct_s"});
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_TRUE(cells[0].against.empty());
  ASSERT_EQ(cells[1].against.size(), 1U);
  EXPECT_NEAR(cells[1].against[0].mean, cells[1].means[0].mean - cells[0].means[0].mean, 1e-6);
  EXPECT_NEAR(cells[3].against[0].mean, cells[3].means[0].mean - cells[2].means[0].mean, 1e-6);
}

TEST(Sweep, GoesOnWhereItWasStopped) {
  const SweepConfig sweep = small_sweep();
  const TemporaryFolder folder;
  const std::string place = (folder.path() / "sweep").string();
  std::atomic<int> asked{0};
  const auto stopped = run_sweep(
      sweep, {.folder = place, .threads = 1, .keep_going = [&asked] { return ++asked < 1000; }});
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_FALSE(stopped->complete());
  EXPECT_GT(stopped->done, 0U);
  // A line that was cut off is as good as none.
  {
    std::FILE* journal = std::fopen((place + "/journal.jsonl").c_str(), "a");
    ASSERT_NE(journal, nullptr);
    std::fputs("{\"point\": 11, \"jobs\"", journal);
    std::fclose(journal);
  }
  const auto continued = run_sweep(sweep, {.folder = place, .threads = 2});
  ASSERT_TRUE(continued) << continued.error().message;
  EXPECT_TRUE(continued->complete());
  EXPECT_EQ(continued->resumed, stopped->done);
  const auto fresh = run_sweep(sweep, {});
  ASSERT_TRUE(fresh);
  EXPECT_EQ(points_csv(sweep, *continued), points_csv(sweep, *fresh));
  const auto again = run_sweep(sweep, {.folder = place});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->resumed, 12U);
}

TEST(Sweep, AnotherSweepInTheFolderIsRefused) {
  SweepConfig sweep = small_sweep();
  sweep.seeds = {1};
  const TemporaryFolder folder;
  const std::string place = (folder.path() / "sweep").string();
  ASSERT_TRUE(run_sweep(sweep, {.folder = place}));
  sweep.seeds = {2};
  const auto refused = run_sweep(sweep, {.folder = place});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("seeds = [1]"));
  folder.write("other/notes.txt", "mine");
  const auto foreign = run_sweep(sweep, {.folder = (folder.path() / "other").string()});
  ASSERT_FALSE(foreign);
  EXPECT_THAT(foreign.error().message, HasSubstr("is not a sweep"));
  EXPECT_EQ(folder.read("other/notes.txt"), "mine");
}

TEST(Sweep, DescriptionReadsBack) {
  SweepConfig sweep = small_sweep();
  ASSERT_TRUE(set_axis(sweep, "restart.restart", {"0", "30"}));
  sweep.baseline = "srtf";
  const std::string text = to_toml(sweep);
  auto document = parse_toml(text, "sweep.toml");
  ASSERT_TRUE(document) << document.error().message;
  SweepConfig again;
  TomlNode run;
  const TomlNode* table = document->find("sweep");
  ASSERT_NE(table, nullptr);
  for (const auto& member : document->members) {
    if (member.name != "sweep") run.members.push_back(member);
  }
  auto base = load_config(run, "sweep.toml", "", {});
  ASSERT_TRUE(base) << base.error().message;
  again.base = *base;
  ASSERT_TRUE(apply_sweep_toml(again, *table, "sweep.toml"));
  EXPECT_EQ(to_toml(again), text);
}

TEST(Sweep, MistakesAreToldBeforeAnythingRuns) {
  const auto problem = [](const SweepConfig& sweep) {
    const auto result = run_sweep(sweep, {});
    return result ? "" : result.error().message;
  };
  SweepConfig sweep = small_sweep();
  sweep.baseline = "fifos";
  EXPECT_THAT(problem(sweep), HasSubstr("did you mean 'fifo'"));
  sweep = small_sweep();
  EXPECT_TRUE(set_axis(sweep, "scheduling", {"fifo", "srtff"}));
  EXPECT_THAT(problem(sweep), HasSubstr("did you mean 'srtf'"));
  sweep = small_sweep();
  EXPECT_FALSE(set_axis(sweep, "scheduling", {"fifo", "fifo"}));
  sweep.confidence = 1;
  EXPECT_THAT(problem(sweep), HasSubstr("between 0 and 1"));
}

SweepConfig rate_sweep() {
  SweepConfig sweep = small_sweep();
  sweep.axes.clear();
  sweep.base.workload.generator.params.erase("load");
  EXPECT_TRUE(set_axis(sweep, "scheduling", {"fifo", "srtf"}));
  EXPECT_TRUE(set_axis(sweep, "rate", {"2", "8", "16", "32", "48", "64", "128"}));
  sweep.seeds = {1, 2};
  return sweep;
}

TEST(Sweep, PointsOfARow) {
  const auto points = [](std::string_view text, bool whole = false) {
    const auto parsed = parse_points(text, whole);
    return parsed ? *parsed : std::vector<std::string>{"error"};
  };
  EXPECT_THAT(points("0.4,0.8"), ElementsAre("0.4", "0.8"));
  EXPECT_THAT(points("0:2:5"), ElementsAre("0.5", "1", "1.5", "2"));
  EXPECT_THAT(points("1:1:1"), ElementsAre("1"));
  EXPECT_THAT(points("0:700:8", true),
              ElementsAre("100", "200", "300", "400", "500", "600", "700"));
  for (const std::string_view wrong : {"", "a", "1:2", "2:1:3", "1:2:0", "-1,2", "0:0:1"}) {
    EXPECT_THAT(points(wrong), ElementsAre("error")) << wrong;
  }
}

TEST(Sweep, RatesAndCounts) {
  const auto points = sweep_points(rate_sweep());
  ASSERT_TRUE(points) << points.error().message;
  EXPECT_EQ(points->front().config.workload.generator.params.at("rate"), "2");
  SweepConfig counts = small_sweep();
  ASSERT_TRUE(set_axis(counts, "jobs", {"5", "10"}));
  const auto counted = sweep_points(counts);
  ASSERT_TRUE(counted) << counted.error().message;
  EXPECT_EQ(counted->front().config.workload.generator.params.at("jobs"), "5");
  SweepConfig traced = small_sweep();
  traced.base.workload.generator = {};
  traced.base.workload.trace = "jobs.csv";
  traced.axes.clear();
  ASSERT_TRUE(set_axis(traced, "rate", {"5"}));
  const auto refused = sweep_points(traced);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("rates need a generator"));
}

TEST(Sweep, CutOffsSkipRates) {
  TemporaryFolder folder;
  SweepConfig sweep = rate_sweep();
  sweep.cutoffs = folder.write("cutoffs.json", R"({"2x4": {"fifo": 16, "other": 1}})").string();
  const auto result = run_sweep(sweep, {.threads = 1});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->complete());
  int skipped = 0;
  for (std::size_t i = 0; i < result->points.size(); ++i) {
    const bool fifo = result->points[i].values[0] == 0;
    const bool high = result->points[i].values[1] >= 2;  // 16 and more
    EXPECT_EQ(result->states[i] == PointState::kSkipped, fifo && high);
    skipped += result->states[i] == PointState::kSkipped ? 1 : 0;
  }
  EXPECT_EQ(skipped, 5 * 2);
  EXPECT_THAT(points_csv(sweep, *result), HasSubstr(",skipped\n"));
  sweep.cutoffs = folder.write("bad.json", R"({"2x4": {"fifo": "much"}})").string();
  const auto bad = sweep_points(sweep);
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("2x4, fifo: expected jobs per hour"));
}

TEST(Sweep, FindsTheHighestRateOfAUtilisation) {
  TemporaryFolder folder;
  SweepConfig sweep = rate_sweep();
  const auto all = run_sweep(sweep, {.threads = 1});
  ASSERT_TRUE(all) << all.error().message;
  sweep.threshold = 0.5;
  const std::string where = (folder.path() / "sweep").string();
  const auto found = run_sweep(sweep, {.folder = where, .threads = 2});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->complete());
  std::size_t run = 0;
  for (const PointState state : found->states) run += state == PointState::kDone ? 1 : 0;
  EXPECT_LT(run, found->points.size() * 2 / 3) << "a search must not run everything";
  const std::vector<FoundRate> rows = found_rates(sweep, *found);
  ASSERT_EQ(rows.size(), 2U);
  for (const FoundRate& row : rows) EXPECT_GT(row.rate.mean, 0);
  // What it runs on the way is what the whole sweep ran.
  for (const auto& track : rate_tracks(sweep, found->points)) {
    for (const std::size_t point : track) {
      if (found->states[point] != PointState::kDone) continue;
      EXPECT_EQ(found->metrics[point].utilization, all->metrics[point].utilization);
    }
  }
  const auto again = run_sweep(sweep, {.folder = where, .threads = 1});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->resumed, run);
}

TEST(Sweep, GivesUpRunsThatTakeTooLong) {
  SweepConfig sweep = rate_sweep();
  sweep.base.workload.generator.params["jobs"] = "20000";
  sweep.seeds = {1};
  ASSERT_TRUE(set_axis(sweep, "rate", {"100000"}));
  const auto result = run_sweep(sweep, {.threads = 1, .timeout = 1e-9});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->complete());
  EXPECT_EQ(result->states.front(), PointState::kTimedOut);
}

}  // namespace
}  // namespace muster
