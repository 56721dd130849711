// Learns what a trace looks like: its arrival rate, the mix of sizes, and how long jobs run, with
// the best of four families of distributions by maximum likelihood and a number that says how good
// it is.
//
// The generator `fit` makes a twin of a trace from this; use fit_durations alone on any list of
// numbers.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "workload/generate/arrivals.h"
#include "workload/generate/distribution.h"
#include "workload/source.h"

namespace muster {

struct FittedFamily {
  Distribution distribution;
  double log_likelihood = 0;
  // Kolmogorov and Smirnov's distance: the largest difference between the shares of jobs below a
  // duration, in the trace and in the fit; 0 is perfect, and above 0.1 the fit should not be
  // trusted.
  double distance = 1;
};

// Exponential, log-normal, Weibull and gamma, nearest first. Values must be above 0, and there must
// be some; when all are equal the one answer is that constant.
std::vector<FittedFamily> fit_durations(std::vector<double> values);

struct SizeFit {
  int gpus = 0;  // 0: all sizes together
  std::size_t jobs = 0;
  std::vector<FittedFamily> families;
};

// One job of the trace, for drawing it again.
struct TraceRow {
  Seconds duration = 0;
  int gpus = 1;
  Symbol user = kNoSymbol;
  Symbol partition = kNoSymbol;
  Symbol model = kNoSymbol;
};

struct TraceFit {
  std::vector<TraceRow> rows;  // without those that did not last
  std::size_t left_out = 0;    // jobs without a duration above 0
  std::vector<double> gaps;    // seconds between submissions
  Seconds span = 0;            // from the first submission to the last
  double jobs_per_hour = 0;
  double gap_variation = 0;  // standard deviation over mean of the gaps; 1 for Poisson
  WeekProfile week{};        // hours since the first submission, over a week
  SizeFit all;
  std::vector<SizeFit> sizes;  // those with enough jobs to say something, by GPU count

  // The fit for a size: its own, or that of all jobs where it is too rare.
  const SizeFit& of_size(int gpus) const;
};

// Reads the whole source. A trace needs two jobs at least, at different times.
Result<TraceFit> fit_trace(JobSource& source);

// A table for people.
std::string fit_text(const TraceFit& fit);

}  // namespace muster
