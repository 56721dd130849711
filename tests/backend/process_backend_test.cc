// The same engine and the same policies as everywhere, in real time with real processes; and every
// such run, recorded, is gone through again in virtual time to the same decisions.
#include "support/process_backend.h"

#include <chrono>
#include <cmath>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/invariants.h"
#include "engine/recording.h"
#include "support/scripted_policy.h"
#include "support/simulation.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

struct LiveScenario {
  ClusterSpec cluster = uniform_cluster(1, 4);
  std::vector<JobSpec> jobs = {};
  Choice pacing = {"rounds", {{"length", "0.1"}}};
  std::function<std::unique_ptr<SchedulingPolicy>()> scheduling = {};
  std::map<std::string, Breakage> breakages = {};
  EngineOptions options = {};
};

class LiveRun {
 public:
  explicit LiveRun(LiveScenario scenario) : scenario_(std::move(scenario)) {}

  // Runs the jobs as processes, checks what must hold in any run, then replays the recording.
  const RunLog& run() {
    ProcessBackend processes(perf_, folder_.path(), scenario_.breakages);
    ListSource source(scenario_.jobs);
    std::ostringstream text;
    Recorder recorder(processes, source, symbols_, text);
    const auto began = std::chrono::steady_clock::now();
    {
      Engine engine(parts(recorder.backend(), recorder.source(), live_));
      while (engine.turn()) {
        const auto broken = broken_invariant(engine);
        EXPECT_FALSE(broken) << *broken;
        const auto elapsed = std::chrono::steady_clock::now() - began;
        if (broken || elapsed > std::chrono::seconds(60)) break;
      }
      EXPECT_TRUE(engine.idle()) << "the run ended with active jobs";
      EXPECT_EQ(engine.left(), static_cast<long long>(scenario_.jobs.size()));
    }
    recorder.finish();
    live_seconds_ = std::chrono::steady_clock::now() - began;
    EXPECT_EQ(processes.complaint(), "");
    launches_ = processes.launches();
    replay(text.str());
    return live_;
  }
  int launches() const { return launches_; }

 private:
  Engine::Parts parts(Backend& backend, JobSource& source, RunLog& log) const {
    Engine::Parts parts;
    parts.cluster = std::make_shared<const ClusterSpec>(scenario_.cluster);
    parts.perf = perf_;
    parts.pacing = make_pacing(scenario_.pacing);
    parts.policy_sets.push_back(make_policy_set({"fifo"}));
    parts.policy_sets.back().scheduling = scenario_.scheduling();
    parts.backend = &backend;
    parts.source = &source;
    parts.observers = {&log};
    parts.options = scenario_.options;
    return parts;
  }

  void replay(const std::string& text) {
    const auto recording = read_recording(text, symbols_);
    ASSERT_TRUE(recording) << recording.error().message;
    EXPECT_TRUE(recording->complete);
    Replay replay(*recording);
    RunLog again;
    const auto began = std::chrono::steady_clock::now();
    Engine engine(parts(replay.backend(), replay.source(), again));
    const Status status = replay.run(engine);
    EXPECT_TRUE(status) << status.error().message;
    EXPECT_TRUE(replay.exhausted());
    EXPECT_LT(std::chrono::steady_clock::now() - began, live_seconds_ / 4);
    EXPECT_EQ(again.lines(), live_.lines());
    ASSERT_EQ(again.placements.size(), live_.placements.size());
    for (std::size_t i = 0; i < again.placements.size(); ++i) {
      EXPECT_EQ(again.placements[i].second, live_.placements[i].second);
    }
    ASSERT_EQ(again.jobs.size(), live_.jobs.size());
    for (std::size_t i = 0; i < again.jobs.size(); ++i) {
      EXPECT_EQ(again.jobs[i].end, live_.jobs[i].end);
      EXPECT_EQ(again.jobs[i].gpu_seconds, live_.jobs[i].gpu_seconds);
      EXPECT_EQ(again.jobs[i].lost_work, live_.jobs[i].lost_work);
    }
  }

  LiveScenario scenario_;
  TemporaryFolder folder_;
  Symbols symbols_;
  std::shared_ptr<const PerfModel> perf_ =
      make_perf({"scaling", {{"serial", "0"}}}, symbols_);  // twice the GPUs, twice the speed
  RunLog live_;
  std::chrono::steady_clock::duration live_seconds_{};
  int launches_ = 0;
};

std::function<std::unique_ptr<SchedulingPolicy>()> built_in(const Choice& choice) {
  return [choice] { return make_scheduling(choice); };
}

std::function<std::unique_ptr<SchedulingPolicy>()> script(const ScriptedPolicy::Script& script,
                                                          const std::vector<Seconds>& wakes = {}) {
  return [script, wakes] { return std::make_unique<ScriptedPolicy>(script, wakes); };
}

std::vector<JobSpec> six_jobs() {
  return {job_of(0, 0.9, 4),    job_of(0.05, 0.3, 2), job_of(0.12, 0.4, 2),
          job_of(0.25, 0.2, 1), job_of(0.3, 0.5, 3),  job_of(0.45, 0.2, 4)};
}

void expect_all_finished(const RunLog& log) {
  for (const JobRecord& job : log.jobs) {
    EXPECT_EQ(job.status, JobState::kFinished) << index(job.id);
    EXPECT_GE(job.end - job.start, job.duration - 1e-9) << index(job.id);
  }
}

int total_preemptions(const RunLog& log) {
  int sum = 0;
  for (const JobRecord& job : log.jobs) sum += job.preemptions;
  return sum;
}

