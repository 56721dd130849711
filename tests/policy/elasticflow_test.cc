// The parts of ElasticFlow: timelines, plans, node sets, and the published schedulers on jobs that
// nobody has measured.
#include <random>

#include <gtest/gtest.h>

#include "artifacts/elasticflow/node_sets.h"
#include "policy/elasticflow/bid.h"
#include "policy/elasticflow/deadline_book.h"
#include "policy/elasticflow/planner.h"
#include "support/simulation.h"

namespace muster {
namespace {

constexpr ThroughputCurve::Point kLevels[] = {{1, 1.0}, {2, 1.8}, {4, 3.0}, {8, 4.0}};

PlannedJob job_with(double work, Seconds deadline) {
  PlannedJob job;
  job.levels = kLevels;
  job.cap = 8;
  job.left = work;
  job.deadline = deadline;
  return job;
}

std::string text(const GpuTimeline& timeline) {
  std::string text;
  for (const TimeStep& step : timeline) {
    text += std::to_string(static_cast<long>(step.at)) + ":" + std::to_string(step.gpus) + " ";
  }
  return text;
}

TEST(GpuTimeline, SplitsSetsAndCompacts) {
  GpuTimeline free(0, 8);
  free.set(100, 4);
  EXPECT_EQ(free.value_at(99), 8);
  EXPECT_EQ(free.value_at(100), 4);
  EXPECT_EQ(free.value_at(500), 4);
  EXPECT_EQ(free.split(50), 1U);
  EXPECT_EQ(text(free), "0:8 50:8 100:4 ");
  free.compact();
  EXPECT_EQ(text(free), "0:8 100:4 ");
}

TEST(GpuTimeline, AlignsToTheEndOfASlot) {
  EXPECT_EQ(align(10, 10, 60), 10);
  EXPECT_EQ(align(10, 11, 60), 70);
  EXPECT_EQ(align(10, 70, 60), 70);
  EXPECT_EQ(align(10, -5, 60), 10);
  EXPECT_EQ(align(10, -51, 60), -50);
}

TEST(SharePlan, TakesTheFewestGpusThatSuffice) {
  const PlanFrame frame{0, 60, 8};
  JobPlan plan;
  plan_minimum_share(frame, job_with(500, 600), GpuTimeline(0, 8), 0, plan);
  EXPECT_TRUE(plan.in_time);
  EXPECT_EQ(text(plan.gpus), "0:1 ");
  EXPECT_EQ(plan.exact, 500);
  EXPECT_EQ(plan.end, 540);
  EXPECT_EQ(text(plan.free), "0:7 540:8 ");
}

TEST(SharePlan, TakesTheLargerShareAsLateAsPossible) {
  // One GPU does 1200 by the deadline; the rest needs two in the later period.
  GpuTimeline free(0, 8);
  free.set(180, 7);
  const PlanFrame frame{0, 60, 8};
  JobPlan plan;
  plan_minimum_share(frame, job_with(1300, 1200), free, 0, plan);
  EXPECT_TRUE(plan.in_time);
  EXPECT_EQ(text(plan.gpus), "0:1 180:2 ");
  EXPECT_LE(plan.exact, 1200);
}

TEST(SharePlan, CountsTheLastSlotUpToTheDeadlineOnly) {
  const PlanFrame frame{0, 60, 8};
  JobPlan plan;
  // 601 units cannot be done by 600 with one GPU, although its slot ends at 600.
  plan_minimum_share(frame, job_with(601, 600), GpuTimeline(0, 8), 0, plan);
  EXPECT_EQ(plan.gpus[0].gpus, 2);
  // Nor by 599, although that slot ends at 600 too.
  plan_minimum_share(frame, job_with(600, 599), GpuTimeline(0, 8), 0, plan);
  EXPECT_EQ(plan.gpus[0].gpus, 2);
}

TEST(SharePlan, PlansAHopelessJobAllTheSame) {
  const PlanFrame frame{0, 60, 8};
  JobPlan plan;
  plan_minimum_share(frame, job_with(4000, 100), GpuTimeline(0, 8), 0, plan);
  EXPECT_FALSE(plan.in_time);
  EXPECT_EQ(plan.gpus[0].gpus, 8);
  EXPECT_EQ(plan.exact, 1020);  // 100 s at 4 per second to the deadline, the rest from 120 s on
  EXPECT_EQ(plan.free.value_at(plan.end), 8);
}

TEST(SharePlan, GivesNothingToABestEffortJobBeforeReservationsEnd) {
  GpuTimeline free(0, 3);
  free.set(240, 8);
  const PlanFrame frame{0, 60, 8};
  JobPlan plan;
  plan_minimum_share(frame, job_with(50, kFarDeadline), free, 0, plan);
  EXPECT_TRUE(plan.in_time);
  EXPECT_EQ(text(plan.gpus), "0:0 240:1 ");
}

TEST(SharePlan, StartsWithAGivenSize) {
  GpuTimeline free(0, 8);
  free.set(120, 6);
  const PlanFrame frame{0, 60, 8};
  JobPlan plan;
  plan_minimum_share(frame, job_with(800, 1200), free, 4, plan);
  EXPECT_EQ(plan.gpus[0].gpus, 4);
  EXPECT_EQ(plan.gpus[1].at, 120);
  EXPECT_EQ(plan.gpus[1].gpus, 1);
  EXPECT_EQ(text(without(plan.free, plan.gpus, plan.end)), text(free));
  EXPECT_EQ(gpu_seconds(plan.gpus, plan.end), 4 * 120 + 1 * (plan.end - 120));
}

TEST(SharePlan, NeverTakesMoreThanIsFree) {
  for (int work = 10; work < 6000; work += 37) {
    for (int deadline = 30; deadline < 1500; deadline += 97) {
      GpuTimeline free(0, 5);
      free.set(60, 1);
      free.set(180, 0);
      free.set(240, 6);
      free.set(600, 8);
      const PlanFrame frame{0, 60, 8};
      JobPlan plan;
      plan_minimum_share(frame, job_with(work, deadline), free, 0, plan);
      for (const TimeStep& step : plan.free) {
        ASSERT_GE(step.gpus, 0) << work << " by " << deadline;
        ASSERT_LE(step.gpus, 8);
      }
      ASSERT_EQ(plan.free[plan.free.size() - 1].gpus, 8);
      ASSERT_EQ(text(without(plan.free, plan.gpus, plan.end)), text(free))
          << work << " by " << deadline;
    }
  }
}

// A whole number from 0 to below `count`.
int draw(std::mt19937& random, int count) {
  return static_cast<int>(random() % static_cast<unsigned>(count));
}

GpuTimeline random_timeline(std::mt19937& random, int gpus, double grid) {
  GpuTimeline free(0, draw(random, gpus + 1));
  double at = 0;
  for (int i = 0; i < 8; ++i) {
    at += grid * (1 + draw(random, 5));
    free.set(at, draw(random, gpus + 1));
  }
  free.set(at + grid, gpus);
  free.compact();
  return free;
}

// Plans made at another time have steps that lie off the grid of this one.
TEST(SharePlan, FitsIntoStepsOffTheGrid) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const GpuTimeline free = random_timeline(random, 8, 17);
    const PlanFrame frame{0, 60, 8, false, false};
    JobPlan plan;
    const PlannedJob job = job_with(1 + draw(random, 3000), 20 + draw(random, 900));
    plan_minimum_share(frame, job, free, 0, plan);
    double work = 0;
    for (std::size_t s = 0; s < plan.gpus.size(); ++s) {
      const Seconds to = s + 1 < plan.gpus.size() ? plan.gpus[s + 1].at : plan.end;
      work += job.speed(plan.gpus[s].gpus) * (to - plan.gpus[s].at);
    }
    ASSERT_GE(work, job.left - 1e-6);
    if (plan.in_time) {
      ASSERT_LE(plan.end, job.deadline);
    }
    for (const TimeStep& step : plan.free) ASSERT_GE(step.gpus, 0);
    ASSERT_EQ(text(without(plan.free, plan.gpus, plan.end)), text(free)) << i;
  }
}

