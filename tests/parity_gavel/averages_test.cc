// Policies that are optimisation problems, against the average completion time (or makespan) of
// Gavel's own runs, within 1.5 %. Best answers are not unique: where our two solvers, of which one
// gives an answer inside of them and the other a vertex, are further apart than that, the solver
// decides and not the policy. More of them are in experiments/gavel/solved.toml.
#include <cmath>

#include <gtest/gtest.h>

#include "base/text.h"
#include "parity_gavel/support.h"
#include "run/assembly/simulation.h"
#include "support/paths.h"

namespace muster {
namespace {

constexpr double kNear = 0.015;

struct Compared {
  std::string config;
  std::string policy;
  bool decided;  // by the policy; otherwise by the solver
};

// Long: a list of runs.
TEST(GavelParity, AveragesOfLinearPrograms) {
  MUSTER_NEEDS_SHARED(kGavelTable);
  MUSTER_NEEDS_SHARED("golden/gavel/results.tsv");
  const std::vector<Compared> runs = {
      {"small222", "max_min_fairness", true},
      {"small222", "max_min_fairness_perf", true},
      {"small222", "max_min_fairness_water_filling", false},
      {"small222", "finish_time_fairness", false},
      {"small222", "finish_time_fairness_perf", false},
      {"small222", "max_sum_throughput_perf", true},
      {"small222", "min_total_duration", true},
      {"medium222", "max_min_fairness", true},
      {"medium222", "max_min_fairness_perf", true},
      {"medium222", "max_min_fairness_packed", true},
      {"medium222", "max_min_fairness_water_filling", true},
      {"medium222", "max_min_fairness_water_filling_perf", true},
      {"medium222", "max_min_fairness_water_filling_packed", true},
      {"medium222", "finish_time_fairness", true},
      {"medium222", "finish_time_fairness_perf", true},
      {"medium222", "finish_time_fairness_packed", true},
      {"medium222", "max_sum_throughput_perf", true},
      {"medium222", "min_total_duration", true},
      {"medium222", "min_total_duration_perf", true},
      {"medium222", "min_total_duration_packed", true},
      {"static100single", "max_min_fairness", true},
      {"static100single", "max_min_fairness_perf", true},
      {"static100single", "max_min_fairness_water_filling_perf", true},
      {"static100single", "max_sum_throughput_perf", true},
      {"static100single", "min_total_duration_perf", true},
      {"static100single", "min_total_duration_packed", true},
      {"static100multi", "max_min_fairness", true},
      {"static100multi", "max_min_fairness_perf", true},
      {"static100multi", "max_min_fairness_water_filling", true},
      {"static100multi", "finish_time_fairness", true},
      {"static100multi", "finish_time_fairness_perf", true},
      {"static100multi", "min_total_duration_perf", true},
  };
  const auto rows = read_tsv("golden/gavel/results.tsv");
  for (const Compared& run : runs) {
    SCOPED_TRACE(run.config + " " + run.policy);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& one) {
      if (one.at("set") != "A" || one.at("policy") != run.policy) return false;
      if (run.config == "small222") return one.at("trace") == "small_test.trace";
      if (run.config == "medium222") return one.at("trace") == "medium_test.trace";
      return one.at("trace") == "generated" && one.at("num_total_jobs") == "100" &&
             (one.at("multi_gpu") == "1") == (run.config == "static100multi");
    });
    ASSERT_NE(row, rows.end());
    const bool makespan = run.policy.starts_with("min_total_duration");
    const auto figure = [&](const std::string& solver) {
      const auto summary = measure_run(gavel_run(run.config, run.policy, solver), nullptr);
      EXPECT_TRUE(summary && *summary);
      if (!summary || !*summary) return 0.0;
      return makespan ? (*summary)->metrics.makespan_s : (*summary)->metrics.avg_jct_s;
    };
    const double theirs = *parse_real(row->at(makespan ? "makespan_s" : "avg_jct_s"));
    const double middle = figure("interior");
    if (run.decided) {
      EXPECT_NEAR(middle, theirs, kNear * theirs);
    } else {
      EXPECT_GT(std::abs(middle - figure("simplex")), kNear * theirs);
    }
  }
}

}  // namespace
}  // namespace muster
