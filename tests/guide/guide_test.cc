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

TEST(Guide, LasSchedulesLikeTheBuiltIn) {
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
  const PolicyInfo<SchedulingPolicy> row = guide_las_row();
  const auto params = Params::make("the guide's policy", row.params, {});
  ASSERT_TRUE(params);
  Scenario ours = scenario;
  ours.policy_sets = [&] {
    std::vector<PolicySet> list;
    list.push_back(make_policy_set({"las"}));
    list.front().scheduling = row.make(*params);
    return list;
  };
  scenario.scheduling = {"las"};
  const RunLog guide = simulate(std::move(ours));
  const RunLog built_in = simulate(std::move(scenario));
  EXPECT_EQ(guide.jobs.size(), 400U);
  EXPECT_EQ(guide.lines(), built_in.lines());
  EXPECT_FALSE(guide.lines({Action::kStop}).empty())
      << "a trace in which nobody is preempted proves little";
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