// The same with a larger share to begin with, late jobs among them: what a plan takes can be given
// back.
TEST(SharePlan, WithAFirstShareFitsIntoStepsOffTheGrid) {
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    const GpuTimeline free = random_timeline(random, 8, 17);
    const PlanFrame frame{0, 60, 8, false, false};
    const int first = 1 << draw(random, 4);
    if (first > free[0].gpus) continue;
    JobPlan plan;
    plan_minimum_share(frame, job_with(1 + draw(random, 3000), draw(random, 400) - 100), free,
                       first, plan);
    for (const TimeStep& step : plan.free) ASSERT_GE(step.gpus, 0);
    ASSERT_EQ(text(without(plan.free, plan.gpus, plan.end)), text(free)) << i;
  }
}

// A bid is what the plan would cost, and holds as long as what it has read.
TEST(Bid, IsTheCostOfThePlanWithoutThePlan) {
  std::mt19937 random(11);
  Bidder bidder;
  int kept = 0;
  for (int i = 0; i < 20000; ++i) {
    const bool on_grid = i % 2 == 0;
    const PlanFrame frame{0, 60, 8, on_grid, on_grid};
    const GpuTimeline before = random_timeline(random, 8, on_grid ? 60 : 17);
    const PlannedJob job = job_with(1 + draw(random, 3000), 20 + draw(random, 900));
    JobPlan own;
    plan_minimum_share(frame, job, before, 0, own);
    const int next = job.next(own.gpus[0].gpus);
    if (next == own.gpus[0].gpus || next > before[0].gpus) continue;
    const Bid bid = bidder.bid(frame, job, own.free, own.gpus, own.end, next);
    JobPlan larger;
    const auto cost = [&](const GpuTimeline& free) {
      plan_minimum_share(frame, job, without(free, own.gpus, own.end), next, larger);
      return gpu_seconds(larger.gpus, larger.end);
    };
    ASSERT_DOUBLE_EQ(bid.gpu_seconds, cost(own.free)) << i;
    // Somebody else takes or gives back GPUs for a while.
    GpuTimeline changed = own.free;
    const Seconds from = (on_grid ? 60 : 17) * draw(random, 12);
    const std::size_t first = changed.split(from);
    const std::size_t last = changed.split(from + (on_grid ? 60 : 17) * (1.0 + draw(random, 4)));
    const int step = draw(random, 2) == 0 ? 1 : -1;
    bool possible = true;
    for (std::size_t s = first; s < last; ++s) {
      changed[s].gpus += step;
      possible = possible && changed[s].gpus >= 0;
    }
    changed.compact();
    if (!possible || changed[0].gpus + own.gpus[0].gpus < next) continue;
    std::vector<TimeRange> changes;
    find_changes(own.free, changed, changes);
    if (bid.survives(changes) && bid.first_step == Bidder::first_step(changed, own.gpus, own.end)) {
      ++kept;
      ASSERT_DOUBLE_EQ(bid.gpu_seconds, cost(changed)) << i;
    }
  }
  EXPECT_GT(kept, 500);
}

