// Whatever takes time, fails, is lost or late, and whatever people ask for meanwhile: what must
// hold, holds. MUSTER_SEEDS says how many lives are tried, MUSTER_SEED runs a single one.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text.h"
#include "engine/invariants.h"
#include "property/random_scenario.h"
#include "property/told_on_abort.h"

namespace muster {
namespace {

// Stands between the engine and its backend and watches what they say of launches.
class Witness final : public Backend {
 public:
  explicit Witness(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}

  bool answers_later() const override { return inner_->answers_later(); }
  JobProgress act(const Command& command, Seconds now) override {
    return inner_->act(command, now);
  }
  void dispatch(std::span<const Order> orders, Seconds now) override {
    int phase = 0;
    for (const Order& order : orders) {
      const bool starts = order.kind == CommandKind::kStart;
      const bool stops = order.kind == CommandKind::kStop;
      const int here = stops ? 0 : starts ? 2 : 1;
      if (here < phase) note("orders are not sorted");
      phase = here;
      Launch& launch = launches_[order.run];
      if (stops) {
        if (!launch.ordered) note("a launch is stopped that was never ordered");
        launch.told_to_stop = true;
        continue;
      }
      if (launch.ordered) note("a launch is ordered twice");
      launch.ordered = true;
      if (order.gpus.empty()) note("a launch has no GPUs");
      if (last_[order.run.job] >= order.run.launch) note("launches are not numbered in order");
      last_[order.run.job] = order.run.launch;
    }
    inner_->dispatch(orders, now);
  }
  Seconds advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) override {
    const std::size_t before = events.size();
    const Seconds reached = inner_->advance(until, stop_at_event, events);
    for (std::size_t i = before; i < events.size(); ++i) hear(events[i]);
    return reached;
  }
  Seconds next_event() override { return inner_->next_event(); }

  static std::string wrong;

 private:
  struct Launch {
    bool ordered = false;
    bool started = false;
    bool ended = false;
    bool told_to_stop = false;
  };
  void hear(const JobEvent& event) {
    if (event.launch == 0) return;
    Launch& launch = launches_[{event.job, event.launch}];
    if (!launch.ordered) note("word of a launch that was never ordered");
    // That it has started may be heard after it has ended.
    if (launch.ended && event.kind != EventKind::kStarted) note("a launch has ended twice");
    if (event.kind == EventKind::kReleased && !launch.told_to_stop && launch.started) {
      // A move ends the launch that it replaces without an order of its own.
      if (last_[event.job] == event.launch) note("a launch left that nobody told to");
    }
    if (event.kind == EventKind::kStarted) {
      launch.started = true;
    } else if (event.kind != EventKind::kProgress) {
      launch.ended = true;
    }
  }
  static void note(const std::string& what) {
    if (wrong.empty()) wrong = what;
  }

