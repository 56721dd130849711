#include "run/experiment/experiment.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/assembly/simulation.h"
#include "support/gavel_table.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Points MUSTER_SHARED and MUSTER_DATA at folders of the test's own.
class SharedFolder {
 public:
  SharedFolder() {
    setenv("MUSTER_SHARED", folder_.path().c_str(), 1);
    setenv("MUSTER_DATA", (folder_.path() / "data").c_str(), 1);
  }
  ~SharedFolder() {
    unsetenv("MUSTER_SHARED");
    unsetenv("MUSTER_DATA");
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
};

Result<Experiment> experiment_of(std::string_view text) {
  auto document = parse_toml(text, "figure.toml");
  if (!document) return document.error();
  return parse_experiment(*document, "figure.toml");
}

Experiment must_parse(std::string_view text) {
  auto experiment = experiment_of(text);
  EXPECT_TRUE(experiment) << (experiment ? "" : experiment.error().message);
  return experiment ? std::move(*experiment) : Experiment{};
}

// Three jobs of one GPU on one GPU, first come first served: ends at 10, 20 and 30.
constexpr std::string_view kThreeJobs = R"(
title = "three jobs"
cluster = "1x1"
[workload.generator]
name = "static"
jobs = 3
gpus = "1:1"
duration = "constant"
mean_duration = 10
[tolerance]
absolute = 0.5
)";

std::string three_jobs(std::string_view run) {
  return std::string(kThreeJobs) + "[[run]]\nname = \"a\"\n" + std::string(run);
}

ExperimentResult run(const Experiment& experiment) {
  const auto result = run_experiment(experiment, {});
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? *result : ExperimentResult{};
}

TEST(Experiment, FiguresAreComparedWithinTheTolerance) {
  const SharedFolder shared;
  const auto check = [](std::string_view figures) {
    return run(must_parse(three_jobs(figures))).runs.at(0);
  };
  EXPECT_TRUE(check("artifact = {avg_jct_s = 20}").within());
  EXPECT_TRUE(check("artifact = {avg_jct_s = 20.5}").within());
  EXPECT_FALSE(check("artifact = {avg_jct_s = 20.6}").within());
  // The artifact is what counts; the paper's number stands beside it.
  const RunCheck both = check("artifact = {avg_jct_s = 20}\npublished = {avg_jct_s = 25}");
  EXPECT_TRUE(both.within());
  EXPECT_EQ(both.figures.at(0).expected.published, 25);
  EXPECT_FALSE(check("published = {avg_jct_s = 25}").within());
  EXPECT_EQ(check("published = {avg_jct_s = 25}").figures.at(0).difference, -5);
}

TEST(Experiment, AdjustedFiguresAreComparedAfterwards) {
  const SharedFolder shared;
  const auto result = run(must_parse("adjust = {avg_jct_s = 300}\n" +
                                     three_jobs("artifact = {avg_jct_s = 320, max_jct_s = 30}")));
  EXPECT_TRUE(result.within());
  EXPECT_EQ(result.runs.at(0).figures.at(0).ours, 320);
}

TEST(Experiment, EveryGoldenJobIsCompared) {
  const SharedFolder shared;
  shared.folder().write("golden/jobs.csv",
                        "policy,job_id,submit_s,end_s\n"
                        "Las,0,0,99\nFifo,0,0,10\nFifo,2,0,30\nFifo,1,0,20\n");
  shared.folder().write("golden/wrong.json", R"({"0": [0, 10], "1": [0, 21], "7": [0, 80]})");
  const auto equal = run(
      must_parse(three_jobs("golden = {file = \"golden/jobs.csv\", where = {policy = \"Fifo\"}}")));
  EXPECT_TRUE(equal.within());
  EXPECT_EQ(equal.runs.at(0).jobs.jobs, 3U);

  const auto unequal = run(must_parse(three_jobs("golden = \"golden/wrong.json\"")));
  EXPECT_FALSE(unequal.within());
  EXPECT_EQ(unequal.runs.at(0).jobs.unequal, 2U);
  EXPECT_THAT(unequal.runs.at(0).jobs.examples,
              ElementsAre("job 1: ours 0 to 20, artifact 0 to 21",
                          "job 7: ours never ended, artifact 0 to 80"));
}