TEST(GreedyPlan, TakesAllItCanUse) {
  GpuTimeline free(0, 3);
  free.set(100, 8);
  const PlanFrame frame{0, 50, 8};
  JobPlan plan;
  plan_greedy(frame, job_with(580, 300), free, plan);
  EXPECT_EQ(text(plan.gpus), "0:2 100:8 ");
  EXPECT_EQ(plan.end, 200);  // 180 in the first 100 s, then 4 per second
  EXPECT_TRUE(plan.in_time);
}

TEST(NodeSets, PacksLikeBuddiesAndRemembersRanges) {
  std::set<std::pair<int, int>> cache;
  const auto ranks = [&cache] {
    NodeSets sets(3, 8);
    EXPECT_TRUE(sets.place(0, 8));
    EXPECT_TRUE(sets.place(1, 4));
    EXPECT_TRUE(sets.place(2, 4));
    EXPECT_TRUE(sets.place(3, 2));
    EXPECT_FALSE(sets.place(4, 16));
    std::vector<NodeSets::Tenant> tenants;
    sets.rank(cache, tenants);
    return tenants;
  };
  for (const NodeSets::Tenant& tenant : ranks()) EXPECT_FALSE(tenant.known) << tenant.job;
  for (const NodeSets::Tenant& tenant : ranks()) EXPECT_TRUE(tenant.known) << tenant.job;
  EXPECT_EQ(cache, (std::set<std::pair<int, int>>{{0, 8}, {8, 4}, {12, 4}, {16, 2}}));
}

