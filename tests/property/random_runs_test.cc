// Whatever the cluster, the jobs, the failures and the policies: what must hold, holds after every
// turn. MUSTER_SEEDS says how many scenarios are tried, MUSTER_SEED runs a single one:
//
//   MUSTER_SEED=17 build/test/property_test
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "engine/invariants.h"
#include "property/random_scenario.h"

namespace muster {
namespace {

// What one job may do next, by its decisions alone.
class Biographies {
 public:
  // Nothing if the decision may follow those before it.
  std::string follow(const Decision& decision) {
    if (decision.job == kNoJob) return {};
    char& state = states_[decision.job];
    const auto expect = [&](std::string_view from, char to) -> std::string {
      const bool good = from.find(state == '\0' ? '0' : state) != std::string_view::npos;
      state = to;
      return good ? std::string() : "is not what may come next";
    };
    switch (decision.action) {
      case Action::kSubmit:
        return expect("0", 's');
      case Action::kHold:
        return expect("s", 'h');
      case Action::kAdmit:
        return expect("sh", 'w');
      case Action::kStart:
        return expect("w", 'r');
      case Action::kStop:
        return expect("r", 'w');
      case Action::kResize:
      case Action::kMove:
        return expect("r", 'r');
      case Action::kFinish:
        return expect("r", 'x');
      case Action::kFail:
        return expect("w", 'x');
      case Action::kRefuse:
        return expect("shw", 'x');
      case Action::kBlock:
        return expect("w", 'w');
      default:
        return "is about a job and cannot be";
    }
  }

 private:
  std::map<JobId, char> states_;
};

// Runs the scenario; the first thing that is wrong, in words.
class Trial final : public Observer {
 public:
  explicit Trial(Scenario scenario) : scenario_(std::move(scenario)) {
    scenario_.observers.push_back(this);
  }

  std::string run() {
    TestRun simulation(scenario_);
    constexpr int kMostTurns = 500'000;
    bool more = true;
    for (int turn = 0; more && wrong_.empty(); ++turn) {
      more = simulation.engine().turn();
      const Engine& engine = simulation.engine();
      if (const auto broken = broken_invariant(engine)) note(*broken);
      check_conservation(engine);
      check_progress(engine);
      given_ = given_gpus(engine);
      if (turn == kMostTurns) note("the run does not end");
    }
    if (wrong_.empty()) check_account(simulation.engine());
    if (wrong_.empty() && simulation.log().jobs.size() != scenario_.jobs.size()) {
      note(fmt::format("{} of {} jobs left", simulation.log().jobs.size(), scenario_.jobs.size()));
    }
    return wrong_;
  }

  void on_decision(const Decision& decision) override {
    if (decision.time < time_) note("decisions go back in time");
    time_ = decision.time;
    const std::string wrong = biographies_.follow(decision);
    if (!wrong.empty()) note(fmt::format("'{}' {}", line_of(decision), wrong));
  }
  void on_turn(const TurnStats& turn) override {
    used_gpu_seconds_ += used_ * (turn.time - turn.previous);
    given_gpu_seconds_ += given_ * (turn.time - turn.previous);
    used_ = turn.used_gpus;
    held_ = turn.held;
    if (turn.used_gpus > turn.usable_gpus) note("more GPUs are used than there are");
  }
  void on_job_end(const JobRecord& job) override {
    gpu_seconds_ += job.gpu_seconds;
    if (job.queue < -1e-6) note(fmt::format("job {} has waited {} s", index(job.id), job.queue));
    if (job.end < job.submit) note(fmt::format("job {} ended before it came", index(job.id)));
    const bool ran = job.start != kNever;
    if (job.status == JobState::kFinished && !ran) note("a job finished that never ran");
    if (!ran && job.gpu_seconds != 0) note("a job that never ran has used GPUs");
    last_work_.erase(job.id);
  }