TEST(Experiment, GoldenColumnsAreChosen) {
  const SharedFolder shared;
  shared.folder().write("trace.csv",
                        "job_id,submit_s,duration_s,gpus,partition\n"
                        "700,0,10,1,a\n701,5,10,1,b\n702,6,10,2,a\n");
  shared.folder().write(
      "golden.csv", "job_id,our_start,our_end,our_stops\n700,0,10,0\n701,5,15,0\n702,10,20,0\n");
  shared.folder().write(
      "late.csv", "job_id,our_start,our_end,our_stops\n700,0,10,0\n701,5,15,1\n702,11,20,0\n");
  const std::string text = R"(
cluster = {nodes = [{count = 1, gpus = 2, partition = "a"}, {count = 1, gpus = 2, partition = "b"}]}
partitions = {apart = true}
[workload]
trace = "shared:trace.csv"
[tolerance]
absolute = 0.01
[[run]]
name = "apart"
artifact = {avg_jct_s = 11.333, partitions.a.avg_jct_s = 12, gpus.2-.avg_queue_s = 4, gpus.-1.avg_jct_s = 10, jct_within.10 = 0.6667, jct_within.14 = 1, jct_at_rank.0.5 = 10, jct_at_rank.0.7 = 14}
golden = {file = ")";
  const std::string columns =
      R"(", submit = "", start = "our_start", end = "our_end", preempted = "our_stops", trace_ids = true}
)";
  const auto equal = run(must_parse(text + "golden.csv" + columns));
  EXPECT_TRUE(equal.within());
  EXPECT_EQ(equal.runs.at(0).jobs.jobs, 3U);
  for (const FigureCheck& figure : equal.runs.at(0).figures) {
    EXPECT_TRUE(figure.within) << figure.expected.key << ' ' << figure.ours;
  }
  const auto unequal = run(must_parse(text + "late.csv" + columns));
  EXPECT_THAT(unequal.runs.at(0).jobs.examples,
              ElementsAre("job 701: ours 5 to 15, preempted 0 times, artifact 5 to 15, preempted 1 "
                          "times",
                          "job 702: ours 10 to 20, preempted 0 times, artifact 11 to 20, preempted "
                          "0 times"));
}

TEST(Experiment, BetterThanPublishedIsWithin) {
  const SharedFolder shared;
  const auto check = [](std::string_view rule, std::string_view figures) {
    return run(must_parse("tolerance = {" + std::string(rule) + "}\n" +
                          three_jobs(figures).substr(0, three_jobs(figures).find("[tolerance]")) +
                          three_jobs(figures).substr(three_jobs(figures).find("[[run]]"))))
        .within();
  };
  EXPECT_TRUE(check("at_most = [\"avg_jct_s\"]", "published = {avg_jct_s = 25}"));
  EXPECT_FALSE(check("at_most = [\"avg_jct_s\"]", "published = {avg_jct_s = 19}"));
  EXPECT_TRUE(check("at_least = [\"avg_jct_s\"]", "published = {avg_jct_s = 19}"));
  EXPECT_FALSE(check("at_least = [\"avg_jct_s\"]", "published = {avg_jct_s = 25}"));
  EXPECT_TRUE(check("shown = [\"avg_\"]", "published = {avg_jct_s = 25}"));
  EXPECT_FALSE(check("shown = [\"avg_\"]", "published = {max_jct_s = 25}"));
}

