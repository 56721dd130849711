// Figure 8 of Gavel as a whole against the clock: 16 rates, 3 seeds, every policy of the figure and
// of its neighbours that runs without space sharing; with the argument `packed`, the packed one
// too. Needs the table of throughputs (MUSTER_SHARED, or `muster data fetch gavel`). The figures of
// seed 0 are compared with the published ones.
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "clock.h"
#include "run/experiment.h"
#include "run/load_config.h"
#include "run/share_folder.h"
#include "run/sweep.h"

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

int bench_figure8(bool packed) {
  const auto table = find_reference_file("data/gavel/simulation_throughputs.json");
  if (!table) {
    fmt::print("{}\n", table.error().message);
    return 0;
  }
  const auto document = parse_toml(
      fmt::format("preset = 'gavel'\nperf = [{{name = 'throughputs', file = '{0}'}}]\n"
                  "measure = {{first = 4000, last = 4999}}\n[workload.generator]\nname = 'gavel'\n"
                  "throughputs = '{0}'\nnotebook_order = true\n",
                  *table),
      "bench");
  auto base = load_config(*document, "bench", "", {});
  if (!base) {
    fmt::print("{}\n", base.error().message);
    return 1;
  }
  SweepConfig sweep;
  sweep.base = std::move(*base);
  sweep.seeds = {0, 1, 2};
  std::vector<std::string> policies = {"gavel-max-min-fairness",
                                       "gavel-max-min-fairness-perf",
                                       "gavel-allox",
                                       "gavel-gandiva",
                                       "gavel-finish-time-fairness",
                                       "gavel-finish-time-fairness-perf",
                                       "gavel-fifo-perf",
                                       "gavel-isolated"};
  if (packed) policies = {"gavel-max-min-fairness-packed"};
  const auto rates = parse_points("0.4:6.4:16", false);
  if (!rates || !set_axis(sweep, "scheduling", policies) || !set_axis(sweep, "rate", *rates)) {
    fmt::print("the sweep cannot be described\n");
    return 1;
  }
  const auto begin = bench::now();
  constexpr double kTimeout = 600;
  const auto result = run_sweep(sweep, {.threads = 2, .timeout = kTimeout});
  const double seconds = bench::seconds_since(begin);
  if (!result) {
    fmt::print("{}\n", result.error().message);
    return 1;
  }
  const auto expected = published();
  int known = 0;
  int within = 0;
  int late = 0;
  for (std::size_t i = 0; i < result->points.size(); ++i) {
    const SweepPoint& point = result->points[i];
    if (result->states[i] == PointState::kTimedOut) ++late;
    if (point.seed != 0 || result->states[i] != PointState::kDone) continue;
    const double rate = std::stod((*rates)[point.values[1]]);
    const auto found = expected.find({policies[point.values[0]], std::round(10 * rate)});
    if (found == expected.end()) continue;
    ++known;
    const double off = result->metrics[i].avg_jct_s / found->second - 1;
    if (std::abs(off) <= kTolerance) {
      ++within;
    } else {
      fmt::print("  {} at {} jobs/h: {:.2f} h, {:+.1f} % from the published\n",
                 policies[point.values[0]], (*rates)[point.values[1]],
                 result->metrics[i].avg_jct_s / 3600, 100 * off);
    }
  }
  fmt::print(
      "figure 8{}: {} runs in {:.1f} s on two cores (goal {} s); {} given up; {} of {} "
      "published averages within 2 %\n",
      packed ? ", packed" : "", result->points.size(), seconds, packed ? 1800 : 300, late, within,
      known);
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  return muster::bench_figure8(argc > 1 && std::strcmp(argv[1], "packed") == 0);
}
