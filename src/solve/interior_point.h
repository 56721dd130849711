// Linear programs, and those with logarithms as gains, by an infeasible primal-dual interior point
// method with Mehrotra's predictor and corrector (Mehrotra, SIAM J. Optimization 2(4), 1992;
// Wright, "Primal-Dual Interior-Point Methods", chapter 10).
//
// Primal: minimise c'x with E x + s = b, x >= 0, slacks s >= 0. Dual variables: y of the rows, z of
// the signs of x. The KKT conditions are
//
// clang-format off
//
//   E x + s = b              primal feasibility
//   c + E'y - z = 0          dual feasibility
//   x z = 0,  s y = 0        complementarity
//
// clang-format on
//
// A step solves their linearisation with complementarity relaxed to the barrier parameter mu: first
// for mu = 0 (predictor), then for the mu that the predictor suggests, with its second-order terms
// (corrector). Primal and dual step lengths differ, and each stops short of the boundary. The
// method ends when residuals and duality gap are below the tolerance.
//
// Invariant: x, s, y and z stay positive. Of several optima it gives one in the relative interior
// of the optimal face, near its analytic centre; with all costs zero, near the centre of the
// feasible set. So a dual variable is positive exactly where a row is tight in every optimum
// (strict complementarity), which water filling relies on.
//
// Time: ten to thirty factorisations of the normal equations (solve/normal_system.h), each linear
// in the number of groups of rows. For vertices, and to check this one, use solve/simplex.h.
#pragma once

#include "solve/linear_program.h"

namespace muster {

struct InteriorPointOptions {
  double tolerance = 1e-9;  // relative: residuals and gap
  int most_iterations = 100;
};

LinearSolution solve_interior(const LinearProgram& program,
                              const InteriorPointOptions& options = {});

}  // namespace muster
