// What every generator of the table must do, and what each promises.
#include "workload/generate/generators.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

Generated made(std::string_view name, const ParamTexts& params, Symbols& symbols) {
  Result<Generated> generated = make_generator(name, params, symbols);
  EXPECT_TRUE(generated) << name << ": " << (generated ? "" : generated.error().message);
  return generated ? std::move(*generated) : Generated{};
}

std::vector<JobSpec> jobs_of(JobSource& source, std::size_t most = 1 << 20) {
  std::vector<JobSpec> jobs;
  for (; jobs.size() < most && source.peek() != nullptr; source.pop())
    jobs.push_back(*source.peek());
  return jobs;
}

std::vector<JobSpec> jobs_of(std::string_view name, const ParamTexts& params) {
  Symbols symbols;
  const Generated generated = made(name, params, symbols);
  return jobs_of(*generated.source);
}

std::string message_of(std::string_view name, const ParamTexts& params) {
  Symbols symbols;
  const Result<Generated> generated = make_generator(name, params, symbols);
  EXPECT_FALSE(generated) << name;
  return generated ? "" : generated.error().message;
}

bool same(const JobSpec& a, const JobSpec& b) {
  return a.submit == b.submit && a.arrival == b.arrival && a.duration == b.duration &&
         a.gpus == b.gpus && a.deadline == b.deadline && a.estimate == b.estimate &&
         a.user == b.user && a.model == b.model && a.partition == b.partition;
}

bool same(const std::vector<JobSpec>& a, const std::vector<JobSpec>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const JobSpec& x, const JobSpec& y) { return same(x, y); });
}

double gpu_seconds_of(const std::vector<JobSpec>& jobs) {
  double sum = 0;
  for (const JobSpec& job : jobs) sum += job.gpus * job.duration;
  return sum;
}

// Each row of the table, by name.
class EveryGenerator : public testing::TestWithParam<Generator> {
 protected:
  void SetUp() override {
    if (GetParam().name.starts_with("gavel")) MUSTER_NEEDS_SHARED(kThroughputs);
    if (GetParam().name == "elasticflow") MUSTER_NEEDS_SHARED(kMeasured);
  }

  ParamTexts params(ParamTexts given = {}) const {
    if (GetParam().name == "fit") {
      given["trace"] =
          folder_
              .write("trace.csv",
                     "job_id,submit_s,duration_s,gpus\na,0,60,1\nb,50,700,2\nc,400,35,1\n"
                     "d,900,5000,8\n")
              .string();
    }
    if (GetParam().name.starts_with("gavel")) {
      given["throughputs"] = (shared_dir() / kThroughputs).string();
    }
    if (GetParam().name == "elasticflow") {
      given["throughputs"] = (shared_dir() / kMeasured).string();
    }
    return given;
  }

 private:
  static constexpr const char* kThroughputs = "data/gavel/simulation_throughputs.json";
  static constexpr const char* kMeasured = "data/elasticflow/throughputs_A100";
  TemporaryFolder folder_;
};

TEST_P(EveryGenerator, KeepsTheContractOfSources) {
  Symbols symbols;
  const Generated generated = made(GetParam().name, params({{"jobs", "2000"}}), symbols);
  JobSource& source = *generated.source;
  Seconds before = 0;
  for (int i = 0; i < 2000; ++i) {
    ASSERT_FALSE(source.finished());
    const JobSpec* job = source.peek();
    ASSERT_NE(job, nullptr);
    ASSERT_EQ(job, source.peek());
    ASSERT_GE(job->arrival, before);
    ASSERT_GE(job->submit, 0);
    ASSERT_GE(job->gpus, 1);
    ASSERT_TRUE(job->duration > 0 && std::isfinite(job->duration));
    before = job->arrival;
    source.pop();
  }
  EXPECT_EQ(source.peek(), nullptr);
  EXPECT_TRUE(source.finished());
  EXPECT_FALSE(source.error());
}

TEST_P(EveryGenerator, SameSeedSameJobsOtherSeedOtherJobs) {
  const auto first = jobs_of(GetParam().name, params({{"jobs", "500"}, {"seed", "7"}}));
  EXPECT_EQ(first.size(), 500U);
  EXPECT_TRUE(same(first, jobs_of(GetParam().name, params({{"jobs", "500"}, {"seed", "7"}}))));
  EXPECT_FALSE(same(first, jobs_of(GetParam().name, params({{"jobs", "500"}, {"seed", "8"}}))));
}

