// Gavel's programs against the clock: one allocation of time, with the goals. Needs its table of
// throughputs (MUSTER_SHARED); without it it says so.
//
// What a policy raises (the least share, the speed of the slowest) is compared with what the
// general solver reaches on the same jobs; water filling, whose first level is that of max-min
// fairness, is compared in the tests.
#include <fmt/format.h>

#include "run/experiment/golden.h"
#include "run/experiment/policy_runtime.h"

namespace muster {
namespace {

struct Goal {
  const char* policy;
  long long jobs;
  double seconds;
};

constexpr Goal kGoals[] = {
    {"gavel-max-min-fairness-perf", 2048, 0.005},
    {"gavel-max-min-fairness-perf", 16384, 0.05},
    {"gavel-max-min-fairness-packed", 1024, 1.0},
    {"gavel-max-min-fairness-water-filling-perf", 2048, 0.5},
    {"gavel-max-min-fairness-water-filling-packed", 256, 1.0},
    {"gavel-finish-time-fairness-perf", 2048, 0.05},
    {"gavel-min-total-duration-perf", 2048, 0.05},
};

int bench_goals(const std::string& table) {
  bool all_met = true;
  for (const Goal& goal : kGoals) {
    for (const bool multi_gpu : {false, true}) {
      PolicyRuntimeOptions options;
      options.throughputs = table;
      options.policies = {goal.policy};
      options.jobs = {goal.jobs};
      options.multi_gpu = multi_gpu;
      options.check = true;
      const auto rows = measure_policy_runtimes(options);
      if (!rows) {
        fmt::print("{}\n", rows.error().message);
        return 1;
      }
      const PolicyRuntime& row = rows->front();
      fmt::print("{:<46}{:>7} jobs {:<10}{:>10.4f} s   (goal {} s)\n", row.policy, row.jobs,
                 multi_gpu ? "multi-GPU" : "", row.average, goal.seconds);
      if (row.off_general > 1e-6) {
        fmt::print("  what it raises is {:.1e} off the general solver's\n", row.off_general);
        all_met = false;
      }
    }
  }
  return all_met ? 0 : 1;
}

}  // namespace
}  // namespace muster

int main() {
  const auto table = muster::find_reference_file("data/gavel/simulation_throughputs.json");
  if (!table) {
    fmt::print("gavel: skipped: {}\n", table.error().message);
    return 0;
  }
  return muster::bench_goals(*table);
}
