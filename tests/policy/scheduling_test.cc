// The order of each scheduling policy on cases small enough to be checked by eye.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/beliefs.h"
#include "support/simulation.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

// Jobs in the order of their first starts, on one GPU.
std::vector<int> start_order(const Scenario& scenario) {
  const RunLog log = simulate(scenario);
  std::vector<std::pair<Seconds, int>> starts;
  for (const JobRecord& job : log.jobs) starts.emplace_back(job.start, static_cast<int>(job.id));
  std::sort(starts.begin(), starts.end());
  std::vector<int> order;
  order.reserve(starts.size());
  for (const auto& [start, id] : starts) order.push_back(id);
  return order;
}

Scenario one_gpu(const Choice& scheduling, std::vector<JobSpec> jobs) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.scheduling = scheduling;
  scenario.jobs = std::move(jobs);
  return scenario;
}

TEST(Fifo, GoesByArrivalAndNobodyOvertakes) {
  EXPECT_THAT(start_order(one_gpu({"fifo"}, {job_of(0, 9), job_of(1, 5), job_of(2, 1)})),
              ElementsAre(0, 1, 2));
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 2);
  scenario.jobs = {job_of(0, 10, 1), job_of(1, 10, 2), job_of(2, 10, 1)};
  EXPECT_EQ(simulate(scenario).job(2).start, 20);
  scenario.scheduling = {"fifo", {{"strict", "false"}}};
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(2).start, 2);
  EXPECT_EQ(log.job(1).start, 12);
  EXPECT_THAT(log.lines({Action::kStart}),
              ElementsAre("0 start 0 gpus=1 other=- detail=0 first-in-order",
                          "2 start 2 gpus=1 other=- detail=0 backfilled",
                          "12 start 1 gpus=2 other=- detail=0 first-in-order"));
}

TEST(Fifo, WithPreemptionLetsAnEarlierSubmissionPushOutALaterOne) {
  Scenario scenario = one_gpu({"fifo", {{"preempt", "true"}}}, {job_of(5, 10), job_of(8, 10)});
  scenario.jobs[1].submit = 1;  // submitted first, heard of later
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(1).start, 8);
  EXPECT_EQ(log.job(1).end, 18);
  EXPECT_EQ(log.job(0).end, 25);
  EXPECT_THAT(log.lines({Action::kStop}),
              ElementsAre("8 stop 0 gpus=1 other=1 detail=0 outranked"));
}

TEST(Sjf, GoesByDurationOrEstimateAndDoesNotPreempt) {
  std::vector<JobSpec> jobs = {job_of(0, 10), job_of(1, 9), job_of(2, 5), job_of(3, 7)};
  EXPECT_THAT(start_order(one_gpu({"sjf"}, jobs)), ElementsAre(0, 2, 3, 1));
  jobs[1].estimate = 1;
  jobs[2].estimate = 20;
  EXPECT_THAT(start_order(one_gpu({"sjf", {{"by_estimate", "true"}}}, jobs)),
              ElementsAre(0, 1, 3, 2));
}

TEST(Sjf, KnowsAJobAgainThatFailedAndWaits) {
  Scenario scenario = one_gpu({"sjf"}, {job_of(0, 10), job_of(1, 20)});
  scenario.cluster.schedule = {{5, NodeId{0}, false}, {8, NodeId{0}, true}};
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).end, 13);
  EXPECT_EQ(log.job(1).end, 33);
}

TEST(Srtf, GoesByRemainingTime) {
  const RunLog log = simulate(one_gpu({"srtf"}, {job_of(0, 10), job_of(4, 3), job_of(5, 6)}));
  // The second pushes the first out with 6 left; those 6 tie with the third's 6 and are older.
  EXPECT_EQ(log.job(1).end, 7);
  EXPECT_EQ(log.job(0).end, 13);
  EXPECT_EQ(log.job(2).end, 19);
}