TEST_P(EveryGenerator, ZeroJobsMeansNoEndAndTheSameBeginning) {
  Symbols symbols;
  const Generated generated = made(GetParam().name, params({{"jobs", "0"}}), symbols);
  const auto endless = jobs_of(*generated.source, 3000);
  EXPECT_EQ(endless.size(), 3000U);
  EXPECT_TRUE(same(endless, jobs_of(GetParam().name, params({{"jobs", "3000"}}))));
}

TEST_P(EveryGenerator, IsDescribed) {
  const Generator& generator = GetParam();
  EXPECT_FALSE(generator.sentence.empty());
  std::set<std::string_view> names;
  for (const ParamInfo& info : generator.params()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name << " twice";
    EXPECT_FALSE(info.sentence.empty()) << info.name;
  }
  EXPECT_TRUE(names.count("jobs") == 1 && names.count("seed") == 1);
}

TEST_P(EveryGenerator, ComplainsAboutUnknownAndBadParameters) {
  EXPECT_NE(message_of(GetParam().name, {{"sed", "1"}}).find("did you mean 'seed'"),
            std::string::npos);
  EXPECT_NE(message_of(GetParam().name, {{"jobs", "-1"}}).find("'jobs'"), std::string::npos);
  EXPECT_NE(message_of(GetParam().name, {{"seed", "x"}}).find("whole number"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Table, EveryGenerator,
                         testing::ValuesIn(generators().begin(), generators().end()),
                         [](const testing::TestParamInfo<Generator>& row) {
                           std::string name(row.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(EveryGenerator, IsDocumented) {
  std::ifstream file(source_dir() / "docs/generators.md");
  const std::string page((std::istreambuf_iterator<char>(file)), {});
  const auto mentioned = [&](std::string_view name) {
    return page.find("`" + std::string(name) + "`") != std::string::npos;
  };
  EXPECT_TRUE(mentioned(GetParam().name));
  for (const ParamInfo& info : GetParam().params()) EXPECT_TRUE(mentioned(info.name)) << info.name;
}

TEST(Generators, NamesAreUniqueAndUnknownOnesSuggest) {
  std::set<std::string_view> names;
  for (const Generator& generator : generators()) EXPECT_TRUE(names.insert(generator.name).second);
  Symbols symbols;
  EXPECT_NE(make_generator("poison", {}, symbols).error().message.find("did you mean 'poisson'"),
            std::string::npos);
}

// Demanded GPU-seconds over those of the cluster, from the first submission to the last.
double load_of(const std::vector<JobSpec>& jobs, double gpus) {
  return gpu_seconds_of(jobs) / (jobs.back().submit * gpus);
}

TEST(Generators, LoadIsRelativeToTheCluster) {
  EXPECT_NEAR(
      load_of(jobs_of("poisson", {{"jobs", "100000"}, {"load", "0.8"}, {"cluster_gpus", "64"}}),
              64),
      0.8, 0.03);
  EXPECT_NEAR(load_of(jobs_of("poisson", {{"jobs", "100000"},
                                          {"load", "1.5"},
                                          {"duration", "gamma"},
                                          {"max_duration", "10000"}}),
                      128),
              1.5, 0.05);
  EXPECT_NEAR(
      load_of(jobs_of("small-large", {{"jobs", "100000"}, {"load", "0.7"}, {"burst_jobs", "20"}}),
              128),
      0.7, 0.03);
  EXPECT_NEAR(load_of(jobs_of("philly-like", {{"jobs", "300000"},
                                              {"load", "0.9"},
                                              {"cluster_gpus", "2000"},
                                              {"max_duration", "500000"}}),
                      2000),
              0.9, 0.06);
  EXPECT_NEAR(load_of(jobs_of("diurnal", {{"jobs", "100000"}, {"load", "0.5"}}), 128), 0.5, 0.04);
}

TEST(Generators, LoadsShareTheirJobs) {
  const auto low = jobs_of("poisson", {{"load", "0.5"}, {"whole_seconds", "false"}});
  const auto high = jobs_of("poisson", {{"load", "1"}, {"whole_seconds", "false"}});
  for (std::size_t i = 0; i < low.size(); ++i) {
    ASSERT_EQ(low[i].duration, high[i].duration);
    ASSERT_EQ(low[i].gpus, high[i].gpus);
    ASSERT_NEAR(low[i].submit, 2 * high[i].submit, 1e-6 * low[i].submit);
  }
}

// Whatever the arrivals look like: a higher load has the same jobs, each of them earlier, and the
// load that was asked for.
TEST(Generators, AHigherLoadBringsTheSameJobsCloserTogether) {
  for (const char* name : {"poisson", "diurnal", "small-large", "philly-like"}) {
    for (const char* seed : {"1", "2", "3"}) {
      std::vector<JobSpec> before;
      double load_before = 0;
      for (const char* load : {"0.5", "0.7", "0.9", "1.1"}) {
        const auto jobs = jobs_of(
            name, {{"load", load}, {"jobs", "3000"}, {"seed", seed}, {"whole_seconds", "false"}});
        const double measured = load_of(jobs, 128);
        EXPECT_GT(measured, load_before) << name << " at " << load << ", seed " << seed;
        for (std::size_t i = 0; i < before.size(); ++i) {
          ASSERT_EQ(jobs[i].duration, before[i].duration) << name;
          ASSERT_EQ(jobs[i].gpus, before[i].gpus) << name;
          ASSERT_LE(jobs[i].submit, before[i].submit) << name << " job " << i;
        }
        before = jobs;
        load_before = measured;
      }
    }
  }
}

TEST(Generators, ExtrasChangeNothingElse) {
  const auto plain = jobs_of("poisson", {});
  auto rich = jobs_of("poisson", {{"users", "5"},
                                  {"partitions", "a:1,b:3"},
                                  {"models", "bert"},
                                  {"estimates", "noisy"},
                                  {"deadline_share", "0.5"}});
  for (std::size_t i = 0; i < plain.size(); ++i) {
    ASSERT_EQ(plain[i].submit, rich[i].submit);
    ASSERT_EQ(plain[i].duration, rich[i].duration);
    ASSERT_EQ(plain[i].gpus, rich[i].gpus);
  }
}

TEST(Generators, ExtrasAreAsAsked) {
  Symbols symbols;
  const Generated generated = made("poisson",
                                   {{"jobs", "20000"},
                                    {"users", "4"},
                                    {"user_skew", "1"},
                                    {"partitions", "a:1,b:3"},
                                    {"models", "bert,vgg"},
                                    {"estimates", "noisy"},
                                    {"estimate_error", "0.4"},
                                    {"deadline_share", "0.25"},
                                    {"tightness_low", "2"},
                                    {"tightness_high", "4"},
                                    {"whole_seconds", "false"}},
                                   symbols);
  std::map<std::string, double> users;
  std::map<std::string, double> partitions;
  std::map<std::string, double> models;
  double deadlines = 0;
  double log_errors = 0;
  double log_squares = 0;
  constexpr double kJobs = 20000;
  for (const JobSpec& job : jobs_of(*generated.source)) {
    users[symbols.text(job.user)] += 1 / kJobs;
    partitions[symbols.text(job.partition)] += 1 / kJobs;
    models[symbols.text(job.model)] += 1 / kJobs;
    const double error = std::log(job.estimate / job.duration);
    log_errors += error / kJobs;
    log_squares += error * error / kJobs;
    if (job.deadline == kNever) continue;
    deadlines += 1 / kJobs;
    const double tightness = (job.deadline - job.submit) / job.duration;
    ASSERT_TRUE(tightness > 1.99 && tightness < 4.01) << tightness;
  }
  EXPECT_EQ(users.size(), 4U);
  EXPECT_NEAR(users["user1"] / users["user4"], 4, 0.5);
  EXPECT_NEAR(partitions["b"], 0.75, 0.02);
  EXPECT_NEAR(models["vgg"], 0.5, 0.02);
  EXPECT_NEAR(deadlines, 0.25, 0.02);
  EXPECT_NEAR(log_errors, 0, 0.02);
  EXPECT_NEAR(std::sqrt(log_squares), 0.4, 0.02);
}

TEST(Generators, ExactEstimatesAndWholeSeconds) {
  for (const JobSpec& job : jobs_of("poisson", {{"estimates", "exact"}, {"mean_duration", "3"}})) {
    ASSERT_EQ(job.estimate, job.duration);
    ASSERT_EQ(job.duration, std::floor(job.duration));
    ASSERT_EQ(job.submit, std::floor(job.submit));
    ASSERT_GE(job.duration, 1);
  }
}

TEST(Generators, StaticComesAtOnceAndSizesAreWeighted) {
  std::map<int, int> sizes;
  for (const JobSpec& job :
       jobs_of("static", {{"jobs", "10000"}, {"at", "5"}, {"gpus", "1:1,16:3"}})) {
    ASSERT_EQ(job.submit, 5);
    ++sizes[job.gpus];
  }
  EXPECT_EQ(sizes.size(), 2U);
  EXPECT_NEAR(sizes[16], 7500, 250);
}

TEST(Generators, SmallLargeHasTwoClassesAndBursts) {
  const auto jobs = jobs_of("small-large", {{"jobs", "20000"},
                                            {"small_share", "0.5"},
                                            {"small_gpus", "1"},
                                            {"large_gpus", "8"},
                                            {"burst_jobs", "30"},
                                            {"burst_hours", "2"},
                                            {"rate", "60"}});
  std::map<int, double> durations;
  std::map<int, int> counts;
  std::map<Seconds, int> at;
  for (const JobSpec& job : jobs) {
    durations[job.gpus] += job.duration;
    ++counts[job.gpus];
    ++at[job.submit];
  }
  // 60 an hour, half of them small, and 15 an hour in bursts, all small.
  EXPECT_NEAR(static_cast<double>(counts[1]) / counts[8], 45.0 / 30.0, 0.06);
  EXPECT_NEAR(durations[8] / counts[8], 36000, 1500);
  EXPECT_NEAR(durations[1] / counts[1], 1800, 80);
  EXPECT_GE(at[0], 30);
  EXPECT_GE(at[7200], 30);
}

TEST(Generators, PhillyLikeHasPhillysMarginals) {
  const auto jobs = jobs_of("philly-like", {{"jobs", "200000"}});
  std::vector<double> durations;
  double singles = 0;
  for (const JobSpec& job : jobs) {
    durations.push_back(job.duration);
    singles += job.gpus == 1 ? 1 : 0;
  }
  std::sort(durations.begin(), durations.end());
  EXPECT_NEAR(singles / 200000, 0.932, 0.005);
  EXPECT_NEAR(durations[100000], 870, 60);  // exp(6.79) = 889 in the trace's logarithmic mean
  EXPECT_GT(durations[198000], 100000);     // one in a hundred runs for more than a day
  EXPECT_NEAR(jobs.back().submit / 3600 / 200000, 1 / 31.5, 0.15 / 31.5);
}

TEST(Generators, BadTextsAreExplained) {
  EXPECT_NE(message_of("poisson", {{"gpus", "1:0.5,two:1"}}).find("found 'two'"),
            std::string::npos);
  EXPECT_NE(message_of("poisson", {{"gpus", "0"}}).find("1 or more"), std::string::npos);
  EXPECT_NE(message_of("poisson", {{"gpus", ""}}).find("like 1:0.7"), std::string::npos);
  EXPECT_NE(message_of("poisson", {{"models", "a:-1"}}).find("weight"), std::string::npos);
  EXPECT_NE(message_of("poisson", {{"models", "a:0,b:0"}}).find("above 0"), std::string::npos);
  EXPECT_NE(message_of("poisson", {{"duration", "pareto"}, {"shape", "0.9"}}).find("above 1"),
            std::string::npos);
  EXPECT_NE(
      message_of("poisson", {{"min_duration", "9"}, {"max_duration", "8"}}).find("max_duration"),
      std::string::npos);
  EXPECT_NE(message_of("poisson", {{"tightness_low", "5"}}).find("tightness_high"),
            std::string::npos);
  EXPECT_NE(
      message_of("small-large", {{"load", "0.1"}, {"burst_jobs", "100000"}}).find("bursts alone"),
      std::string::npos);
  EXPECT_NE(message_of("blox-simple", {{"multi_gpu", "true"}}).find("cluster_job_log"),
            std::string::npos);
  EXPECT_NE(message_of("blox-simple", {{"log", "no/such/log"}}).find("no/such/log"),
            std::string::npos);
}

}  // namespace

// GoogleTest asks for this name. NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const Generator& generator, std::ostream* out) { *out << generator.name; }

}  // namespace muster
