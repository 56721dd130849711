// The engine against the plain simulator, on small random workloads: the same start, end and number
// of preemptions for every job, and the same GPUs in every second. Needs no data of any kind, so it
// is what tells a stranger that the engine works. MUSTER_SEED=17 tries a single seed.
#include <algorithm>
#include <cstdlib>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reference/engine_schedule.h"

namespace muster {
namespace {

constexpr unsigned kSeeds = 60;

struct Case {
  const char* name;
  Choice scheduling;
  bool backfill = false;  // of the placement
  PlainRules rules = {};
  Choice pacing = {"events"};
};

// What a user writes, and the same in the words of the plain simulator.
std::vector<Case> cases() {
  const auto rules = [](PlainOrder order, bool preempt, bool backfill) {
    PlainRules made;
    made.order = order;
    made.preempt = preempt;
    made.backfill = backfill;
    return made;
  };
  std::vector<Case> list = {
      {"FifoStrict", {"fifo"}, true, rules(PlainOrder::kArrival, false, false)},
      {"FifoBackfill",
       {"fifo", {{"strict", "false"}}},
       true,
       rules(PlainOrder::kArrival, false, true)},
      {"SrtfInOrder", {"srtf"}, false, rules(PlainOrder::kShortestRemaining, true, false)},
      {"SrtfBackfill", {"srtf"}, true, rules(PlainOrder::kShortestRemaining, true, true)},
      {"SrtfRestarts", {"srtf"}, true, rules(PlainOrder::kShortestRemaining, true, true)},
      {"Las", {"las", {{"quantum", "7"}}}, true, rules(PlainOrder::kLeastService, true, true)},
      {"FifoRounds",
       {"fifo", {{"strict", "false"}}},
       true,
       rules(PlainOrder::kArrival, false, true),
       {"rounds", {{"length", "6"}}}},
      {"SrtfRounds",
       {"srtf"},
       true,
       rules(PlainOrder::kShortestRemaining, true, true),
       {"rounds", {{"length", "6"}}}},
      {"LasRounds",
       {"las"},
       true,
       rules(PlainOrder::kLeastService, true, true),
       {"rounds", {{"length", "6"}}}},
  };
  for (Case& one : list) {
    if (one.name == std::string_view("SrtfRestarts")) one.rules.restart = 3;
    if (one.name == std::string_view("Las")) one.rules.quantum = 7;
    if (one.pacing.name == "rounds") one.rules.round = 6;
  }
  return list;
}

struct Workload {
  int nodes = 1;
  int gpus_per_node = 1;
  std::vector<PlainJob> jobs;
};

// The generator is the same everywhere; the distributions of the standard library are not.
Workload draw(unsigned seed) {
  std::mt19937 random(seed);
  const auto up_to = [&random](int most) { return static_cast<int>(random() % (most + 1U)); };
  Workload drawn;
  drawn.nodes = 1 + up_to(3);
  drawn.gpus_per_node = 1 + up_to(3);
  const int all = drawn.nodes * drawn.gpus_per_node;
  const int count = 2 + up_to(18);
  for (int i = 0; i < count; ++i) {
    drawn.jobs.push_back({up_to(60), 1 + up_to(25), 1 + up_to(all - 1)});
  }
  std::stable_sort(drawn.jobs.begin(), drawn.jobs.end(),
                   [](const PlainJob& a, const PlainJob& b) { return a.arrival < b.arrival; });
  return drawn;
}

std::string text_of(const PlainSchedule& schedule) {
  std::string text;
  for (std::size_t i = 0; i < schedule.jobs.size(); ++i) {
    const PlainOutcome& job = schedule.jobs[i];
    text += fmt::format("{} from {} to {}, preempted {} times\n", letter_of(i), job.start, job.end,
                        job.preemptions);
  }
  for (const std::string& line : schedule.chart) text += line + "\n";
  return text;
}

class Reference : public testing::TestWithParam<Case> {};

TEST_P(Reference, IsWhatTheEngineDoes) {
  const Case& one = GetParam();
  const char* wanted = std::getenv("MUSTER_SEED");
  const unsigned first = wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : 1;
  for (unsigned seed = first; seed < first + (wanted != nullptr ? 1 : kSeeds); ++seed) {
    const Workload workload = draw(seed);
    const PlainSchedule expected =
        simulate_plainly(workload.nodes * workload.gpus_per_node, workload.jobs, one.rules);
    for (const char* placement : {"first-gpu", "count"}) {
      Scenario scenario;
      scenario.pacing = one.pacing;
      scenario.scheduling = one.scheduling;
      scenario.placement = {placement, {{"backfill", one.backfill ? "true" : "false"}}};
      scenario.cost.restart = static_cast<Seconds>(one.rules.restart);
      const PlainSchedule found = engine_schedule(workload.nodes, workload.gpus_per_node,
                                                  workload.jobs, std::move(scenario));
      ASSERT_EQ(text_of(found), text_of(expected)) << "seed " << seed << ", " << placement;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Small, Reference, testing::ValuesIn(cases()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace muster
