// The example of docs/policies.md, as it stands on the page: CMake takes it out of the page, this
// compiles it.
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/random.h"
#include "guide_las.inc"
#include "support/paths.h"
#include "support/simulation.h"

namespace muster {
namespace {

Scenario busy_scenario() {
  Scenario scenario;
  scenario.cluster = uniform_cluster(4, 8);
  Random random(3, "guide");
  Seconds time = 0;
  for (int i = 0; i < 400; ++i) {
    time += random.exponential(120);
    scenario.jobs.push_back(job_of(std::floor(time),
                                   60 + static_cast<double>(random.integer(0, 20000)),
                                   1 << random.below(4)));
  }
  scenario.pacing = {"rounds", {{"length", "300"}}};
  return scenario;
}

Scenario with_guides_policy(Scenario scenario) {
  scenario.policy_sets = [] {
    const PolicyInfo<SchedulingPolicy> row = guide_las_row();
    const auto params = Params::make("the guide's policy", row.params, {});
    EXPECT_TRUE(params);
    std::vector<PolicySet> list;
    list.push_back(make_policy_set({"las"}));
    list.front().scheduling = row.make(*params);
    return list;
  };
  return scenario;
}

TEST(Guide, LasSchedulesLikeTheBuiltIn) {
  Scenario scenario = busy_scenario();
  Scenario ours = with_guides_policy(scenario);
  scenario.scheduling = {"las"};
  const RunLog guide = simulate(std::move(ours));
  const RunLog built_in = simulate(std::move(scenario));
  EXPECT_EQ(guide.jobs.size(), 400U);
  EXPECT_EQ(guide.lines(), built_in.lines());
  EXPECT_FALSE(guide.lines({Action::kStop}).empty())
      << "a trace in which nobody is preempted proves little";
}

TEST(Guide, RunsWithItAreSavedAndGoOnAlike) {
  const Scenario scenario = with_guides_policy(busy_scenario());
  TestRun whole(scenario);
  whole.run();
  TestRun first(scenario);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(first.engine().turn());
  const std::string saved = first.save();
  ASSERT_FALSE(saved.empty()) << "the example cannot be saved";
  first.run();
  TestRun second(scenario);
  second.restore(saved);
  second.run();
  const std::size_t told = second.log().jobs.size();
  ASSERT_GT(told, 0U);
  ASSERT_LT(told, 400U) << "it was saved before anybody had left";
  for (std::size_t i = 0; i < told; ++i) {
    const JobRecord& job = second.log().jobs[i];
    EXPECT_EQ(job.end, whole.log().job(static_cast<int>(index(job.id))).end) << index(job.id);
  }
}

TEST(Guide, TheExampleIsShort) {
  std::ifstream page(source_dir() / "docs/policies.md");
  std::string line;
  int lines = 0;
  bool inside = false;
  bool found = false;
  while (std::getline(page, line)) {
    if (line == "<!-- example: las -->") found = true;
    if (found && line.starts_with("```")) {
      if (inside) break;
      inside = true;
      continue;
    }
    if (inside) ++lines;
  }
  EXPECT_TRUE(found);
  EXPECT_GT(lines, 10);
  EXPECT_LT(lines, 40);
}

}  // namespace
}  // namespace muster
