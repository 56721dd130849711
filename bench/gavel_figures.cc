// Figure 8 of Gavel as a whole against the clock, as its text asks for it: 16 rates from 0 to 6
// jobs an hour (nothing arrives at the first), 3 seeds, every policy of the figure but the one with
// space sharing; with the argument `packed` that one, with `fairness` the finish-time fairness of
// figure 10 at the same rates. Three policies cannot keep up with 6 jobs an hour; their runs have
// no end there, nor has the published table a figure, and they are left out. Needs the table of
// throughputs (MUSTER_SHARED, or `muster data fetch gavel`). The figures of seed 0 are compared
// with the published ones.
#include <cmath>

#include <fmt/format.h>

#include "clock.h"
#include "run/config/load_config.h"
#include "run/config/share_folder.h"
#include "run/experiment/experiment.h"
#include "run/sweep/sweep.h"

namespace muster {
namespace {

constexpr double kTolerance = 0.02;

// Published averages, by policy and rate.
std::map<std::pair<std::string, double>, double> published() {
  std::map<std::pair<std::string, double>, double> figures;
  for (const char* name : {"figure8", "figure10_single", "fifo_single"}) {
    const auto experiment = load_experiment("gavel", name);
    if (!experiment) continue;
    for (const ExperimentRun& run : experiment->runs) {
      for (const ExpectedFigure& figure : run.expected) {
        if (figure.key != "avg_jct_s" || run.config.seed != 0) continue;
        const double lam = std::stod(run.config.workload.generator.params.at("lam"));
        figures[{run.config.scheduling.name, std::round(36000 / lam)}] = figure.published;
      }
    }
  }
  return figures;
}

Result<RunConfig> base_config() {
  const auto table = find_reference_file("data/gavel/simulation_throughputs.json");
  if (!table) return table.error();
  const auto document = parse_toml(
      fmt::format("preset = 'gavel'\nperf = [{{name = 'throughputs', file = '{0}'}}]\n"
                  "measure = {{first = 4000, last = 4999}}\n[workload.generator]\nname = 'gavel'\n"
                  "throughputs = '{0}'\njob_types = 'july-2020'\n",
                  *table),
      "bench");
  if (!document) return document.error();
  return load_config(*document, "bench", "", {});
}

struct Tally {
  std::size_t runs = 0;
  int known = 0;
  int within = 0;
};

Status run_all(const RunConfig& base, const std::vector<std::string>& policies,
               const std::string& rates, Tally& tally) {
  SweepConfig sweep;
  sweep.base = base;
  sweep.seeds = {0, 1, 2};
  const auto points = parse_points(rates, false);
  if (!points) return points.error();
  if (Status set = set_axis(sweep, "scheduling", policies); !set) return set;
  if (Status set = set_axis(sweep, "rate", *points); !set) return set;
  const auto result = run_sweep(sweep, {.threads = 2});
  if (!result) return result.error();
  const auto expected = published();
  tally.runs += result->points.size();
  for (std::size_t i = 0; i < result->points.size(); ++i) {
    const SweepPoint& point = result->points[i];
    if (point.seed != 0) continue;
    const double rate = std::stod((*points)[point.values[1]]);
    const auto found = expected.find({policies[point.values[0]], std::round(10 * rate)});
    if (found == expected.end()) continue;
    ++tally.known;
    const double off = result->metrics[i].avg_jct_s / found->second - 1;
    if (std::abs(off) <= kTolerance) {
      ++tally.within;
    } else {
      fmt::print("  {} at {} jobs/h: {:.2f} h, {:+.1f} % from the published\n",
                 policies[point.values[0]], (*points)[point.values[1]],
                 result->metrics[i].avg_jct_s / 3600, 100 * off);
    }
  }
  return Done{};
}

int bench_figure8(const std::string& which) {
  const auto base = base_config();
  if (!base) {
    fmt::print("{}\n", base.error().message);
    return 0;
  }
  constexpr const char* kAll = "0:6:16";
  constexpr const char* kBorne = "0.4:5.6:14";
  struct Group {
    std::vector<std::string> policies;
    const char* rates;
  };
  std::vector<Group> groups = {{{"gavel-max-min-fairness", "gavel-allox", "gavel-gandiva"}, kBorne},
                               {{"gavel-max-min-fairness-perf"}, kAll}};
  if (which == "packed") groups = {{{"gavel-max-min-fairness-packed"}, kAll}};
  if (which == "fairness") {
    groups = {{{"gavel-finish-time-fairness", "gavel-finish-time-fairness-perf"}, kAll}};
  }
  Tally tally;
  const auto begin = bench::now();
  for (const Group& group : groups) {
    if (Status done = run_all(*base, group.policies, group.rates, tally); !done) {
      fmt::print("{}\n", done.error().message);
      return 1;
    }
  }
  const double seconds = bench::seconds_since(begin);
  const std::string goal = which.empty()       ? " (goal 300 s)"
                           : which == "packed" ? " (goal, with the others, 1800 s)"
                                               : "";
  fmt::print(
      "figure 8 {}: {} runs in {:.1f} s on two cores{}; {} of {} published averages within 2 %\n",
      which, tally.runs, seconds, goal, tally.within, tally.known);
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) { return muster::bench_figure8(argc > 1 ? argv[1] : ""); }
