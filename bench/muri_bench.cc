// Muri and Tiresias against the clock: single runs of the published experiments, and, with the
// argument `figures`, figures 9 to 13 as a whole. Needs the traces (MUSTER_SHARED); without them it
// says so.
#include <cstring>

#include <fmt/format.h>

#include "timed_experiment.h"

namespace muster {
namespace {

// Runs what is left of the experiment after `choose`, and says how long it took.
template <typename Choose>
double time_runs(const char* experiment, Choose choose) {
  const auto timed = bench::time_experiment("muri", experiment, choose);
  if (!timed) return 0;
  if (!timed->result.within())
    fmt::print("{}: some figures differ from the published ones\n", experiment);
  return timed->seconds;
}

void bench_runs() {
  struct Goal {
    const char* experiment;
    const char* run;
    double seconds;
  };
  for (const Goal& goal :
       {Goal{"figure9", "SRSF, trace2", 0.05}, Goal{"figure10", "Tiresias, trace2", 0.05},
        Goal{"figure10", "Muri-L, trace4", 3.0}}) {
    const auto this_one = [&](Experiment& all) {
      std::erase_if(all.runs, [&](const ExperimentRun& run) { return run.name != goal.run; });
    };
    const auto without_comparison = [&](Experiment& all) {
      this_one(all);
      for (ExperimentRun& run : all.runs) run.golden = {};
    };
    time_runs(goal.experiment, this_one);  // compared job by job
    double best = kNever;
    for (int i = 0; i < 5; ++i) {
      best = std::min(best, time_runs(goal.experiment, without_comparison));
    }
    fmt::print("{:<20}{:>10.3f} s   (goal {} s)\n", goal.run, best, goal.seconds);
  }
}

void bench_figures() {
  struct Figure {
    const char* name;
    double published_days;  // as Muri's README has it
  };
  double sum = 0;
  for (const Figure& figure : {Figure{"figure9", 2}, Figure{"figure10", 4}, Figure{"figure11", 2},
                               Figure{"figure12", 2}, Figure{"figure13", 1}}) {
    const double seconds = time_runs(figure.name, [](Experiment&) {});
    fmt::print("{:<20}{:>10.1f} s   published: {} days, {:.0f} times as long\n", figure.name,
               seconds, figure.published_days, figure.published_days * 86400 / seconds);
    sum += seconds;
  }
  fmt::print("{:<20}{:>10.1f} s   (goal 600 s on two cores)\n", "figures 9 to 13", sum);
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  muster::bench_runs();
  if (argc > 1 && std::strcmp(argv[1], "figures") == 0) muster::bench_figures();
  return 0;
}
