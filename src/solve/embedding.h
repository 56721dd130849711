// Linear programs by an interior point method on the homogeneous self-dual embedding, with the
// start, the steps and the end of ECOS (Domahidi, Chu, Boyd: ECOS, an SOCP solver for embedded
// systems, 2013).
//
// Which of several best answers an interior point method ends at depends on its path: on where it
// starts, on how rows and columns are balanced, on when it stops. This one goes ECOS' way and ends
// where ECOS ends, to three digits or more. Use it to repeat results that were made with ECOS;
// solve/interior_point.h is more exact, and faster where a program has a good start.
//
// Shared variables (LinearProgram::mark_shared) are free here, others at least 0. Copies stand for
// equal rows and variables exactly: they take part in norms and means as often as they are.
#pragma once

#include "solve/linear_program.h"

namespace muster {

LinearSolution solve_embedded(const LinearProgram& program);

}  // namespace muster
