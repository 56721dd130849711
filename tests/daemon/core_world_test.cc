// The daemon's core, with real policies, in simulated worlds with random faults: no GPU twice, no
// job twice or lost, every accepted submission survives, and all jobs end.
#include "daemon/core_world.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace muster {
namespace {

const CoreWorldPlan kPlans[] = {
    {},
    {.scheduling = "las", .pacing = "rounds:length=20"},
    {.scheduling = "srtf"},
    {.scheduling = "tiresias", .pacing = "ticks:length=5"},
    {.scheduling = "max-min", .pacing = "rounds:length=30"},
    {.scheduling = "optimus", .pacing = "rounds:length=30"},
    {.scheduling = "gavel-fifo-packed"},
    {.scheduling = "antman", .placement = "antman", .least_priority = -1},
    {.scheduling = "lucid", .placement = "packing:share=always", .profiled = 2},
};

WorldFaults faults_of(std::uint64_t seed) {
  WorldFaults faults;
  if (seed % 4 == 0) return faults;
  faults.lost = seed % 4 == 1 ? 0 : 0.1;
  faults.repeated = 0.1;
  faults.delay = seed % 3 == 0 ? 12 : 1;
  faults.crash = 0.03;
  faults.full_disk = seed % 5 == 0 ? 0.01 : 0;
  faults.start_fails = 0.05;
  faults.until = 400;
  return faults;
}

int worlds_per_plan() {
  const char* given = std::getenv("MUSTER_WORLDS");
  return given == nullptr ? 340 : std::atoi(given) / static_cast<int>(std::size(kPlans));
}

class CoreWorlds : public ::testing::TestWithParam<CoreWorldPlan> {};

TEST_P(CoreWorlds, EndWellFromEverySeed) {
  int crashes = 0;
  int launches = 0;
  for (int seed = 1; seed <= worlds_per_plan(); ++seed) {
    CoreWorld world(static_cast<std::uint64_t>(seed), faults_of(static_cast<std::uint64_t>(seed)),
                    GetParam());
    world.run(20'000);
    ASSERT_TRUE(world.violations().empty())
        << "seed " << seed << " of " << GetParam().scheduling << ": " << world.violations().front();
    ASSERT_TRUE(world.all_left()) << "seed " << seed << " of " << GetParam().scheduling << ": "
                                  << world.complaint();
    ASSERT_EQ(world.complaint(), "") << "seed " << seed << " of " << GetParam().scheduling;
    crashes += world.crashes();
    launches += world.launches();
  }
  EXPECT_GT(launches, worlds_per_plan());
  EXPECT_GT(crashes, worlds_per_plan() / 2);
}

INSTANTIATE_TEST_SUITE_P(Policies, CoreWorlds, ::testing::ValuesIn(kPlans), [](const auto& plan) {
  std::string name = plan.param.scheduling;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace muster
