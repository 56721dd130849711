// Linear programs, and those with logarithms as gains, by a primal-dual interior point method
// (Mehrotra's predictor and corrector).
//
// Of several best answers it gives one in the middle: the optimal face's analytic centre, as nearly
// as it stops. With all costs zero that is the centre of what is feasible. Its prices are positive
// exactly where a row is tight in every best answer, which water filling relies on.
//
// Use it where the middle is wanted or rows fall into groups: a step costs what the groups cost, so
// jobs with a row or two each are solved in time linear in their number. For vertices, and to check
// this one, use solve/simplex.h.
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