TEST(Srtf, BoostsWhoHasWaitedTooLong) {
  std::vector<JobSpec> jobs = {job_of(0, 40)};
  for (int i = 0; i < 20; ++i) jobs.push_back(job_of(1 + 10.0 * i, 10));
  const RunLog starved = simulate(one_gpu({"srtf"}, jobs));
  EXPECT_EQ(starved.job(0).end, 240);
  const RunLog boosted = simulate(one_gpu({"srtf", {{"boost_after", "50"}}}, jobs));
  // Out at 1, boosted at 51, then it runs its 39 to the end, before any other has waited 50 s.
  EXPECT_EQ(boosted.job(0).end, 90);
}

TEST(Las, LetsWhoHasHadLeastGoFirst) {
  Scenario scenario = one_gpu({"las"}, {job_of(0, 30), job_of(10, 30)});
  scenario.pacing = {"rounds", {{"length", "10"}}};
  const RunLog log = simulate(scenario);
  // 0: the first; 10: the newcomer; 20: a tie, the older; then in turns.
  EXPECT_THAT(log.lines({Action::kStart}),
              ElementsAre("0 start 0 gpus=1 other=- detail=0 first-in-order",
                          "10 start 1 gpus=1 other=- detail=0 first-in-order",
                          "20 start 0 gpus=1 other=- detail=0 first-in-order",
                          "30 start 1 gpus=1 other=- detail=0 first-in-order",
                          "40 start 0 gpus=1 other=- detail=0 first-in-order",
                          "50 start 1 gpus=1 other=- detail=0 first-in-order"));
  EXPECT_EQ(log.job(0).end, 50);
  EXPECT_EQ(log.job(1).end, 60);
}

TEST(Las, CountsGpuSecondsOrSeconds) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 4);
  scenario.pacing = {"rounds", {{"length", "10"}}};
  // At 20 the wide job has had 20 s or 80 GPU-seconds, the narrow one 10 s or 30 GPU-seconds.
  scenario.jobs = {job_of(0, 100, 4), job_of(0, 100, 3)};
  scenario.scheduling = {"las", {{"service", "seconds"}}};
  EXPECT_THAT(simulate(scenario).lines({Action::kStart})[2],
              "20 start 0 gpus=4 other=- detail=0 first-in-order");
  scenario.scheduling = {"las", {{"service", "gpu-seconds"}}};
  // 40 GPU-seconds after the first round against 30 after the second: the narrow one goes on.
  EXPECT_THAT(simulate(scenario).lines({Action::kStart})[2],
              "30 start 0 gpus=4 other=- detail=0 first-in-order");
}

TEST(Las, LooksAgainAfterAQuantumWhereTurnsFollowEvents) {
  Scenario scenario = one_gpu({"las", {{"quantum", "10"}}}, {job_of(0, 30), job_of(0, 30)});
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).start, 0);
  EXPECT_EQ(log.job(1).start, 10);
}

TEST(Tiresias, DemotesByServiceAndServesInOrderWithinAQueue) {
  const Choice tiresias = {"tiresias", {{"limit_1", "20"}, {"limit_2", "100"}}};
  const RunLog log = simulate(one_gpu(tiresias, {job_of(0, 50), job_of(5, 30), job_of(10, 5)}));
  // The first leaves the first queue at 20; the second does at 40, after which the third runs.
  EXPECT_EQ(log.job(1).start, 20);
  EXPECT_EQ(log.job(2).start, 40);
  EXPECT_EQ(log.job(2).end, 45);
  EXPECT_EQ(log.job(0).end, 75);
  EXPECT_EQ(log.job(1).end, 85);
}

TEST(Optimus, GivesSpareGpusWhereTheySaveMost) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 4);
  scenario.perf = {{"scaling", {{"serial", "0"}}}};
  scenario.scheduling = {"optimus", {{"least_gain", "1"}}};
  scenario.jobs = {job_of(0, 100, 1), job_of(0, 1000, 1)};
  for (JobSpec& job : scenario.jobs) {
    job.min_gpus = 1;
    job.max_gpus = 4;
  }
  TestRun simulation(scenario);
  simulation.engine().turn();
  const View view = simulation.engine().view();
  std::vector<int> sizes;
  for (const Slot slot : view.jobs.running()) sizes.push_back(view.jobs[slot].gpus.gpus());
  EXPECT_THAT(sizes, ElementsAre(1, 3));
  const RunLog& log = simulation.run();
  // When the short one is done, the long one gets the whole cluster.
  EXPECT_EQ(log.job(0).end, 100);
  EXPECT_EQ(log.job(1).resizes, 1);
  EXPECT_EQ(log.job(1).end, 100 + 700.0 / 4);
}

