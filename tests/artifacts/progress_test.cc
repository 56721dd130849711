// How jobs progress in published simulators: small runs computed by hand, each beside what the
// simulator does by default.
#include <gtest/gtest.h>

#include "artifacts/lucid/countdown.h"
#include "perf/product.h"
#include "run/config/plugin_tables.h"
#include "support/simulation.h"
#include "workload/perf/models.h"

namespace muster {
namespace {

struct SmallRun {
  std::vector<JobSpec> jobs;
  Choice pacing = {"events"};
  Choice scheduling = {"fifo"};
  Choice progress = {"continuous"};
  Choice placement = {"consolidated"};
  RestartCost cost = {};
  int gpus = 1;
};

// The ends of the jobs, by number.
std::vector<Seconds> ends_of(const SmallRun& run) {
  Engine::Parts parts;
  parts.cluster = std::make_shared<ClusterSpec>(uniform_cluster(1, run.gpus));
  parts.perf = multiply({});
  parts.pacing = make_pacing(run.pacing);
  parts.policy_sets.push_back(make_policy_set(run.scheduling, run.placement));
  const ProgressInfo& row =
      **find_row("progress model", plugin_tables().progress, run.progress.name);
  const auto params = Params::make("progress model", row.params, run.progress.params);
  const auto backend = row.make(*params,
                                {.cluster = parts.cluster,
                                 .perf = parts.perf,
                                 .cost = std::make_shared<RestartCost>(run.cost)},
                                *parts.pacing);
  ListSource source(run.jobs);
  RunLog log;
  parts.backend = backend.get();
  parts.source = &source;
  parts.observers = {&log};
  Engine engine(std::move(parts));
  EXPECT_TRUE(engine.run());
  std::vector<Seconds> ends;
  for (std::size_t i = 0; i < run.jobs.size(); ++i) {
    ends.push_back(log.job(static_cast<int>(i)).end);
  }
  return ends;
}

TEST(CountdownProgress, NoticesAnEndOneSecondLate) {
  SmallRun run{.jobs = {job_of(0, 10), job_of(0, 2.5)}, .pacing = {"ticks"}};
  EXPECT_EQ(ends_of(run), (std::vector<Seconds>{10, 13}));
  run.progress = {"countdown"};
  EXPECT_EQ(ends_of(run), (std::vector<Seconds>{11, 15}));
}

TEST(CountdownProgress, BooksARestartAsWorkWhenAJobIsStopped) {
  SmallRun run{.jobs = {job_of(0, 100), job_of(10, 5)},
               .pacing = {"ticks"},
               .scheduling = {"srtf"},
               .placement = {"consolidated"}};
  run.cost.restart = 20;
  const std::vector<Seconds> idle = ends_of(run);
  run.progress = {"countdown"};
  const std::vector<Seconds> added = ends_of(run);
  EXPECT_EQ(idle, (std::vector<Seconds>{125, 15})) << "it idles for 20 s when it comes back";
  EXPECT_EQ(added, (std::vector<Seconds>{127, 16})) << "as long, and each end a second late";
}

TEST(CountdownProgress, CountsAsALoopDoes) {
  // A tenth taken ten times from one leaves a little more than nothing.
  const Countdown tenth{1, 0.1, 0, false};
  EXPECT_GT(tenth.left_at(10), 0);
  EXPECT_EQ(tenth.end(), 12);
  const Countdown half{1, 0.5, 0, false};
  EXPECT_EQ(half.left_at(2), 0);
  EXPECT_EQ(half.end(), 3);
}

TEST(RechargedProgress, ChargesEveryoneAtEveryTurn) {
  SmallRun run{.jobs = {job_of(0, 100), job_of(50, 100)}, .gpus = 2};
  run.cost.restart = 10;
  EXPECT_EQ(ends_of(run), (std::vector<Seconds>{100, 150}));
  // The arrival at 50 costs the first job its start so far: 40 of 50 s count.
  run.progress = {"recharged"};
  EXPECT_EQ(ends_of(run)[0], 110);
}

TEST(LeaseProgress, GivesWholeStepsAndWaitsForTheSlowest) {
  JobSpec quick = job_of(0, 1000);
  quick.iterations = 1000;
  JobSpec slow = job_of(0, 700);
  slow.iterations = 7;
  SmallRun run{.jobs = {quick, slow},
               .pacing = {"leases", {{"length", "250"}}},
               .progress = {"leases"},
               .gpus = 2};
  // 250 steps of a second, or two of a hundred seconds: rounds of 250 s while the first runs.
  EXPECT_EQ(ends_of(run), (std::vector<Seconds>{1000, 850}));
}

TEST(LeaseProgress, MayFailJobsWithFewerStepsThanGpus) {
  JobSpec job = job_of(0, 100, 2);
  job.iterations = 101;
  SmallRun run{.jobs = {job},
               .pacing = {"leases", {{"length", "50"}}},
               .progress = {"leases", {{"step_per_gpu", "true"}}},
               .gpus = 2};
  // Two rounds of 50 steps; the last step has one GPU without work and fails until it is given up.
  EXPECT_GT(ends_of(run)[0], 100.5);
  run.progress.params.clear();
  EXPECT_NEAR(ends_of(run)[0], 100, 1e-9);
}

}  // namespace
}  // namespace muster
