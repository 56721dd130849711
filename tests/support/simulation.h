// A simulation in memory, for tests: say what the cluster, the jobs and the policies are, run it,
// look at what happened. Names and parameters are those a user would write.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "backend/sim/life_backend.h"
#include "backend/sim/sim_backend.h"
#include "engine/engine.h"
#include "policy/table.h"
#include "run/config/choice.h"
#include "workload/perf/models.h"

namespace muster {

inline std::ostream& operator<<(std::ostream& out, const Choice& choice) {
  return out << choice.text();
}

// The rows whose policies do what is asked of them under any pacing and on any cluster: all but
// those that reproduce one published simulator and keep the clock of their jobs.
std::vector<PolicyInfo<SchedulingPolicy>> general_policies();

std::unique_ptr<AdmissionPolicy> make_admission(const Choice& choice);
std::unique_ptr<SchedulingPolicy> make_scheduling(const Choice& choice);
std::unique_ptr<PlacementPolicy> make_placement(const Choice& choice);
std::unique_ptr<Selector> make_selector(const Choice& choice);
std::unique_ptr<Pacing> make_pacing(const Choice& choice);
std::unique_ptr<PerfModel> make_perf(const Choice& choice, Symbols& symbols);

PolicySet make_policy_set(const Choice& scheduling, const Choice& placement = {"consolidated"},
                          const Choice& admission = {"accept-all"});

// The performance models that can do without a file; those that cannot are tested with a table of
// their own, in tests/perf.
std::vector<PerfInfo> models_without_files();

// A job as most tests need it: arrives and is submitted at `arrival`.
JobSpec job_of(Seconds arrival, Seconds duration, int gpus = 1);
// One that asks for a GPU and can use 1 to `most`.
JobSpec stretchable_job(Seconds arrival, Seconds duration, int most);

// Everything a run told its observers.
struct RunLog final : Observer {
  std::vector<Decision> decisions;
  std::vector<std::pair<Decision, GpuSet>> placements;
  std::vector<JobRecord> jobs;  // in order of leaving
  std::vector<TurnStats> turns;

  void on_decision(const Decision& decision) override { decisions.push_back(decision); }
  void on_placement(const Decision& decision, const GpuSet& gpus) override {
    placements.emplace_back(decision, gpus);
  }
  void on_job_end(const JobRecord& job) override { jobs.push_back(job); }
  void on_turn(const TurnStats& turn) override { turns.push_back(turn); }

  // The record of the job with this number; fails the test and returns an empty one if it never
  // left.
  JobRecord job(int id) const;
  // One line per decision, for comparing runs and reading failures:
  // "12.5 start 3 gpus=2 other=1 detail=0 first-in-order".
  std::vector<std::string> lines() const;
  // The same for some actions only.
  std::vector<std::string> lines(std::initializer_list<Action> actions) const;
};

std::string line_of(const Decision& decision);

// What a simulation is made of. Fill in what differs, then make a TestRun of it.
struct Scenario {
  ClusterSpec cluster = uniform_cluster(1, 4);
  std::vector<JobSpec> jobs = {};
  Choice pacing = {"events"};
  Choice admission = {"accept-all"};
  Choice scheduling = {"fifo"};
  Choice placement = {"consolidated"};
  std::vector<Choice> perf = {};
  RestartCost cost = {};
  FailureOptions failures = {};
  LifeOptions life = {};
  EngineOptions options = {};
  std::vector<Observer*> observers = {};
  std::vector<JobEvent> injected = {};  // events by time, beside those of the simulation
  std::vector<Symbol> metrics = {};     // of jobs that policies see
  std::shared_ptr<const PriceBook> prices = nullptr;
  std::shared_ptr<Symbols> symbols = std::make_shared<Symbols>();

  // Instead of the names above.
  std::function<std::vector<PolicySet>()> policy_sets = {};
  std::function<std::unique_ptr<Selector>()> selector = {};
  std::function<std::unique_ptr<ScalingPolicy>()> scaling = {};
  std::function<std::unique_ptr<Backend>(SimParts, const Pacing&)> simulator = {};
  std::function<std::shared_ptr<const PerfModel>()> perf_model = {};
};

class TestRun {
 public:
  explicit TestRun(Scenario scenario);
  TestRun(const TestRun&) = delete;
  TestRun& operator=(const TestRun&) = delete;

  Engine& engine() { return *engine_; }
  const RunLog& log() const { return log_; }
  const Scenario& scenario() const { return scenario_; }

  // Turns until the end, and fails the test at the first turn after which an invariant is broken,
  // or if the end does not come within `most_turns`.
  const RunLog& run(long long most_turns = 200'000);
  // The run between two turns, as bytes; empty if it cannot be saved.
  std::string save();
  // Puts such a run back into this one, which must be made of the same scenario and be untouched.
  void restore(const std::string& saved);
  // A copy that goes on by itself; its log begins here. Not for runs with injected events.
  std::unique_ptr<TestRun> fork() const;
  // Goes on from the world of another run of the same scenario, which is not touched.
  Status adopt(const TestRun& other);

  // Turns until the clock shows at least `time`, or the run is over.
  void turn_to(Seconds time);

 private:
  struct Fork {};
  TestRun(Fork, const TestRun& other);

  Scenario scenario_;
  RunLog log_;
  std::unique_ptr<Backend> simulator_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ListSource> source_;
  std::unique_ptr<Engine> engine_;
};

// Shorthand for tests that need only the log.
RunLog simulate(Scenario scenario);

}  // namespace muster