TEST(LiveProcesses, RunInRoundsUnderLeastAttainedService) {
  LiveScenario scenario;
  scenario.jobs = six_jobs();
  scenario.scheduling = built_in({"las"});
  LiveRun live(scenario);
  const RunLog& log = live.run();
  expect_all_finished(log);
  // The wide job has the cluster to itself in the first round and must make way in the second.
  EXPECT_GE(total_preemptions(log), 1);
  EXPECT_GT(live.launches(), 6);
  // Turns are a little late, and yet each belongs to another round.
  for (std::size_t i = 1; i < log.turns.size(); ++i) {
    EXPECT_GT(std::floor(log.turns[i].time / 0.1), std::floor(log.turns[i - 1].time / 0.1));
  }
}

TEST(LiveProcesses, RunByEventsUnderShortestRemainingTime) {
  LiveScenario scenario;
  scenario.jobs = six_jobs();
  scenario.pacing = {"events"};
  scenario.scheduling = built_in({"srtf"});
  LiveRun live(scenario);
  const RunLog& log = live.run();
  expect_all_finished(log);
  EXPECT_GE(log.job(0).preemptions, 1);
  // A preempted process saves what it did: all of them together hold the wide job's work only once.
  EXPECT_LT(log.job(0).lost_work, 0.05);
}

// Two at a time on half the cluster each; when one is done, the other gets all of it.
TEST(LiveProcesses, AreRestartedFasterWhenTheyGrow) {
  LiveScenario scenario;
  scenario.jobs = {job_of(0, 0.5, 2), job_of(0, 6, 2)};
  for (JobSpec& job : scenario.jobs) {
    job.min_gpus = 1;
    job.max_gpus = 4;
  }
  scenario.pacing = {"events"};
  scenario.scheduling = script([](const View& view, Plan& plan) {
    const int each = 4 / static_cast<int>(view.jobs.active().size());
    add_request(view, plan, {0}, each);
    add_request(view, plan, {1}, each);
  });
  LiveRun live(scenario);
  const RunLog& log = live.run();
  for (const JobRecord& job : log.jobs) EXPECT_EQ(job.status, JobState::kFinished);
  EXPECT_EQ(log.job(1).resizes, 1);
  EXPECT_EQ(log.job(1).preemptions, 0);
  EXPECT_EQ(live.launches(), 3);
  // 0.5 s at the speed of its own size, then 5.5 s of work at double speed: 3.3 s instead of 6 s.
  // What is between leaves time for starts on a machine with other work.
  EXPECT_LT(log.job(1).end - log.job(1).start, 5.5);
}

// Two jobs change places in one turn, which no order of single moves could do without a GPU in two
// hands.
TEST(LiveProcesses, ChangePlaces) {
  LiveScenario scenario;
  scenario.cluster = uniform_cluster(2, 1);
  const Symbol left{1};
  const Symbol right{2};
  scenario.cluster.nodes[0].gpu_type = left;
  scenario.cluster.nodes[1].gpu_type = right;
  scenario.jobs = {job_of(0, 0.4), job_of(0, 0.4)};
  scenario.pacing = {"events"};
  scenario.scheduling = script(
      [](const View& view, Plan& plan) {
        const bool late = view.now >= 0.15;
        for (const Slot slot : view.jobs.active()) {
          const bool first = index(view.jobs[slot].spec.id) == 0;
          plan.add(AllocationRequest::alone(slot, 1, first == late ? right : left));
        }
      },
      {0.15});
  LiveRun live(scenario);
  const RunLog& log = live.run();
  expect_all_finished(log);
  EXPECT_EQ(log.lines({Action::kMove}).size(), 2U);
  EXPECT_EQ(live.launches(), 4);
}

TEST(LiveProcesses, ThatCrashOnceAreRestarted) {
  LiveScenario scenario;
  scenario.jobs = {job_of(0, 0.3), job_of(0, 0.3), job_of(0, 0.3)};
  scenario.jobs[0].name = "bad exit";
  scenario.jobs[1].name = "killed";
  scenario.breakages = {{"bad exit", {0.1, 1, false}}, {"killed", {0.15, 2, true}}};
  scenario.scheduling = built_in({"fifo"});
  for (const Choice& pacing : {Choice{"events"}, Choice{"rounds", {{"length", "0.05"}}}}) {
    scenario.pacing = pacing;
    LiveRun live(scenario);
    const RunLog& log = live.run();
    expect_all_finished(log);
    EXPECT_EQ(log.job(0).restarts, 1);
    EXPECT_EQ(log.job(1).restarts, 2);
    EXPECT_EQ(log.job(2).restarts, 0);
    EXPECT_GT(log.job(0).lost_work, 0.05);  // a crash saves nothing
    EXPECT_THAT(log.lines({Action::kStop}), Contains(HasSubstr("crashed")));
  }
}

TEST(LiveProcesses, ThatKeepCrashingAreGivenUp) {
  LiveScenario scenario;
  scenario.jobs = {job_of(0, 0.3), job_of(0, 0.2)};
  scenario.jobs[0].name = "hopeless";
  scenario.breakages = {{"hopeless", {0.05, 100, false}}};
  scenario.options.max_crashes = 2;
  scenario.pacing = {"events"};
  scenario.scheduling = built_in({"fifo"});
  LiveRun live(scenario);
  const RunLog& log = live.run();
  EXPECT_EQ(log.job(0).status, JobState::kFailed);
  EXPECT_EQ(log.job(0).reason, Reason::kCrashed);
  EXPECT_EQ(log.job(1).status, JobState::kFinished);
  EXPECT_EQ(live.launches(), 4);
}

}  // namespace
}  // namespace muster
