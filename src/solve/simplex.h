// Linear programs by the simplex method (CLP): the general solver, which returns a corner.
//
// Use it to check the others, where a corner is wanted, and for a row of programs that differ
// little: a WarmSimplex begins each where the last one ended.
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
