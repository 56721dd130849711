// Equilibration of a linear program: rows and columns are divided by numbers that bring the largest
// entry of each near one, so that norms over rows mean something.
//
// Source: Ruiz, "A scaling algorithm to equilibrate both rows and columns norms in matrices"
// (2001), in the maximum norm: each round divides every row and column by the square root of its
// largest entry. The signs of variables, -x <= 0, are rows like others. Equal rows and variables
// that were merged (`copies`) are scaled as if each stood by itself. A round costs O(terms).
#pragma once

#include <vector>

#include "solve/linear_program.h"

namespace muster {

struct Equilibration {
  std::vector<double> rows;
  std::vector<double> columns;
  std::vector<double> signs;  // by variable; of free ones without meaning
};

// `is_free` marks the variables whose sign is not bounded.
Equilibration equilibrate(const LinearProgram& program, const std::vector<char>& is_free,
                          int rounds);

// The program in the scaled variables: its terms, bounds and costs are divided.
LinearProgram equilibrated(LinearProgram program, const Equilibration& scale);

}  // namespace muster
