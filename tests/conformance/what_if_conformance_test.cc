// Asked what will happen, a run that is forked answers with what then happens, for every policy:
// whatever it remembers, the copy remembers.
#include <gtest/gtest.h>

#include "conformance/cases.h"
#include "engine/world.h"
#include "run/whatif/outlook.h"

namespace muster {
namespace {

class WhatIfConformance : public ::testing::TestWithParam<Choice> {};

std::vector<Choice> forkable_policies() {
  std::vector<Choice> choices;
  for (const auto& row : general_policies()) choices.push_back({std::string(row.name)});
  return choices;
}

// What others own.
template <typename T>
std::shared_ptr<const T> borrowed(const T& value) {
  return {std::shared_ptr<const T>(), &value};
}

TEST_P(WhatIfConformance, TheAnswerComesTrue) {
  Scenario scenario = mixed_scenario();
  scenario.scheduling = GetParam();
  const SchedulingTraits traits = make_scheduling(scenario.scheduling)->traits();
  scenario.jobs.resize(traits.optimises ? 15 : 40);
  // They come in a rush, so that many wait when the last one is there.
  for (JobSpec& job : scenario.jobs) job.submit = job.arrival = 0.1 * job.arrival;
  if (traits.optimises) scenario.pacing = {"rounds", {{"length", "20"}}};
  TestRun run(scenario);
  Engine& engine = run.engine();
  while (engine.arrived() < static_cast<long long>(scenario.jobs.size())) {
    ASSERT_TRUE(engine.turn());
  }
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(engine.turn());
  const EngineWorld world = engine.world();
  ASSERT_GT(world.jobs.size(), 5U) << "too few are left to ask about";
  OutlookParts parts;
  parts.cluster = std::make_shared<const ClusterSpec>(scenario.cluster);
  parts.perf = borrowed(engine.view().perf);
  parts.cost = std::make_shared<const RestartCost>(scenario.cost);
  parts.running = borrowed(engine);
  parts.options = scenario.options;
  const auto outlook = look_out(world, parts, {});
  ASSERT_TRUE(outlook) << outlook.error().message;
  const RunLog& log = run.run();
  for (const JobOutlook& said : outlook->jobs) {
    const JobRecord job = log.job(static_cast<int>(index(said.id)));
    if (job.status != JobState::kFinished) continue;
    EXPECT_NEAR(said.start.believed, job.start, 1e-6) << index(said.id);
    EXPECT_NEAR(said.end.believed, job.end, 1e-6) << index(said.id);
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, WhatIfConformance, ::testing::ValuesIn(forkable_policies()),
                         [](const auto& row) { return case_name(row.param); });

}  // namespace
}  // namespace muster
