// ElasticFlow as the paper means it, with any performance model and pacing: promises that are kept.
#include <random>

#include <gtest/gtest.h>

#include "policy/elasticflow/deadline_book.h"
#include "support/simulation.h"

namespace muster {
namespace {

// As the paper means it, with any performance model and pacing.
Scenario deadline_scenario() {
  Scenario scenario;
  scenario.cluster = uniform_cluster(2, 4);
  scenario.scheduling = {"elasticflow"};
  scenario.admission = {"deadline"};
  scenario.placement = {"buddy"};
  scenario.perf = {{"scaling", {{"serial", "0"}}}};
  return scenario;
}

JobSpec elastic_job(Seconds arrival, Seconds duration, Seconds deadline) {
  JobSpec job = job_of(arrival, duration, 1);
  job.min_gpus = 1;
  job.max_gpus = 8;
  job.deadline = deadline;
  return job;
}

TEST(DeadlineAdmission, LetsInWhatCanMakeItAndRefusesTheRest) {
  Scenario scenario = deadline_scenario();
  scenario.jobs = {elastic_job(0, 800, 150),   // eight GPUs for 100 s
                   elastic_job(10, 800, 170),  // what is left does not suffice
                   elastic_job(20, 200, 400),  // fits behind the first
                   elastic_job(30, 10000, kNever)};
  const RunLog log = simulate(scenario);
  EXPECT_TRUE(log.job(0).met_deadline());
  EXPECT_EQ(log.job(1).status, JobState::kRefused);
  EXPECT_EQ(log.job(1).reason, Reason::kDeadlineImpossible);
  EXPECT_EQ(log.job(1).value, 0);
  EXPECT_EQ(log.job(1).best_value, 1);
  EXPECT_TRUE(log.job(2).met_deadline());
  EXPECT_EQ(log.job(3).status, JobState::kFinished);
}

// Jobs of many sizes, lengths and tightnesses, some without deadline, at a load that makes
// admission refuse a good part of them.
std::vector<JobSpec> mixed_jobs(unsigned seed, int count) {
  std::mt19937 random(seed);
  const auto real = [&random](double low, double high) {
    return low + (high - low) * (static_cast<double>(random()) / 4294967296.0);
  };
  std::vector<JobSpec> jobs;
  double at = 0;
  for (int i = 0; i < count; ++i) {
    at += real(0, 60);
    const double duration = real(30, 1500);
    JobSpec job = elastic_job(at, duration, at + duration * real(0.2, 2));
    if (real(0, 1) < 0.15) job.deadline = kNever;
    if (real(0, 1) < 0.2) {  // cannot be resized
      job.gpus = 1 << static_cast<int>(random() % 4);
      job.min_gpus = job.max_gpus = 0;
    }
    jobs.push_back(job);
  }
  return jobs;
}

struct Promises {
  int met = 0;
  int late = 0;
  int refused = 0;
};

Promises count_promises(const RunLog& log) {
  Promises promises;
  for (const JobRecord& job : log.jobs) {
    if (!job.has_deadline()) continue;
    if (job.status == JobState::kRefused) {
      ++promises.refused;
      continue;
    }
    EXPECT_EQ(job.status, JobState::kFinished);
    // Sums of many pieces of time are not exact.
    constexpr double kRounding = 1e-6;
    ++(job.lateness() <= kRounding ? promises.met : promises.late);
    if (job.lateness() > kRounding) {
      ADD_FAILURE() << "job " << index(job.id) << " is " << job.lateness() << " s late";
    }
  }
  return promises;
}

// Speeds as planned, nothing fails, changes cost nothing: then who is let in is in time.
TEST(DeadlineAdmission, KeepsAllItsPromises) {
  for (const char* pacing : {"events", "slots"}) {
    for (const char* serial : {"0", "0.1"}) {
      for (unsigned seed = 0; seed < 6; ++seed) {
        Scenario scenario = deadline_scenario();
        scenario.cluster = uniform_cluster(2, 8);
        scenario.pacing = {pacing};
        scenario.perf = {{"scaling", {{"serial", serial}}}};
        scenario.jobs = mixed_jobs(seed, 150);
        const Promises promises = count_promises(simulate(scenario));
        EXPECT_GT(promises.met, 40) << pacing << ", seed " << seed;
        EXPECT_GT(promises.refused, 10) << pacing << ", seed " << seed;
        EXPECT_EQ(promises.late, 0) << pacing << ", seed " << seed;
      }
    }
  }
}

// Without admission control nobody is refused. Some are late then, but not those who were promised
// their time before: as many make it as with it.
TEST(ElasticFlowPolicy, DoesNotGiveUpPromisesForLateJobs) {
  Scenario scenario = deadline_scenario();
  scenario.cluster = uniform_cluster(2, 8);
  scenario.jobs = mixed_jobs(1, 150);
  const Promises with = count_promises(simulate(scenario));
  scenario.admission = {"accept-all"};
  const RunLog log = simulate(scenario);
  int met = 0;
  for (const JobRecord& job : log.jobs) {
    EXPECT_EQ(job.status, JobState::kFinished);
    met += job.met_deadline() ? 1 : 0;
  }
  EXPECT_GE(met, 0.9 * with.met);
}

// What a change of size costs is not in the plans: promises may be broken then, and are known to
// be.
TEST(DeadlineAdmission, DoesNotReckonWithTheCostOfChanges) {
  Scenario scenario = deadline_scenario();
  scenario.cost.restart = 40;
  scenario.cost.first_start = 40;
  scenario.jobs = {elastic_job(0, 800, 110)};  // ten seconds to spare on all eight GPUs
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).status, JobState::kFinished);
  EXPECT_GT(log.job(0).lateness(), 0);
}