// Where the original's own runs disagree, ours must lie between them; and every figure says by
// which rule it is judged.
TEST(Experiment, FiguresAreHeldToTheSpreadOfTheOriginal) {
  const SharedFolder shared;
  const auto check = [](std::string_view spread) {
    const std::string figures =
        "published = {avg_jct_s = 25, max_jct_s = 1}\nshown = [\"max_\"]\nspread = {avg_jct_s = " +
        std::string(spread) + "}";
    return run(must_parse(three_jobs(figures))).runs.at(0);
  };
  EXPECT_TRUE(check("[19, 25]").within());
  EXPECT_FALSE(check("[21, 25]").within());
  EXPECT_EQ(check("[19, 25]").figures.at(0).held_to, "19 to 25");
  EXPECT_EQ(check("[19, 25]").figures.at(1).held_to, "shown");
}

TEST(Experiment, WhatCannotBeRunSaysWhy) {
  const SharedFolder shared;
  const auto result = run(must_parse(three_jobs("not_possible = \"needs a moon\"")));
  EXPECT_EQ(result.runs.at(0).missing, "needs a moon");
}

TEST(Experiment, WhatIsNotHereIsNamedAndNotHeldAgainstUs) {
  const SharedFolder shared;
  const auto no_golden = run(must_parse(three_jobs("golden = \"golden/jobs.csv\"")));
  EXPECT_TRUE(no_golden.within());
  EXPECT_FALSE(no_golden.runs.at(0).jobs.compared);
  EXPECT_THAT(no_golden.runs.at(0).jobs.unavailable, HasSubstr("golden/jobs.csv"));

  const auto no_trace = run(must_parse(
      three_jobs("set = {workload.trace = \"shared:trace.csv\"}\nartifact = {avg_jct_s = 1}")));
  EXPECT_TRUE(no_trace.within());
  EXPECT_THAT(no_trace.runs.at(0).missing, HasSubstr("trace.csv is not on this machine"));
  EXPECT_THAT(no_trace.runs.at(0).figures, SizeIs(0));
}

TEST(Experiment, TimesADecisionInsteadOfARun) {
  const SharedFolder shared;
  shared.folder().write("table.json", gavel_table_json());
  const auto text = [](const char* task, const char* figures) {
    return three_jobs(std::string("runtime = {throughputs = \"shared:table.json\", ") + task +
                      "}\n" + figures);
  };
  const auto result =
      run(must_parse(text("policy = \"gavel-max-min-fairness-perf\", jobs = 32, parts = 2",
                          "artifact = {seconds = 1e9, share_kept = 0.5}")));
  ASSERT_THAT(result.runs.at(0).figures, SizeIs(2));
  EXPECT_GT(result.runs[0].figures[0].ours, 0);
  EXPECT_LT(result.runs[0].figures[0].ours, 60);
  EXPECT_NEAR(result.runs[0].figures[1].ours, 1, 0.3);
  const auto fails = [&](const char* task, const char* figures) {
    const auto bad = experiment_of(text(task, figures));
    return bad ? std::string("parsed") : bad.error().message;
  };
  EXPECT_THAT(fails("policy = \"gavel-isolated\", jobs = 0", ""), HasSubstr("at least 1"));
  EXPECT_THAT(fails("policy = \"gavel-isolated\", jobs = 8", "artifact = {avg_jct_s = 1}"),
              HasSubstr("share_kept"));
  const auto unknown =
      run_experiment(must_parse(text("policy = \"gavel-isolatd\", jobs = 8", "")), {});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("gavel-isolated"));
}

TEST(Experiment, FiguresThatNobodyPublishedAreShown) {
  const SharedFolder shared;
  const auto result = run(must_parse(three_jobs("also = [\"makespan_s\"]")));
  ASSERT_THAT(result.runs.at(0).figures, SizeIs(1));
  EXPECT_EQ(result.runs.at(0).figures[0].ours, 30);
  EXPECT_FALSE(result.runs.at(0).figures[0].judged);
  EXPECT_TRUE(result.within());
  EXPECT_THAT(experiment_of(three_jobs("also = [\"makespam_s\"]")).error().message,
              HasSubstr("did you mean 'makespan_s'"));
}