  std::unique_ptr<Backend> inner_;
  std::map<RunId, Launch> launches_;
  std::map<JobId, std::uint32_t> last_;
};
std::string Witness::wrong;

LifeOptions any_life(const Scenario& scenario, Random& random) {
  // Less than the shortest turn, or jobs that take turns would never get on.
  const Seconds length = make_pacing(scenario.pacing)->length();
  const double scale = length > 0 && length < 10 ? 0.2 : 1;
  LifeOptions life;
  if (random.chance(0.7)) life.start_latency = scale * random.uniform(0.1, 3);
  if (random.chance(0.7)) life.stop_latency = scale * random.uniform(0.1, 3);
  if (random.chance(0.5)) life.start_failure = random.uniform(0, 0.3);
  if (random.chance(0.5)) life.partial_gang = random.uniform(0, 0.3);
  if (random.chance(0.5)) life.report_delay = scale * random.uniform(0.1, 2);
  if (random.chance(0.5)) life.report_loss = random.uniform(0, 0.3);
  life.start_limit = random.uniform(1, 30);
  life.census = random.uniform(1, 30);
  life.spread = random.uniform(0, 0.9);
  if (!life.any()) life.start_latency = 0.5;
  return life;
}

// What people do: everything that is taken away comes back.
std::vector<JobEvent> any_requests(const Scenario& scenario, Random& random) {
  std::vector<JobEvent> events;
  const auto add = [&](Seconds time, EventKind kind) -> JobEvent& {
    JobEvent& event = events.emplace_back();
    event.time = time;
    event.kind = kind;
    event.job = JobId{static_cast<std::uint32_t>(random.below(scenario.jobs.size()))};
    return event;
  };
  const auto revise = [&](Seconds time, Revision what, double value) -> JobEvent& {
    JobEvent& event = add(time, EventKind::kRevised);
    event.revision = what;
    event.value = value;
    return event;
  };
  while (random.chance(0.8)) {
    const Seconds time = random.uniform(0, scenario.jobs.back().arrival + 200);
    const auto node =
        NodeId{static_cast<std::uint32_t>(random.below(scenario.cluster.nodes.size()))};
    switch (random.below(9)) {
      case 0:
        add(time, EventKind::kCancelled);
        break;
      case 1:
        revise(time, Revision::kPriority, static_cast<double>(random.integer(0, 3)));
        break;
      case 2:
        revise(time, Revision::kGpus, static_cast<double>(random.integer(1, 6)));
        break;
      case 3: {
        JobEvent release = revise(time, Revision::kHold, 1);
        release.value = 0;
        release.time += random.uniform(0, 300);
        events.push_back(release);
        break;
      }
      case 5:
        revise(time, Revision::kEstimate, random.uniform(0, 500));
        break;
      case 6:
        revise(time, Revision::kTotalWork, random.uniform(1, 500));
        break;
      case 7:
        revise(time, Revision::kDeadline, time + random.uniform(-100, 1000));
        break;
      case 4:
        add(time, EventKind::kDrained).node = node;
        add(time + random.uniform(0, 100), EventKind::kUndrained).node = node;
        break;
      default:
        add(time, EventKind::kNodeRemoved).node = node;
        add(time + random.uniform(0, 100), EventKind::kNodeAdded).node = node;
    }
  }
  return events;
}

Scenario random_life(std::uint64_t seed) {
  Scenario scenario = random_scenario(seed);
  Random random(seed, "life");
  // The pacings of published simulators count on commands that take no time, and their policies on
  // turns that come with the clock.
  const auto has = [](const auto& table, const Choice& choice) {
    return std::any_of(table.begin(), table.end(),
                       [&](const auto& row) { return row.name == choice.name; });
  };
  if (!has(pacing_table(), scenario.pacing)) scenario.pacing = {"events"};
  if (!has(scheduling_table(), scenario.scheduling) && scenario.pacing.name == "events") {
    scenario.pacing = {"rounds", {{"length", "60"}}};
  }
  const bool rests = random.chance(0.2);  // only people, and commands that take no time
  if (!rests) scenario.life = any_life(scenario, random);
  const Seconds length = make_pacing(scenario.pacing)->length();
  if (!rests && length > 0 && length < 10)
    scenario.cost.restart = std::min(0.2, scenario.cost.restart);
  scenario.life.seed = seed;
  const std::vector<JobEvent> requests = any_requests(scenario, random);
  scenario.injected.insert(scenario.injected.end(), requests.begin(), requests.end());
  std::stable_sort(scenario.injected.begin(), scenario.injected.end(),
                   [](const JobEvent& a, const JobEvent& b) { return a.time < b.time; });
  const LifeOptions life = scenario.life;
  scenario.simulator = [life, rests](SimParts parts, const Pacing&) -> std::unique_ptr<Backend> {
    if (rests) return std::make_unique<SimBackend>(std::move(parts));
    return std::make_unique<Witness>(std::make_unique<LifeBackend>(std::move(parts), life));
  };
  return scenario;
}

// Whether nothing is lost but by a fault of the backend: jobs and nodes do not fail, stops save.
bool keeps_work(const Scenario& scenario) {
  const auto harms = [](const JobEvent& event) {
    return event.kind != EventKind::kRevised && event.kind != EventKind::kCancelled &&
           event.kind != EventKind::kDrained && event.kind != EventKind::kUndrained;
  };
  return scenario.cost.stop_saves && !scenario.failures.any() &&
         scenario.cluster.schedule.empty() &&
         std::none_of(scenario.injected.begin(), scenario.injected.end(), harms);
}

// A record on its own: its times lie in its life, and those with and without GPUs add up.
std::string broken_record(const JobRecord& job, const Scenario& scenario) {
  const Seconds life = job.end - job.submit;
  const double slack = 1e-6 * (1 + life);
  if (job.queue < -slack || job.queue > life + slack) return "its wait is not within its life";
  if (job.start != kNever && job.start < job.submit - slack) return "it started before it came";
  if (job.status == JobState::kFinished && job.start == kNever) return "it is done and never ran";
  if (job.lost_work > slack && keeps_work(scenario)) return "it lost work, and nothing failed";
  const JobSpec& spec = scenario.jobs[index(job.id)];
  const bool steady = !spec.elastic() && job.resizes == 0 && job.gpus == spec.gpus;
  if (scenario.pacing.name != "events" || !steady || job.start == kNever) return {};
  const bool revised =
      std::any_of(scenario.injected.begin(), scenario.injected.end(), [&](const JobEvent& event) {
        return event.job == job.id && event.kind == EventKind::kRevised;
      });
  if (revised) return {};
  const Seconds held = job.gpu_seconds / job.gpus;
  if (std::abs(job.queue + held - life) > slack) {
    return fmt::format("it waited {} s and held GPUs for {} s in a life of {} s", job.queue, held,
                       life);
  }
  return {};
}

// A placement that reserves gives up nobody who fits the cluster, unless nodes leave it for good or
// the job was changed, or a policy did not ask for it: Gavel's refuse what no single type of GPU
// can hold. With antman as coded, jobs of several nodes may wait for each other for ever.
std::string given_up(const RunLog& log, const Engine& engine, const Scenario& scenario) {
  const bool reserves = scenario.placement.name == "antman";
  const bool asks = scenario.scheduling.name == "antman" ||
                    make_scheduling(scenario.scheduling)->traits().work_conserving;
  if (!reserves || !asks || scenario.scheduling.name.starts_with("gavel")) return {};
  if (!scenario.cluster.schedule.empty()) return {};
  const auto happened = [&](const auto& condition) {
    return std::any_of(scenario.injected.begin(), scenario.injected.end(), condition);
  };
  if (happened([](const JobEvent& event) { return event.kind == EventKind::kNodeRemoved; })) {
    return {};
  }
  for (const JobRecord& job : log.jobs) {
    const auto changed = [&](const JobEvent& event) {
      return event.job == job.id && event.kind == EventKind::kRevised;
    };
    if (job.reason == Reason::kNeverFits && engine.ever_fits(scenario.jobs[index(job.id)]) &&
        !happened(changed)) {
      return fmt::format("job {} is given up, though it fits", index(job.id));
    }
  }
  return {};
}

std::string broken_run(const Scenario& scenario) {
  Witness::wrong.clear();
  TestRun run(scenario);
  constexpr int kMostTurns = 500'000;
  bool more = true;
  for (int turn = 0; more; ++turn) {
    more = run.engine().turn();
    const Engine& engine = run.engine();
    if (const auto broken = broken_invariant(engine)) return *broken;
    if (!Witness::wrong.empty()) return Witness::wrong;
    const std::size_t there =
        engine.jobs().active().size() + engine.state().held.size() + engine.state().on_hold.size();
    if (engine.arrived() != engine.left() + static_cast<long long>(there)) return "a job was lost";
    if (turn == kMostTurns) return "the run does not end";
  }
  if (run.log().jobs.size() + run.engine().state().on_hold.size() != scenario.jobs.size()) {
    return fmt::format("{} of {} jobs left", run.log().jobs.size(), scenario.jobs.size());
  }
  for (const JobRecord& job : run.log().jobs) {
    const std::string broken = broken_record(job, scenario);
    if (!broken.empty()) return fmt::format("job {}: {}", index(job.id), broken);
  }
  return given_up(run.log(), run.engine(), scenario);
}

void try_life(std::int64_t seed) {
  const Scenario scenario = random_life(static_cast<std::uint64_t>(seed));
  ToldOnAbort::what = fmt::format(
      "{}\n  again: MUSTER_SEED={} build/test/property_test --gtest_filter='RandomLives.*'\n",
      describe(scenario), seed);
  ASSERT_EQ(broken_run(scenario), "") << ToldOnAbort::what;
}

TEST(RandomLives, KeepWhatMustHold) {
  const ToldOnAbort told;
  std::int64_t first = 1;
  std::int64_t seeds = 1500;
  if (const char* given = std::getenv("MUSTER_SEEDS")) seeds = parse_integer(given).value_or(0);
  if (const char* one = std::getenv("MUSTER_SEED")) first = seeds = parse_integer(one).value_or(0);
  for (std::int64_t seed = first; seed <= seeds && !HasFatalFailure(); ++seed) try_life(seed);
}

// Seeds beyond the range that broke something once.
TEST(RandomLives, ThatOnceBrokeWhatMustHold) {
  const ToldOnAbort told;
  for (const std::int64_t seed :
       {8896, 11722, 13437, 25403, 26900, 27371, 27616, 27876, 33686, 36035}) {
    try_life(seed);
  }
}

TEST(RandomLives, AreRepeatable) {
  for (std::uint64_t seed = 1000; seed < 1020; ++seed) {
    const RunLog first = simulate(random_life(seed));
    const RunLog second = simulate(random_life(seed));
    ASSERT_EQ(first.lines(), second.lines()) << "MUSTER_SEED=" << seed;
  }
}

// A life in which nothing takes time is the plain simulation, decision by decision.
TEST(RandomLives, WithoutLatenciesAreThePlainRuns) {
  int compared = 0;
  for (std::uint64_t seed = 2000; seed < 2100; ++seed) {
    Scenario plain = random_scenario(seed);
    plain.injected.clear();
    if (plain.pacing.name != "events") continue;
    // Its costs are paid from the order to start on, and from the start on: the same only if there
    // is nothing between.
    Scenario alive = plain;
    alive.simulator = [](SimParts parts, const Pacing&) -> std::unique_ptr<Backend> {
      return std::make_unique<LifeBackend>(std::move(parts), LifeOptions{});
    };
    const RunLog first = simulate(plain);
    const RunLog second = simulate(alive);
    ASSERT_EQ(first.jobs.size(), second.jobs.size()) << seed;
    for (const JobRecord& job : first.jobs) {
      const JobRecord& other = second.job(static_cast<int>(index(job.id)));
      EXPECT_EQ(other.status, job.status) << "MUSTER_SEED=" << seed << ' ' << describe(plain);
    }
    ++compared;
  }
  EXPECT_GT(compared, 10);
}

}  // namespace
}  // namespace muster
