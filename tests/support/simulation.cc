#include "support/simulation.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "engine/invariants.h"
#include "engine/world.h"
#include "perf/product.h"
#include "run/config/plugin_tables.h"
#include "support/injecting_backend.h"
#include "workload/perf/models.h"

namespace muster {
namespace {

// Tests name what exists: anything else is a mistake in the test.
template <typename T>
T expect_made(Result<T> made) {
  if (!made) {
    fmt::print(stderr, "a test asked for what does not exist: {}\n", made.error().message);
    std::abort();
  }
  return std::move(*made);
}

}  // namespace

std::vector<PolicyInfo<SchedulingPolicy>> general_policies() {
  std::vector<PolicyInfo<SchedulingPolicy>> rows = plugin_tables().scheduling;
  std::erase_if(rows, [](const auto& row) {
    return make_scheduling({std::string(row.name)})->traits().reproduces_simulator;
  });
  return rows;
}

std::unique_ptr<AdmissionPolicy> make_admission(const Choice& choice) {
  return expect_made(
      make_from("admission policy", plugin_tables().admission, choice.name, choice.params));
}
std::unique_ptr<SchedulingPolicy> make_scheduling(const Choice& choice) {
  return expect_made(
      make_from("scheduling policy", plugin_tables().scheduling, choice.name, choice.params));
}
std::unique_ptr<PlacementPolicy> make_placement(const Choice& choice) {
  return expect_made(
      make_from("placement policy", plugin_tables().placement, choice.name, choice.params));
}
std::unique_ptr<Selector> make_selector(const Choice& choice) {
  return expect_made(make_from("selector", plugin_tables().selector, choice.name, choice.params));
}
std::unique_ptr<Pacing> make_pacing(const Choice& choice) {
  return expect_made(make_from("pacing", plugin_tables().pacing, choice.name, choice.params));
}

std::unique_ptr<PerfModel> make_perf(const Choice& choice, Symbols& symbols) {
  const PerfInfo* row =
      expect_made(find_row("performance model", plugin_tables().perf, choice.name));
  return expect_made(
      row->make(expect_made(Params::make(choice.name, row->params, choice.params)), symbols));
}

PolicySet make_policy_set(const Choice& scheduling, const Choice& placement,
                          const Choice& admission) {
  return {make_admission(admission), make_scheduling(scheduling), make_placement(placement)};
}

std::vector<PerfInfo> models_without_files() {
  std::vector<PerfInfo> rows = plugin_tables().perf;
  std::erase_if(rows, [](const PerfInfo& row) {
    return std::any_of(row.params.begin(), row.params.end(), [](const ParamInfo& info) {
      return info.name == "file" && info.initial.empty();
    });
  });
  return rows;
}

JobSpec job_of(Seconds arrival, Seconds duration, int gpus) {
  JobSpec job;
  job.submit = arrival;
  job.arrival = arrival;
  job.duration = duration;
  job.gpus = gpus;
  return job;
}

JobSpec stretchable_job(Seconds arrival, Seconds duration, int most) {
  JobSpec job = job_of(arrival, duration);
  job.min_gpus = 1;
  job.max_gpus = most;
  return job;
}

JobRecord RunLog::job(int id) const {
  for (const JobRecord& record : jobs) {
    if (index(record.id) == static_cast<std::size_t>(id)) return record;
  }
  ADD_FAILURE() << "job " << id << " never left";
  return {};
}

std::string line_of(const Decision& decision) {
  const auto job_text = [](JobId id) {
    return id == kNoJob ? std::string("-") : fmt::format("{}", index(id));
  };
  return fmt::format("{} {} {} gpus={} other={} detail={} {}", exact_text(decision.time),
                     action_name(decision.action), job_text(decision.job), decision.gpus,
                     job_text(decision.other), decision.detail, reason_name(decision.reason));
}

std::vector<std::string> RunLog::lines() const {
  std::vector<std::string> lines;
  for (const Decision& decision : decisions) lines.push_back(line_of(decision));
  return lines;
}

std::vector<std::string> RunLog::lines(std::initializer_list<Action> actions) const {
  std::vector<std::string> lines;
  for (const Decision& decision : decisions) {
    for (const Action action : actions) {
      if (decision.action == action) lines.push_back(line_of(decision));
    }
  }
  return lines;
}

TestRun::TestRun(Scenario scenario) : scenario_(std::move(scenario)) {
  Engine::Parts parts;
  parts.cluster = std::make_shared<const ClusterSpec>(scenario_.cluster);
  if (scenario_.perf_model) {
    parts.perf = scenario_.perf_model();
  } else {
    std::vector<std::unique_ptr<PerfModel>> models;
    for (const Choice& choice : scenario_.perf)
      models.push_back(make_perf(choice, *scenario_.symbols));
    parts.perf = multiply(std::move(models));
  }
  parts.pacing = make_pacing(scenario_.pacing);
  if (scenario_.policy_sets) {
    parts.policy_sets = scenario_.policy_sets();
  } else {
    parts.policy_sets.push_back(
        make_policy_set(scenario_.scheduling, scenario_.placement, scenario_.admission));
  }
  if (scenario_.selector) parts.selector = scenario_.selector();
  if (scenario_.scaling) parts.scaling = scenario_.scaling();
  const bool open_ended = parts.policy_sets.front().scheduling->traits().drives_completion;
  SimParts sim{.cluster = parts.cluster,
               .perf = parts.perf,
               .cost = std::make_shared<const RestartCost>(scenario_.cost),
               .failures = scenario_.failures};
  if (scenario_.simulator) {
    simulator_ = scenario_.simulator(std::move(sim), *parts.pacing);
  } else if (scenario_.life.any()) {
    simulator_ = std::make_unique<LifeBackend>(std::move(sim), scenario_.life);
  } else {
    simulator_ =
        std::make_unique<SimBackend>(std::move(sim), open_ended ? make_open_ended() : nullptr);
  }
  backend_ = std::make_unique<InjectingBackend>(*simulator_, scenario_.injected);
  source_ = std::make_unique<ListSource>(scenario_.jobs);
  parts.backend = backend_.get();
  parts.source = source_.get();
  parts.observers = scenario_.observers;
  parts.observers.push_back(&log_);
  parts.options = scenario_.options;
  parts.metrics = scenario_.metrics;
  parts.prices = scenario_.prices;
  engine_ = std::make_unique<Engine>(std::move(parts));
}

TestRun::TestRun(Fork, const TestRun& other) : scenario_(other.scenario_) {
  simulator_ = other.simulator_->fork();
  const auto arrived = static_cast<std::size_t>(other.engine_->arrived());
  source_ = std::make_unique<ListSource>(std::span(scenario_.jobs).subspan(arrived));
  engine_ = other.engine_->fork({simulator_.get(), source_.get(), {&log_}});
}

std::unique_ptr<TestRun> TestRun::fork() const {
  return std::unique_ptr<TestRun>(new TestRun(Fork{}, *this));
}

std::string TestRun::save() {
  Archive archive;
  long long arrived = engine_->arrived();
  archive.value(arrived);
  return engine_->checkpoint(archive) ? archive.bytes() : std::string();
}

void TestRun::restore(const std::string& saved) {
  Archive archive(saved);
  long long arrived = 0;
  archive.value(arrived);
  for (long long i = 0; i < arrived; ++i) source_->pop();
  EXPECT_TRUE(engine_->checkpoint(archive));
  EXPECT_TRUE(archive.good() && archive.finished());
}

Status TestRun::adopt(const TestRun& other) {
  for (long long i = 0; i < other.engine_->arrived(); ++i) source_->pop();
  return engine_->adopt(other.engine_->world());
}

const RunLog& TestRun::run(long long most_turns) {
  bool more = true;
  for (long long turn = 0; more; ++turn) {
    if (turn == most_turns) {
      ADD_FAILURE() << "the run did not end within " << most_turns << " turns; it is at "
                    << engine_->now() << " s with " << engine_->jobs().waiting().size()
                    << " jobs waiting";
      return log_;
    }
    more = engine_->turn();
    if (const auto broken = broken_invariant(*engine_)) {
      ADD_FAILURE() << "at " << engine_->now() << " s: " << *broken;
      return log_;
    }
  }
  return log_;
}

void TestRun::turn_to(Seconds time) {
  while (engine_->turn() && engine_->now() < time) {
  }
}

RunLog simulate(Scenario scenario) {
  TestRun simulation(std::move(scenario));
  return simulation.run();
}

}  // namespace muster
