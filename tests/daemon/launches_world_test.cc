#include "daemon/launches_world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

int worlds(std::uint64_t first, std::uint64_t count, const WorldFaults& faults, int& crashes) {
  int launches = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    LaunchesWorld world(seed, faults);
    world.run(5000);
    EXPECT_TRUE(world.violations().empty())
        << "seed " << seed << ": " << fmt::format("{}", fmt::join(world.violations(), "; "));
    EXPECT_TRUE(world.all_finished()) << "seed " << seed << ": a job was lost, or waits for ever";
    launches += world.launches();
    crashes += world.crashes();
    if (testing::Test::HasFailure()) break;
  }
  return launches;
}

TEST(LaunchesWorld, WithoutFaultsAllJobsFinish) {
  int crashes = 0;
  EXPECT_GT(worlds(1, 100, {}, crashes), 800);
  EXPECT_EQ(crashes, 0);
}

TEST(LaunchesWorld, ABadNetworkNeitherLosesNorDoublesAJob) {
  int crashes = 0;
  worlds(1000, 700, {.lost = 0.15, .repeated = 0.15, .delay = 6, .start_fails = 0.1, .until = 400},
         crashes);
}

TEST(LaunchesWorld, CrashesAroundCommitsNeitherLoseNorDoubleAJob) {
  int crashes = 0;
  worlds(2000, 700, {.delay = 1, .crash = 0.1, .until = 400}, crashes);
  EXPECT_GT(crashes, 2000);
}

TEST(LaunchesWorld, EverythingAtOnce) {
  int crashes = 0;
  worlds(3000, 600,
         {.lost = 0.1,
          .repeated = 0.1,
          .delay = 4,
          .crash = 0.05,
          .full_disk = 0.02,
          .start_fails = 0.1,
          .until = 400},
         crashes);
  EXPECT_GT(crashes, 500);
}

}  // namespace
}  // namespace muster
