#include "solve/equilibration.h"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

void divide_by_roots(const std::vector<double>& largest, std::vector<double>& scale) {
  for (std::size_t i = 0; i < scale.size(); ++i) {
    if (largest[i] > 0) scale[i] *= std::sqrt(largest[i]);
  }
}

}  // namespace

Equilibration equilibrate(const LinearProgram& program, const std::vector<char>& is_free,
                          int rounds) {
  const std::size_t variables = program.variables();
  Equilibration scale{std::vector<double>(program.rows(), 1.0), std::vector<double>(variables, 1.0),
                      std::vector<double>(variables, 1.0)};
  // Each round measures the matrix as scaled so far: the largest entries of all rows and columns
  // converge to 1 (Ruiz 2001, at a linear rate of 1/2).
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> rows(program.rows(), 0.0);
    std::vector<double> columns(variables, 0.0);
    std::vector<double> signs(variables, 0.0);
    for (std::size_t v = 0; v < variables; ++v) {
      // The row -x <= 0 has one entry, 1, in this column.
      if (is_free[v] == 0) columns[v] = signs[v] = 1 / (scale.signs[v] * scale.columns[v]);
      for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
        const LinearProgram::Term& term = program.terms[t];
        // A merged term is the sum of `copies` equal entries. The scaling looks at one of them, so
        // that merging does not change it.
        const double entry =
            std::abs(term.value) / term.copies / (scale.rows[term.row] * scale.columns[v]);
        rows[term.row] = std::max(rows[term.row], entry);
        columns[v] = std::max(columns[v], entry);
      }
    }
    divide_by_roots(rows, scale.rows);
    divide_by_roots(columns, scale.columns);
    divide_by_roots(signs, scale.signs);
  }
  return scale;
}

// In the variables x' = column * x, c'x is (c / column)'x'; both sides of a row are divided by its
// scale, which leaves the feasible set as it is.
LinearProgram equilibrated(LinearProgram program, const Equilibration& scale) {
  for (std::size_t r = 0; r < program.rows(); ++r) program.bounds[r] /= scale.rows[r];
  for (std::size_t v = 0; v < program.variables(); ++v) {
    program.costs[v] /= scale.columns[v];
    for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
      LinearProgram::Term& term = program.terms[t];
      term.value /= scale.rows[term.row] * scale.columns[v];
    }
  }
  return program;
}

}  // namespace muster