// The published schedulers bring jobs to an end that were never measured, and decide alike again.
class PublishedSchedulers : public ::testing::TestWithParam<std::pair<Choice, const char*>> {};

Scenario published_scenario(const std::pair<Choice, const char*>& param) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(4, 8);
  scenario.scheduling = param.first;
  scenario.placement = {"buddy"};
  scenario.pacing = {"gathered", {{"length", "60"}, {"events", param.second}}};
  scenario.perf = {{"scaling"}};
  for (int i = 0; i < 40; ++i) {
    JobSpec job = job_of(37.0 * i, 100 + 53 * (i % 11), 1 << (i % 4));
    job.min_gpus = 1;
    job.max_gpus = 16;
    if (i % 5 != 0) job.deadline = job.submit + job.duration * (0.6 + 0.1 * (i % 13));
    scenario.jobs.push_back(job);
  }
  return scenario;
}

TEST_P(PublishedSchedulers, BringEveryJobToAnEnd) {
  const RunLog log = simulate(published_scenario(GetParam()));
  EXPECT_EQ(log.jobs.size(), 40U);
  int finished = 0;
  for (const JobRecord& job : log.jobs) {
    if (job.status == JobState::kRefused) {
      EXPECT_EQ(job.reason, Reason::kDeadlineImpossible);
      EXPECT_TRUE(job.has_deadline());
      continue;
    }
    ++finished;
    EXPECT_EQ(job.status, JobState::kFinished);
    EXPECT_GE(job.end, job.submit);
  }
  EXPECT_GT(finished, 8);
  EXPECT_EQ(log.turns.back().used_gpus, 0);
  EXPECT_EQ(simulate(published_scenario(GetParam())).lines(), log.lines());
}

INSTANTIATE_TEST_SUITE_P(
    All, PublishedSchedulers,
    ::testing::Values(std::pair<Choice, const char*>{{"elasticflow-as-coded"}, "everything"},
                      std::pair<Choice, const char*>{
                          {"elasticflow-as-coded", {{"admission", "false"}}}, "everything"},
                      std::pair<Choice, const char*>{
                          {"elasticflow-as-coded", {{"grow_least", "true"}}}, "everything"},
                      std::pair<Choice, const char*>{{"edf-as-coded"}, "everything"},
                      std::pair<Choice, const char*>{{"edf-as-coded", {{"admission", "true"}}},
                                                     "everything"},
                      std::pair<Choice, const char*>{{"gandiva-as-coded"}, "arrivals-alone"},
                      std::pair<Choice, const char*>{{"tiresias-as-coded"}, "arrivals"},
                      std::pair<Choice, const char*>{{"themis-as-coded"}, "every-slot"}));

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
      job.gpus = 1 << draw(random, 4);
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

// Sizes that do not pack into nodes are refused with the reason; the originals end there.
TEST(PublishedSchedulers, RefuseSizesThatDoNotPack) {
  for (const auto& [policy, events] : {std::pair("elasticflow-as-coded", "everything"),
                                       {"edf-as-coded", "everything"},
                                       {"gandiva-as-coded", "arrivals-alone"},
                                       {"tiresias-as-coded", "arrivals"},
                                       {"themis-as-coded", "every-slot"}}) {
    Scenario scenario = published_scenario({{policy}, events});
    for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
      JobSpec& job = scenario.jobs[i];
      job.gpus = i % 2 == 0 ? 3 : 4;
      job.min_gpus = job.max_gpus = 0;
      job.deadline = kNever;
    }
    const RunLog log = simulate(scenario);
    EXPECT_EQ(log.jobs.size(), 40U) << policy;
    for (const JobRecord& job : log.jobs) {
      if (job.gpus == 3) {
        EXPECT_EQ(job.status, JobState::kRefused) << policy;
        EXPECT_EQ(job.reason, Reason::kFragmented) << policy;
      } else {
        EXPECT_EQ(job.status, JobState::kFinished) << policy;
      }
    }
  }
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
