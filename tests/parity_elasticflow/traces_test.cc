// ElasticFlow's two scripts for traces against what they wrote: the synthetic jobs, and the jobs of
// raw traces with models, iterations and deadlines.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/paths.h"
#include "workload/elasticflow_draw.h"
#include "workload/generate/generators.h"
#include "workload/trace_reader.h"

namespace muster {
namespace {

std::string tables() { return (shared_dir() / "data/elasticflow/throughputs_A100").string(); }

std::vector<JobSpec> load(const std::filesystem::path& path, const ParamTexts& settings,
                          Symbols& symbols) {
  TraceOptions options;
  options.settings = settings;
  options.rebase = Rebase::kNo;
  auto trace = load_trace((shared_dir() / path).lexically_normal().string(), options, symbols);
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().message);
  return trace ? std::move(trace->jobs) : std::vector<JobSpec>();
}

std::vector<JobSpec> draw(ParamTexts params, Symbols& symbols) {
  params["throughputs"] = tables();
  auto generated = make_generator("elasticflow", params, symbols);
  EXPECT_TRUE(generated) << (generated ? "" : generated.error().message);
  std::vector<JobSpec> jobs;
  for (; generated && generated->source->peek() != nullptr; generated->source->pop()) {
    jobs.push_back(*generated->source->peek());
  }
  return jobs;
}

// All but the deadline.
void expect_same(const JobSpec& ours, const JobSpec& theirs) {
  EXPECT_EQ(ours.name, theirs.name);
  EXPECT_EQ(ours.submit, theirs.submit) << ours.name;
  EXPECT_EQ(ours.duration, theirs.duration) << ours.name;
  EXPECT_EQ(ours.gpus, theirs.gpus) << ours.name;
  EXPECT_EQ(ours.iterations, theirs.iterations) << ours.name;
  EXPECT_EQ(ours.model, theirs.model) << ours.name;
  EXPECT_EQ(ours.batch_size, theirs.batch_size) << ours.name;
  EXPECT_EQ(ours.max_gpus, theirs.max_gpus) << ours.name;
}

// With one tightness for all and no best-effort jobs the file depends on the seed alone.
TEST(ElasticFlowTraces, DrawsTheJobsOfFigure10) {
  MUSTER_NEEDS_SHARED("golden/elasticflow/inputs/100jobs_1500lam.csv");
  Symbols symbols;
  const auto theirs = load("golden/elasticflow/inputs/100jobs_1500lam.csv", {}, symbols);
  const auto ours = draw(
      {{"jobs", "100"}, {"lam", "1500"}, {"seed", "1"}, {"min_ddl", "1.5"}, {"max_ddl", "1.5"}},
      symbols);
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    expect_same(ours[i], theirs[i]);
    EXPECT_EQ(ours[i].deadline, theirs[i].deadline) << ours[i].name;
  }
}

// Otherwise deadlines came from an unseeded stream; all else is the same.
TEST(ElasticFlowTraces, DrawsTheJobsOfFigures9And11ButForTheirDeadlines) {
  MUSTER_NEEDS_SHARED("golden/elasticflow/inputs/1000job_1500lam.csv");
  Symbols symbols;
  const struct {
    const char* file;
    ParamTexts params;
    double best_effort;
  } kTraces[] = {
      {"golden/elasticflow/inputs/1000job_1500lam.csv", {{"jobs", "1000"}, {"lam", "1500"}}, 0},
      {"golden/elasticflow/inputs/200jobs_900lam_0.5.csv",
       {{"jobs", "200"}, {"lam", "900"}, {"best_effort", "0.5"}},
       0.5},
  };
  for (const auto& trace : kTraces) {
    const auto theirs = load(trace.file, {}, symbols);
    const auto ours = draw(trace.params, symbols);
    ASSERT_EQ(ours.size(), theirs.size());
    double without = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      expect_same(ours[i], theirs[i]);
      if (ours[i].deadline == kNever) {
        without += 1;
        continue;
      }
      const double tightness = (ours[i].deadline - ours[i].submit) / ours[i].duration;
      EXPECT_NEAR(tightness, 1, 0.5 + 0.003) << ours[i].name;
    }
    EXPECT_NEAR(without / static_cast<double>(ours.size()), trace.best_effort, 0.1);
  }
}

// The conversion that the original promises: the same jobs as the released traces.
TEST(ElasticFlowTraces, ConvertsARawTrace) {
  MUSTER_NEEDS_SHARED("data/elasticflow/raw-traces.tar.gz");
  Symbols symbols;
  const auto released =
      load("data/elasticflow/elasticflow-traces.tar.gz/cluster10.csv", {}, symbols);
  const auto ours = load("data/elasticflow/raw-traces.tar.gz/cluster10.csv",
                         {{"throughputs", tables()}, {"seed", "3"}}, symbols);
  ASSERT_EQ(ours.size(), 260U);
  ASSERT_EQ(released.size(), 260U);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours[i].name, released[i].name);
    EXPECT_EQ(ours[i].submit, released[i].submit);
    EXPECT_EQ(ours[i].gpus, released[i].gpus);
    EXPECT_EQ(ours[i].duration, released[i].duration);
    EXPECT_NEAR((ours[i].deadline - ours[i].submit) / ours[i].duration, 1, 0.503);
    EXPECT_GT(ours[i].iterations, 0);
    EXPECT_GE(ours[i].batch_size, ours[i].gpus);
  }
}

// Which models the release drew is not known, but the iterations follow from them.
TEST(ElasticFlowTraces, IterationsAreThoseOfTheRelease) {
  MUSTER_NEEDS_SHARED("data/elasticflow/elasticflow-traces.tar.gz");
  Symbols symbols;
  ParamTexts given{{"throughputs", tables()}};
  const auto params = Params::make("test", elasticflow_draw_params(), given);
  ASSERT_TRUE(params);
  const auto draw = ElasticFlowDraw::make(*params, symbols);
  ASSERT_TRUE(draw) << draw.error().message;
  std::size_t jobs = 0;
  std::size_t equal = 0;
  for (int cluster = 1; cluster <= 10; ++cluster) {
    const auto released =
        load(fmt::format("data/elasticflow/elasticflow-traces.tar.gz/cluster{:02}.csv", cluster),
             {}, symbols);
    jobs += released.size();
    for (const JobSpec& job : released) {
      equal += std::trunc(draw->iterations(job, job.duration)) == job.iterations ? 1 : 0;
    }
  }
  EXPECT_EQ(jobs, 69351U);
  EXPECT_EQ(equal, jobs);
}

}  // namespace
}  // namespace muster
