// Schedules that a person can read and check with a pencil: tests/reference/schedules/*.txt hold
// jobs and the chart that must come out, of the plain simulator and of the engine.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "reference/engine_schedule.h"
#include "support/paths.h"

namespace muster {
namespace {

struct StoredSchedule {
  std::string policy;
  std::map<std::string, int> numbers;  // nodes, gpus_per_node, and what the rules need
  std::vector<PlainJob> jobs;
  std::vector<std::string> chart;

  int number(const std::string& name) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? 0 : found->second;
  }
};

StoredSchedule read_schedule(const std::filesystem::path& path) {
  StoredSchedule schedule;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    if (!(words >> first) || first == "#") continue;
    if (first == "policy") {
      words >> schedule.policy;
    } else if (first == "job") {
      std::string letter;
      PlainJob job;
      EXPECT_TRUE(words >> letter >> job.arrival >> job.seconds >> job.gpus) << line;
      EXPECT_EQ(letter, std::string(1, letter_of(schedule.jobs.size()))) << line;
      schedule.jobs.push_back(job);
    } else if (int number = 0; words >> number) {
      schedule.numbers[first] = number;
    } else {
      schedule.chart.push_back(first);
    }
  }
  return schedule;
}

PlainRules rules_of(const StoredSchedule& schedule) {
  PlainRules rules;
  rules.preempt = !schedule.policy.starts_with("fifo");
  rules.backfill = schedule.policy != "fifo";
  rules.order = !rules.preempt             ? PlainOrder::kArrival
                : schedule.policy == "las" ? PlainOrder::kLeastService
                                           : PlainOrder::kShortestRemaining;
  rules.quantum = schedule.number("quantum");
  rules.round = schedule.number("round");
  rules.restart = schedule.number("restart");
  return rules;
}

Scenario scenario_of(const StoredSchedule& schedule) {
  Scenario scenario;
  scenario.placement = {"first-gpu"};
  scenario.scheduling = {schedule.policy};
  if (schedule.policy == "fifo-backfill") scenario.scheduling = {"fifo", {{"strict", "false"}}};
  if (schedule.policy == "las") {
    scenario.scheduling.params["quantum"] = std::to_string(schedule.number("quantum"));
  }
  if (schedule.number("round") > 0) {
    scenario.pacing = {"rounds", {{"length", std::to_string(schedule.number("round"))}}};
  }
  scenario.cost.restart = schedule.number("restart");
  return scenario;
}

TEST(Schedules, AreThoseOfTheFiles) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(source_dir() / "tests/reference/schedules")) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  ASSERT_GE(paths.size(), 6U);
  for (const std::filesystem::path& path : paths) {
    SCOPED_TRACE(path.filename().string());
    const StoredSchedule stored = read_schedule(path);
    ASSERT_FALSE(stored.jobs.empty());
    const int nodes = stored.number("nodes");
    const int gpus_per_node = stored.number("gpus_per_node");
    ASSERT_EQ(std::ssize(stored.chart), nodes * gpus_per_node);
    EXPECT_EQ(simulate_plainly(nodes * gpus_per_node, stored.jobs, rules_of(stored)).chart,
              stored.chart);
    EXPECT_EQ(engine_schedule(nodes, gpus_per_node, stored.jobs, scenario_of(stored)).chart,
              stored.chart);
  }
}

}  // namespace
}  // namespace muster
