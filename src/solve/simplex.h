// Linear programs by the simplex method, through CLP: the general solver, and the oracle that the
// special ones are tested with. It gives a vertex of the optimal face. It fails where gains are
// logarithms.
#pragma once

#include "solve/linear_program.h"

namespace muster {

LinearSolution solve_simplex(const LinearProgram& program);

}  // namespace muster
