// Compares the figures of a run with the expected ones.
#pragma once

#include <vector>

#include "run/experiment/experiment.h"
#include "run/experiment/experiment_observers.h"

namespace muster {

// Golden jobs, one by one; times may differ by `allowed` seconds.
void compare_jobs(const std::vector<GoldenJob>& golden, const JobTimes& times,
                  const GoldenSource& source, double allowed, JobsCheck& check);

// `deviation` is that of several seeds, of which `ours` is the mean.
FigureCheck compare_figure(const Experiment& experiment, const ExperimentRun& run,
                           const ExpectedFigure& expected, double ours, double deviation = 0);

// Several seeds of one run: means are compared, and how far they lie apart is shown.
RunCheck merge_seeds(const Experiment& experiment, const ExperimentRun& run,
                     std::vector<RunCheck> checks);

}  // namespace muster