// Where turns are further apart than submission and deadline nobody can be in time, and the answer
// says why.
TEST(DeadlineAdmission, SaysThatSlotsAreTooLong) {
  Scenario scenario = deadline_scenario();
  scenario.pacing = {"slots", {{"length", "600"}}};
  scenario.jobs = {elastic_job(10, 80, 400), elastic_job(20, 8000, 700), elastic_job(30, 80, 1900)};
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).status, JobState::kRefused);
  EXPECT_EQ(log.job(0).reason, Reason::kSlotTooLong);
  EXPECT_EQ(log.job(1).reason, Reason::kDeadlineImpossible);
  EXPECT_TRUE(log.job(2).met_deadline());
}

// Where more GPUs make no job faster, each has the fewest it may have.
TEST(ElasticFlow, LeavesGpusThatBringNothing) {
  Scenario scenario = deadline_scenario();
  scenario.perf = {};
  scenario.jobs = {stretchable_job(0, 1000, 8)};
  scenario.jobs[0].deadline = 5000;
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).status, JobState::kFinished);
  for (const auto& [decision, gpus] : log.placements) EXPECT_EQ(gpus.gpus(), 1);
}

// A job that is late already, here by a failure, keeps nobody out.
TEST(DeadlineAdmission, IsNotBlockedByALateJob) {
  Scenario scenario = deadline_scenario();
  scenario.cluster = uniform_cluster(1, 8);
  scenario.cluster.schedule = {{50, NodeId{0}, false}, {300, NodeId{0}, true}};
  scenario.jobs = {elastic_job(0, 800, 150), elastic_job(310, 80, 900)};
  const RunLog log = simulate(scenario);
  EXPECT_GT(log.job(0).lateness(), 0);
  EXPECT_TRUE(log.job(1).met_deadline());
}

TEST(EarliestDeadlineFirst, GoesByDeadlines) {
  Scenario scenario;
  scenario.scheduling = {"edf"};
  scenario.jobs = {job_of(0, 100, 4), job_of(1, 10, 4), job_of(2, 10, 4)};
  scenario.jobs[1].deadline = 200;
  scenario.jobs[2].deadline = 100;
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(2).end, 12);
  EXPECT_EQ(log.job(1).end, 21);
  EXPECT_EQ(log.job(0).end, 120);
}

// Two halves of nodes are free, and a job for a whole one comes.
TEST(BuddyPlacement, MovesJobsTogether) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(2, 4);
  scenario.scheduling = {"edf"};
  scenario.placement = {"buddy"};
  scenario.jobs = {job_of(0, 10, 2), job_of(0, 100, 2), job_of(0, 12, 2), job_of(0, 110, 2),
                   job_of(20, 50, 4)};
  for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
    scenario.jobs[i].deadline = 1000 + static_cast<double>(i);
  }
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(4).start, 20);
  EXPECT_EQ(log.lines({Action::kMove}).size(), 1U);
  scenario.placement = {"consolidated", {{"one_node", "true"}}};
  EXPECT_GT(simulate(scenario).job(4).start, 20);
}

}  // namespace
}  // namespace muster
