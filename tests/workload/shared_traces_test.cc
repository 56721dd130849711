// The published traces, where they are on the machine: every file is recognised and read to the
// last line, and the counts are those its publishers or the literature give.
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/temporary_folder.h"
#include "workload/trace_reader.h"

namespace muster {
namespace {

struct Expectation {
  const char* file;
  const char* format;
  std::size_t jobs;
  std::uint64_t records;
};

// GoogleTest asks for this name. NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const Expectation& expectation, std::ostream* to) { *to << expectation.file; }

class SharedTraces : public ::testing::TestWithParam<Expectation> {};

TEST_P(SharedTraces, AreReadWhole) {
  const std::string file = std::string("data/") + GetParam().file;
  MUSTER_NEEDS_SHARED(file);
  Symbols symbols;
  const auto trace = load_trace((shared_dir() / file).string(), {}, symbols);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->stats.format, GetParam().format);
  EXPECT_EQ(trace->jobs.size(), GetParam().jobs);
  EXPECT_EQ(trace->stats.records, GetParam().records);
  for (std::size_t i = 1; i < trace->jobs.size(); ++i) {
    ASSERT_LE(trace->jobs[i - 1].submit, trace->jobs[i].submit);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Published, SharedTraces,
    ::testing::Values(Expectation{"philly/philly.csv", "philly-csv", 82247, 82247},
                      Expectation{"muri/trace1.csv", "muri", 1494, 1494},
                      Expectation{"muri/trace2.csv", "muri", 5755, 5755},
                      Expectation{"muri/trace3.csv", "muri", 992, 992},
                      Expectation{"muri/trace4.csv", "muri", 2638, 2638},
                      Expectation{"muri/trace4_pr.csv", "muri", 2638, 2638},
                      Expectation{"muri/cluster_trace.csv", "muri", 400, 400},
                      Expectation{"muri/job_type_1.csv", "muri", 992, 992},
                      Expectation{"tiresias/60_job.csv", "tiresias", 60, 60},
                      Expectation{"tiresias/tf_job.csv", "tiresias", 2, 2},
                      // 205 and 184 of these jobs have no GPU.
                      Expectation{"chronus/trace_job_Philly_SLO.csv", "chronus", 30735, 30940},
                      Expectation{"chronus/trace_job_Philly_MIX1.csv", "chronus", 30756, 30940},
                      // 1,088 pods use no GPU; of the others some were never scheduled.
                      Expectation{"openb/openb_pod_list_default.csv", "openb", 6203, 8152},
                      Expectation{"elasticflow/elasticVpollux_e.csv", "elasticflow", 195, 195},
                      Expectation{"elasticflow/philly_103959.csv", "elasticflow", 876, 876},
                      Expectation{"elasticflow/resnet_cifar_trace.csv", "elasticflow", 5, 5},
                      Expectation{"lucid/venus_sept_jobs.csv.gz", "helios", 23859, 23859},
                      Expectation{"lucid/venus_apr_jul_10vc_jobs.csv.gz", "helios", 40012, 40012},
                      Expectation{"gavel/physical_cluster/max_min_fairness.trace", "gavel", 96, 96},
                      Expectation{"gavel/physical_cluster/minimize_makespan.trace", "gavel", 100,
                                  100},
                      Expectation{"gavel/physical_cluster/small_test.trace", "gavel", 20, 20},
                      Expectation{"gavel/msr/seed=0/103959.trace", "gavel", 986, 986},
                      Expectation{"gavel/msr/seed=0/ed69ec.trace", "gavel", 951, 951}));

TEST(SharedTracesTest, PhillyHasThePublishedTotals) {
  MUSTER_NEEDS_SHARED("data/philly/philly.csv");
  Symbols symbols;
  const auto trace = load_trace((shared_dir() / "data/philly/philly.csv").string(), {}, symbols);
  ASSERT_TRUE(trace) << trace.error().message;
  double gpu_hours = 0;
  for (const JobSpec& job : trace->jobs) gpu_hours += job.duration * job.gpus / 3600;
  EXPECT_NEAR(gpu_hours, 978e3, 1e3);
  EXPECT_EQ(trace->jobs.front().submit, 0);
  EXPECT_NEAR(trace->jobs.back().submit / 86400, 109, 1);
  EXPECT_EQ(symbols.size(), 1U + 15U);
}

TEST(SharedTracesTest, MsrItpHasAllJobsOfTenClustersInBothForms) {
  MUSTER_NEEDS_SHARED("data/elasticflow/raw-traces.tar.gz");
  for (const auto& [archive, format] : {std::pair("raw-traces.tar.gz", "itp"),
                                        std::pair("elasticflow-traces.tar.gz", "elasticflow")}) {
    const TemporaryFolder folder;
    const std::string command = "tar -xzf '" +
                                (shared_dir() / "data/elasticflow" / archive).string() + "' -C '" +
                                folder.path().string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);  // NOLINT(concurrency-mt-unsafe)
    std::size_t jobs = 0;
    int clusters = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      if (!entry.path().filename().string().starts_with("cluster")) continue;
      Symbols symbols;
      const auto trace = load_trace(entry.path().string(), {}, symbols);
      ASSERT_TRUE(trace) << trace.error().message;
      EXPECT_EQ(trace->stats.format, format);
      EXPECT_TRUE(trace->was_sorted);
      jobs += trace->jobs.size();
      ++clusters;
    }
    EXPECT_EQ(clusters, 10);
    EXPECT_EQ(jobs, 69351U);
  }
}

TEST(SharedTracesTest, MuriHasThePublishedMeanDurations) {
  MUSTER_NEEDS_SHARED("data/muri/trace1.csv");
  for (const auto& [file, mean] :
       {std::pair("trace1.csv", 250451.8), std::pair("trace4.csv", 119336.0)}) {
    Symbols symbols;
    const auto trace = load_trace((shared_dir() / "data/muri" / file).string(), {}, symbols);
    ASSERT_TRUE(trace) << trace.error().message;
    double sum = 0;
    for (const JobSpec& job : trace->jobs) sum += job.duration;
    EXPECT_NEAR(sum / static_cast<double>(trace->jobs.size()), mean, 0.1);
  }
}

TEST(SharedTracesTest, GavelThroughputsCoverItsPhysicalTraces) {
  MUSTER_NEEDS_SHARED("data/gavel/physical_cluster_throughputs.json");
  TraceOptions options;
  options.settings["throughputs"] =
      (shared_dir() / "data/gavel/physical_cluster_throughputs.json").string();
  Symbols symbols;
  const auto trace =
      load_trace((shared_dir() / "data/gavel/physical_cluster/max_min_fairness.trace").string(),
                 options, symbols);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs.size(), 96U);
  for (const JobSpec& job : trace->jobs) EXPECT_GT(job.duration, 0);
}

}  // namespace
}  // namespace muster
