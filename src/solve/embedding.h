// Linear programs by an interior point method on the homogeneous self-dual embedding, with the
// start, the steps and the end of ECOS (Domahidi, Chu, Boyd: ECOS, an SOCP solver for embedded
// systems, 2013).
//
// Which of several best answers an interior point method ends at depends on its path: on where it
// starts, on how rows and columns are balanced, on when it stops. This one goes ECOS' way and ends
// where ECOS ends, to three digits or more, and to the last bit where it also solves the equations
// of a step as ECOS does. Use it to repeat results that were made with ECOS; solve/interior_point.h
// is more exact, and faster where a program has a good start.
//
// Shared variables (LinearProgram::mark_shared) are free here, others at least 0. Copies stand for
// equal rows and variables exactly: they take part in norms and means as often as they are.
#pragma once

#include "solve/linear_program.h"

namespace muster {

// How the equations of a step are solved: by groups of rows; or all at once as ECOS does, which
// repeats its rounding too. That takes a program in which the signs of variables are rows and all
// variables are free, in the order of rows and variables in which ECOS would get it.
enum class Equations { kGrouped, kWhole };

LinearSolution solve_embedded(const LinearProgram& program,
                              Equations equations = Equations::kGrouped);

}  // namespace muster