TEST(Proportional, GivesEveryJobAnEqualPartOfTheTime) {
  Scenario scenario = one_gpu({"proportional"}, {job_of(0, 50), job_of(0, 50)});
  scenario.pacing = {"rounds", {{"length", "10"}}};
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).end, 90);
  EXPECT_EQ(log.job(1).end, 100);
}

TEST(MaxMin, PassesOnWhatSmallJobsDoNotNeed) {
  // Four GPUs; one job wants one, two want three each. Water fills to 1, 1.5, 1.5: the small job
  // runs all the time, the others half of it.
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 4);
  scenario.pacing = {"rounds", {{"length", "10"}}};
  scenario.scheduling = {"max-min"};
  scenario.jobs = {job_of(0, 100, 1), job_of(0, 50, 3), job_of(0, 50, 3)};
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).end, 100);
  EXPECT_EQ(log.job(0).preemptions, 0);
  EXPECT_EQ(log.job(1).end + log.job(2).end, 190);
}

TEST(FinishTimeFairness, FavoursWhoIsFurthestBehind) {
  // At 10 the short job has waited its duration: (10 + 10) / 10 against (10 + 100) / 100.
  Scenario scenario =
      one_gpu({"finish-time-fairness"}, {job_of(0, 100), job_of(0, 10), job_of(0, 0)});
  scenario.pacing = {"rounds", {{"length", "10"}}};
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(2).start, 0);  // nobody is further behind than a job of no length
  EXPECT_EQ(log.job(1).start, 10);
  EXPECT_EQ(log.job(1).end, 20);
}

TEST(Qssf, GoesByEstimatedGpuTime) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 4);
  scenario.scheduling = {"qssf"};
  scenario.jobs = {job_of(0, 10, 4), job_of(1, 10, 2), job_of(1, 10, 4), job_of(1, 10, 1)};
  for (JobSpec& job : scenario.jobs) job.estimate = 10;
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(3).start, 10);
  EXPECT_EQ(log.job(1).start, 10);
  EXPECT_EQ(log.job(2).start, 20);
}

// As srtf and sjf do: what is not known to be short does not go first.
TEST(Qssf, TakesAJobWithoutEstimateForAnHourLong) {
  for (const char* policy : {"qssf", "lucid", "qssf-as-coded"}) {
    Scenario scenario;
    scenario.cluster = uniform_cluster(1, 1);
    scenario.scheduling = {policy};
    JobSpec shorter = job_of(2, 100);
    shorter.estimate = 1800;
    JobSpec longer = job_of(3, 100);
    longer.estimate = 5400;
    scenario.jobs =
        believed_jobs({job_of(0, 10), job_of(1, 100), shorter, longer}, Durations::kEstimate);
    const RunLog log = simulate(scenario);
    EXPECT_EQ(log.job(2).start, 10) << policy;
    EXPECT_EQ(log.job(1).start, 110) << policy;
    EXPECT_EQ(log.job(3).start, 210) << policy;
  }
}

TEST(LoadThreshold, TestsBeforeItAdds) {
  const auto admission = make_admission({"load-threshold", {{"threshold", "0.5"}}});
  Symbols symbols;
  const auto perf = make_perf({"ideal"}, symbols);
  const ClusterState cluster(std::make_shared<const ClusterSpec>(uniform_cluster(2, 4)));
  const JobTable jobs;
  const View view{0, 0, jobs, cluster, *perf};
  EXPECT_EQ(admission->admit(view, Load{4}, job_of(0, 1, 8)).answer, Admission::kAccept);
  EXPECT_EQ(admission->admit(view, Load{5}, job_of(0, 1, 1)).answer, Admission::kHold);
  EXPECT_EQ(admission->admit(view, Load{5}, job_of(0, 1, 1)).reason, Reason::kLoadLimit);
}

}  // namespace
}  // namespace muster