TEST(Experiment, SpeedupIsTheRunHeldAgainstOverThisOne) {
  const SharedFolder shared;
  const auto result =
      run(must_parse(three_jobs("set = {cluster = \"1x3\"}\nagainst = {cluster = \"1x1\"}\n"
                                "published = {speedup.makespan_s = 3, ratio.makespan_s = 0.3}")));
  EXPECT_TRUE(result.within());
  EXPECT_DOUBLE_EQ(result.runs.at(0).figures[0].ours, 3);
  EXPECT_DOUBLE_EQ(result.runs.at(0).figures[1].ours, 10.0 / 30);
}

// Each draw gives jobs other deadlines; a figure may lie so many deviations from the mean of all.
TEST(Experiment, DrawsOfATraceAreJudgedByTheirDeviation) {
  const SharedFolder shared;
  shared.folder().write("raw.csv",
                        "job_id,submission_time,duration,num_gpu\n"
                        "a,0,1000,1\nb,0,1000,1\nc,0,1000,1\nd,0,1000,1\ne,0,1000,1\n"
                        "f,0,1000,1\ng,0,1000,1\nh,0,1000,1\n");
  for (const char* model : {"resnet50", "vgg16", "inception3", "gpt2", "bert", "deepspeech2"}) {
    shared.folder().write(std::string("tables/") + model + ".csv",
                          "global_batch_size,1\n32,1\n64,1\n128,1\n256,1\n");
  }
  const auto drawn = [&](std::string_view tolerance) {
    return run(
        must_parse("cluster = \"1x8\"\n[workload]\ntrace = \"shared:raw.csv\"\nformat = \"itp\"\n"
                   "settings = {throughputs = \"shared:tables\"}\n[tolerance]\n" +
                   std::string(tolerance) +
                   "\n[[run]]\nname = \"a\"\ndraws = 6\npublished = {deadline_met_ratio = 0.4}\n"));
  };
  const auto strict = drawn("absolute = 0");
  ASSERT_THAT(strict.runs, SizeIs(1));
  const FigureCheck& figure = strict.runs[0].figures.at(0);
  EXPECT_LT(figure.least, figure.most);
  EXPECT_GT(figure.deviation, 0);
  EXPECT_FALSE(strict.within());
  EXPECT_TRUE(drawn("deviations = 10").within());
}

TEST(Experiment, SameAtAnyNumberOfThreads) {
  const SharedFolder shared;
  std::string text(kThreeJobs);
  for (int i = 1; i <= 8; ++i) {
    text += "[[run]]\nname = \"" + std::to_string(i) +
            "\"\nset = {workload.generator.jobs = " + std::to_string(i) +
            "}\nartifact = {avg_jct_s = 1}\n";
  }
  const Experiment experiment = must_parse(text);
  const auto one = run_experiment(experiment, {.threads = 1});
  const auto four = run_experiment(experiment, {.threads = 4});
  ASSERT_TRUE(one && four);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(one->runs[i].run, four->runs[i].run);
    EXPECT_EQ(one->runs[i].figures[0].ours, four->runs[i].figures[0].ours);
  }
}

TEST(Experiment, MistakesNameTheirPlace) {
  const SharedFolder shared;
  const auto problem = [](const std::string& text) {
    const auto experiment = experiment_of(text);
    return experiment ? "" : experiment.error().message;
  };
  EXPECT_THAT(problem(three_jobs("artifact = {avg_jtc_s = 1}")),
              HasSubstr("did you mean 'avg_jct_s'"));
  EXPECT_THAT(problem(three_jobs("artefact = {}")), HasSubstr("did you mean 'artifact'"));
  EXPECT_THAT(problem(three_jobs("set = {scheduling = \"lass\"}")), HasSubstr("run 'a'"));
  EXPECT_THAT(problem(std::string(kThreeJobs)), HasSubstr("no [[run]]"));
  EXPECT_THAT(load_experiment("blix", "figure6").error().message, HasSubstr("did you mean 'blox'"));
  EXPECT_THAT(load_experiment("blox", "figur6").error().message,
              HasSubstr("did you mean 'figure6'"));
}

}  // namespace
}  // namespace muster
