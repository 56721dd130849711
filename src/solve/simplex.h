// Linear programs by the simplex method (CLP), which returns a vertex of the feasible set.
//
// Use it to check the interior point solvers, where a vertex is wanted, and for a sequence of
// programs that differ little: a WarmSimplex begins each at the last one's basis. Time: exponential
// at worst, a few times the number of rows in practice.
#pragma once

#include <memory>

#include "solve/linear_program.h"

namespace muster {

LinearSolution solve_simplex(const LinearProgram& program);

class WarmSimplex {
 public:
  explicit WarmSimplex(const LinearProgram& program);
  ~WarmSimplex();
  WarmSimplex(const WarmSimplex&) = delete;
  WarmSimplex& operator=(const WarmSimplex&) = delete;

  void set_bound(std::size_t row, double bound);
  void set_coefficient(std::size_t row, std::size_t variable, double value);
  LinearSolution solve();

 private:
  struct Model;
  std::unique_ptr<Model> model_;
};

}  // namespace muster
