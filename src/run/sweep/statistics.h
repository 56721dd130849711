// Means over repeated runs, with confidence intervals by Student's t distribution.
#pragma once

#include <span>

namespace muster {

// The value that a t-distributed variable with `degrees` degrees of freedom stays below with
// probability `p` (0 < p < 1, degrees >= 1).
double student_t_quantile(double p, double degrees);

struct Interval {
  double mean = 0;
  double half_width = 0;  // NaN with fewer than two values
  std::size_t count = 0;
};

// Values that are not numbers make the mean one of their kind.
Interval mean_interval(std::span<const double> values, double confidence);

// Of the differences values[i] - baseline[i]: runs on the same random numbers, pair by pair.
Interval paired_interval(std::span<const double> values, std::span<const double> baseline,
                         double confidence);

}  // namespace muster
