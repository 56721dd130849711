// A linear program brought into the form in which an embedding solves it: entries near one, and
// cones whose terms stand side by side.
#pragma once

#include <vector>

#include "solve/linear_program.h"

namespace muster {

// What rows, columns and the rows of the signs (-x <= 0) are divided by, so that their largest
// entries come near one: three rounds of square roots (Ruiz).
struct Balance {
  std::vector<double> rows;
  std::vector<double> columns;
  std::vector<double> signs;  // by variable
  // What is left of each term, without its sign, of one of its copies; empty if not kept.
  std::vector<double> terms;
};

// `stepwise`: terms are divided in each round, as ECOS does, which the last digit hangs on.
Balance balance_of(const LinearProgram& program, const std::vector<char>& free, bool stepwise);
LinearProgram balanced(LinearProgram program, const Balance& balance);

// By variable: whether it may have either sign.
std::vector<char> free_variables(const LinearProgram& program);

// A variable in one row of a cone gets terms in all three, which scaling needs.
LinearProgram spread(LinearProgram program);

}  // namespace muster
