// Time on machines of several kinds, allocated so that the worst of all ratios is as small as
// possible: minimise rho over fractions X >= 0 subject to
//   (age + 1 / x) / whole <= rho   for each row, with its speed x = sum over kinds of rate X,
//   the fractions of a row add up to at most 1, and what is held of a kind to at most its capacity.
//
// The constraints with 1 / x are convex (rotated second-order cones), and the program is solved as
// it stands, by the logarithmic barrier method (Fiacco and McCormick 1968; Boyd and Vandenberghe,
// Convex Optimization, chapter 11): Newton's method finds the point that maximises
//   -tau rho + sum log X + sum log(1 - sum X) + sum log(capacity left)
//            + sum [log x + 2 log(rho whole - age - 1 / x)],
// for a tau that grows until the gap, (number of barriers) / tau, is small. The last sum is the
// barrier of the cones, in which the variable between x and rho has been chosen best. Where many
// answers are as good, as the worst row seldom needs all there is, this ends at their analytic
// centre: no row that could have more is left at the boundary.
//
// A row touches the others only through the capacities and rho. A Newton step therefore factors a
// small matrix for each row and one more, of the kinds and rho: O(rows kinds^3).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace muster {

struct RatioProgram {
  struct Row {
    double copies = 1;  // equal rows that it stands for
    double units = 1;   // of a kind that it holds while it is there
    double age = 0;
    double whole = 0;  // 0: it has no ratio, and takes what others leave
  };
  std::vector<double> capacity;  // by kind
  std::vector<Row> rows;
  std::vector<double> rates;  // by row and kind; negative: there is no such fraction
};

struct RatioAnswer {
  double ratio = 0;
  std::vector<double> fractions;  // by row and kind
};

// Nothing if there is no row with a ratio, or where the arithmetic fails.
std::optional<RatioAnswer> smallest_worst_ratio(const RatioProgram& program,
                                                double tolerance = 1e-8);

}  // namespace muster
