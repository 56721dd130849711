// The KKT system of an interior point step for a program with the signs of variables as rows:
//
//   [ 0  G' ] [ dx      ]   [ right of variables ]
//   [ G  -W ] [ duals   ] = [ right of rows      ],   G = [ -sign ; E ],   W = slack / dual,
//
// for the rows E of the program and a row -sign x <= 0 for each variable that is not free. The rows
// of signs and the slacks are eliminated, which leaves the normal equations of
// solve/normal_system.h with D = W / sign^2; free variables, for which D is infinite, stay in them.
// Iterative refinement on the whole system (Golub and Van Loan, section 3.5.3) gives back the
// digits that the elimination costs. Time: that of the normal equations.
#pragma once

#include <vector>

#include "solve/linear_program.h"
#include "solve/normal_system.h"

namespace muster {

// A vector with a part for the variables, for their signs and for the rows.
struct KktVector {
  std::vector<double> x;
  std::vector<double> sign;
  std::vector<double> row;
};

class KktSystem {
 public:
  // `signs` by variable; 0: it is free. Free variables must be marked as shared by many rows.
  KktSystem(const LinearProgram& program, const std::vector<double>& signs);

  // W, by signs and by rows. False if rounding has made it hopeless.
  bool factor(const std::vector<double>& sign_weights, const std::vector<double>& row_weights);
  void solve(const KktVector& right, KktVector& step);

  // product = E x, and the product of a variable's column with `rows`.
  void multiply(const std::vector<double>& x, std::vector<double>& product) const;
  double dot_column(std::size_t variable, const std::vector<double>& rows) const;

 private:
  bool is_free(std::size_t variable) const { return signs_[variable] == 0; }
  void solve_once(const KktVector& right, KktVector& step);
  double find_residual(const KktVector& right, const KktVector& step);

  const LinearProgram& program_;
  const std::vector<double>& signs_;
  NormalSystem normal_;
  std::vector<double> d_;
  std::vector<double> sign_weights_;
  std::vector<double> row_weights_;
  std::vector<double> wide_;   // scratch, as are the next ones
  std::vector<double> known_;  // the part of dx that the duals do not change
  std::vector<double> product_;
  KktVector residual_;
  KktVector correction_;
  KktVector refined_;
};

}  // namespace muster
