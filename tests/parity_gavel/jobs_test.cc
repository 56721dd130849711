// Gavel against Gavel: the jobs it draws, bit for bit, and every job's completion time under the
// policies that need no solver.
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "parity_gavel/support.h"
#include "run/assembly/simulation.h"
#include "support/paths.h"
#include "workload/generate/generators.h"

namespace muster {
namespace {

TEST(GavelParity, DrawsTheSameJobs) {
  MUSTER_NEEDS_SHARED("golden/gavel/generated_jobs.tsv");
  MUSTER_NEEDS_SHARED(kGavelTable);
  const auto rows = read_tsv("golden/gavel/generated_jobs.tsv");
  ASSERT_FALSE(rows.empty());
  std::string stream;
  Symbols symbols;
  std::unique_ptr<JobSource> source;
  for (const auto& row : rows) {
    if (const std::string now = row.at("seed") + row.at("multi_gpu"); now != stream) {
      stream = now;
      auto made = make_generator("gavel",
                                 {{"throughputs", (shared_dir() / kGavelTable).string()},
                                  {"seed", row.at("seed")},
                                  {"multi_gpu", row.at("multi_gpu") == "1" ? "true" : "false"},
                                  {"lam", "1800"}},
                                 symbols);
      ASSERT_TRUE(made) << made.error().message;
      source = std::move(made->source);
    }
    const JobSpec* job = source->peek();
    ASSERT_NE(job, nullptr);
    SCOPED_TRACE("seed " + row.at("seed") + ", multi_gpu " + row.at("multi_gpu") + ", job " +
                 row.at("job_id"));
    EXPECT_EQ(job->submit, *parse_real(row.at("arrival_s")));
    EXPECT_EQ(symbols.text(job->model), row.at("job_type"));
    EXPECT_EQ(std::to_string(job->gpus), row.at("scale_factor"));
    EXPECT_EQ(job->priority, *parse_real(row.at("priority")));
    EXPECT_EQ(job->duration, *parse_real(row.at("duration_s")));
    EXPECT_EQ(job->iterations, *parse_real(row.at("total_steps")));
    source->pop();
  }
}

// The notebooks print averages where nobody waits: with the order of their time the draws give
// those, and with the last one, which rejects other types, they do not.
TEST(GavelParity, NotebooksDrewFromAnOlderTable) {
  MUSTER_NEEDS_SHARED(kGavelTable);
  const auto mean_hours = [](const char* job_types) {
    Symbols symbols;
    auto made = make_generator("gavel",
                               {{"throughputs", (shared_dir() / kGavelTable).string()},
                                {"multi_gpu", "true"},
                                {"seed", "0"},
                                {"job_types", job_types},
                                {"jobs", "5000"}},
                               symbols);
    EXPECT_TRUE(made) << made.error().message;
    double sum = 0;
    for (int job = 0; job < 5000; ++job, made->source->pop()) {
      const double duration = made->source->peek()->duration;
      if (job >= 4000) sum += duration;
    }
    return sum / 1000 / 3600;
  };
  // Each job waits for a round and ends within one.
  constexpr double kPublished = 18.55;
  constexpr double kRounds = 0.2;
  EXPECT_NEAR(mean_hours("july-2020"), kPublished - kRounds / 2, kRounds / 2);
  EXPECT_LT(mean_hours("latest"), kPublished - 4 * kRounds);
}

TEST(GavelParity, OlderJobTypesChangeTypesAlone) {
  MUSTER_NEEDS_SHARED(kGavelTable);
  Symbols symbols;
  const auto draw = [&](const char* job_types) {
    auto made = make_generator(
        "gavel", {{"throughputs", (shared_dir() / kGavelTable).string()}, {"job_types", job_types}},
        symbols);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(made->source);
  };
  const auto then = draw("july-2020");
  const auto now = draw("latest");
  const std::map<std::string, std::string> moved = {
      {"LM (batch size 5)", "A3C"},
      {"LM (batch size 80)", "LM (batch size 40)"},
      {"Recommendation (batch size 512)", "LM (batch size 80)"},
      {"A3C", "Recommendation (batch size 8192)"},
      {"CycleGAN", "CycleGAN"},
      {"Transformer (batch size 256)", "Transformer (batch size 256)"}};
  std::set<std::string> seen;
  for (int job = 0; job < 1000; ++job, then->pop(), now->pop()) {
    EXPECT_EQ(then->peek()->submit, now->peek()->submit);
    EXPECT_EQ(then->peek()->duration, now->peek()->duration);
    const auto expected = moved.find(std::string(symbols.text(now->peek()->model)));
    if (expected == moved.end()) continue;
    seen.insert(expected->first);
    EXPECT_EQ(symbols.text(then->peek()->model), expected->second);
  }
  EXPECT_EQ(seen.size(), moved.size());
}

TEST(GavelParity, CompletionTimesWithoutSolver) {
  MUSTER_NEEDS_SHARED(kGavelGolden);
  MUSTER_NEEDS_SHARED(kGavelTable);
  const std::set<std::string> exact = {"allox",       "fifo",    "fifo_perf",
                                       "fifo_packed", "gandiva", "isolated"};
  std::map<std::pair<std::string, std::string>, std::map<int, double>> golden;
  for (const auto& row : read_tsv(std::string(kGavelGolden))) {
    if (exact.count(row.at("policy")) == 0) continue;
    golden[{row.at("config"), row.at("policy")}][std::stoi(row.at("job"))] =
        parse_real(row.at("jct_s")).value_or(NAN);
  }
  ASSERT_EQ(golden.size(), 27U);
  for (const auto& [run, theirs] : golden) {
    const std::map<int, double> ours = completion_times(gavel_run(run.first, run.second));
    int unequal = 0;
    for (const auto& [job, time] : theirs) {
      const auto found = ours.find(job);
      const double mine = found == ours.end() ? NAN : found->second;
      if (mine == time || (std::isnan(mine) && std::isnan(time))) continue;
      if (++unequal > 3) continue;
      ADD_FAILURE() << run.first << " " << run.second << " job " << job << ": ours "
                    << exact_text(mine) << ", Gavel " << exact_text(time);
    }
    EXPECT_EQ(unequal, 0) << run.first << " " << run.second << ": of " << theirs.size() << " jobs";
  }
}

RunConfig quirk(const std::string& trace, const std::string& cluster) {
  const std::string table = (shared_dir() / kGavelTable).string();
  return gavel_config(
      fmt::format("seed = 0\nscheduling = 'gavel-as-coded'\ncluster = '{}'\n"
                  "perf = [{{name = 'throughputs', file = '{}'}}]\n[workload]\ntrace = '{}'\n"
                  "format = 'gavel'\nrebase = 'no'\n[workload.settings]\nthroughputs = '{}'\n",
                  cluster, table, (shared_dir() / "golden/gavel" / trace).string(), table));
}

// A job that finds an empty cluster soon after a reset waits for the next arrival; a job with fewer
// steps than GPUs is dropped.
TEST(GavelParity, PublishedPeculiarities) {
  MUSTER_NEEDS_SHARED("golden/gavel/quirk_idle_gap.trace");
  MUSTER_NEEDS_SHARED(kGavelTable);
  const std::map<int, double> gap = completion_times(quirk("quirk_idle_gap.trace", "1:0:0"));
  ASSERT_EQ(gap.size(), 4U);
  EXPECT_EQ(fmt::format("{:.2f}", gap.at(2)), "16409.16");
  const std::map<int, double> few = completion_times(quirk("quirk_few_steps.trace", "4:0:0"));
  ASSERT_EQ(few.size(), 1U);
  EXPECT_EQ(fmt::format("{:.2f}", few.at(1)), "916.03");
}

// By default nobody waits for the next arrival, and every step is done.
TEST(GavelParity, DefaultsAreRight) {
  MUSTER_NEEDS_SHARED("golden/gavel/quirk_idle_gap.trace");
  MUSTER_NEEDS_SHARED(kGavelTable);
  RunConfig config = quirk("quirk_idle_gap.trace", "1:0:0");
  config.scheduling = {"gavel-isolated"};
  EXPECT_LT(completion_times(config).at(2), 10);
  config = quirk("quirk_few_steps.trace", "4:0:0");
  config.progress.params["step_per_gpu"] = "false";
  EXPECT_EQ(completion_times(config).size(), 2U);
}

// The only end-to-end numbers in the artifact's text: AlloX on 36:36:36, jobs 4000 to 4999. The
// other five are in experiments/gavel/allox.toml.
TEST(GavelParity, AlloxOfTheArtifactsText) {
  MUSTER_NEEDS_SHARED(kGavelTable);
  const std::string table = (shared_dir() / kGavelTable).string();
  const RunConfig config = gavel_config(
      "seed = 42\nscheduling = 'gavel-as-coded:policy=allox'\nmeasure = {first = 4000, last = "
      "4999}\n"
      "perf = [{name = 'throughputs', file = '" +
      table +
      "'}]\n"
      "[workload.generator]\nname = 'gavel'\nlam = 4500\nthroughputs = '" +
      table + "'\n");
  const auto summary = measure_run(config, nullptr);
  ASSERT_TRUE(summary && *summary);
  EXPECT_EQ(fmt::format("{:.6f}", (*summary)->metrics.avg_jct_s), "59770.441018");
}

}  // namespace
}  // namespace muster