 private:
  void note(const std::string& what) {
    if (wrong_.empty()) wrong_ = fmt::format("at {} s: {}", exact_text(time_), what);
  }
  void check_conservation(const Engine& engine) {
    const auto there = static_cast<long long>(engine.jobs().active().size()) + held_;
    if (engine.arrived() != engine.left() + there) {
      note(fmt::format("{} jobs came, {} left, {} are there", engine.arrived(), engine.left(),
                       there));
    }
  }
  // Work done never becomes less, except by a failure or a stop that does not save.
  void check_progress(const Engine& engine) {
    for (const Slot slot : engine.jobs().active()) {
      const Job& job = engine.jobs()[slot];
      Seen& seen = last_work_[job.spec.id];
      const double work = job.work_at(engine.now());
      const int losses = job.restarts + (scenario_.cost.stop_saves ? 0 : job.preemptions);
      const double slack = 1e-9 * (1 + seen.work);
      if (work < seen.work - slack && losses == seen.losses) {
        note(fmt::format("job {} fell from {} s of work to {} s", index(job.spec.id), seen.work,
                         work));
      }
      if (work > job.total_work * (1 + 1e-9) + 1e-6 && job.running() &&
          scenario_.pacing.name == "events") {
        note(fmt::format("job {} works beyond its end", index(job.spec.id)));
      }
      seen = {work, losses};
    }
  }
  // A GPU that two jobs share is given to both.
  static double given_gpus(const Engine& engine) {
    double given = 0;
    for (const Slot slot : engine.jobs().active()) given += engine.jobs()[slot].gpus.gpus();
    return given;
  }
  // The GPU-seconds booked for jobs are those during which they had GPUs.
  void check_account(const Engine& engine) {
    double booked = gpu_seconds_;
    for (const Slot slot : engine.jobs().active()) {
      booked += engine.jobs()[slot].gpu_seconds_at(engine.now());
    }
    const double slack = 1e-6 * (1 + given_gpu_seconds_);
    if (std::abs(booked - given_gpu_seconds_) > slack) {
      note(fmt::format("{} GPU-seconds are booked for jobs, but they had GPUs for {}", booked,
                       given_gpu_seconds_));
    }
    if (used_gpu_seconds_ > given_gpu_seconds_ + slack) {
      note(fmt::format("GPUs were in use for {} s, but given for {} s", used_gpu_seconds_,
                       given_gpu_seconds_));
    }
  }

  struct Seen {
    double work = 0;
    int losses = 0;
  };

  Scenario scenario_;
  Biographies biographies_;
  std::map<JobId, Seen> last_work_;
  std::string wrong_;
  Seconds time_ = 0;
  double used_ = 0;
  double used_gpu_seconds_ = 0;
  double given_ = 0;  // after the last turn
  double given_gpu_seconds_ = 0;
  double gpu_seconds_ = 0;
  int held_ = 0;
};

// The scenario with fewer jobs that still fails: the shortest beginning of the trace.
Scenario shrunk(Scenario scenario) {
  std::size_t passes = 0;
  std::size_t fails = scenario.jobs.size();
  while (passes + 1 < fails) {
    const std::size_t middle = (passes + fails) / 2;
    Scenario smaller = scenario;
    smaller.jobs.resize(middle);
    (Trial(smaller).run().empty() ? passes : fails) = middle;
  }
  scenario.jobs.resize(fails);
  return scenario;
}

void try_seed(std::uint64_t seed) {
  const Scenario scenario = random_scenario(seed);
  const std::string wrong = Trial(scenario).run();
  if (wrong.empty()) return;
  const Scenario smaller = shrunk(scenario);
  ADD_FAILURE() << wrong << "\n  " << describe(scenario) << "\n  the first " << smaller.jobs.size()
                << " jobs are enough: " << Trial(smaller).run() << "\n  again: MUSTER_SEED=" << seed
                << " build/test/property_test";
}

TEST(RandomRuns, KeepWhatMustHold) {
  if (const char* one = std::getenv("MUSTER_SEED")) {
    try_seed(static_cast<std::uint64_t>(parse_integer(one).value_or(0)));
    return;
  }
  const char* given = std::getenv("MUSTER_SEEDS");
  const auto seeds = given != nullptr ? parse_integer(given).value_or(0) : 1000;
  for (std::int64_t seed = 1; seed <= seeds; ++seed) {
    try_seed(static_cast<std::uint64_t>(seed));
    if (::testing::Test::HasFailure()) return;
  }
}

// The same scenario twice is the same run.
TEST(RandomRuns, AreRepeatable) {
  for (std::uint64_t seed = 1000; seed < 1040; ++seed) {
    const RunLog first = simulate(random_scenario(seed));
    const RunLog second = simulate(random_scenario(seed));
    ASSERT_EQ(first.lines(), second.lines()) << "MUSTER_SEED=" << seed;
  }
}

}  // namespace
}  // namespace muster
