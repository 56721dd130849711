// Linear programs for tests of more than one solver.
#pragma once

#include "solve/simplex.h"

namespace muster {

// x <= 1 and x >= 2.
inline LinearProgram impossible_program() {
  LinearProgram program;
  program.add_row(1, 0);
  program.add_row(-2, 0);
  program.add_variable(-1);
  program.add_term(0, 1);
  program.add_term(1, -1);
  return program;
}

}  // namespace muster
