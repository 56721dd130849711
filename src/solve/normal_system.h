// The normal equations of an interior point step: (E D E' + F) y = r for a positive diagonal D over
// variables and F over rows (Nocedal and Wright, "Numerical Optimization", section 14.2).
//
// The rows of E fall into groups that are tied together by a few linking rows and dense columns
// (solve/normal_layout.h), so the matrix is block diagonal with a border. The groups are eliminated
// one by one, and what is left is their Schur complement, a small dense system. Time: O(sum of
// rows^3 over groups + border^3), linear in the number of groups; memory likewise.
//
// Near the optimum D and F span twenty orders of magnitude. Small groups are therefore factored by
// Householder reflections of the square roots, a QR factorisation, which never subtracts nearly
// equal numbers; large ones by Cholesky's method, which is faster. The Schur complement keeps the
// dense columns as unknowns and is indefinite: without them the linking rows alone are nearly
// singular. Iterative refinement gives back what rounding takes.
#pragma once

#include <vector>

#include "solve/dense_lu.h"
#include "solve/linear_program.h"
#include "solve/normal_layout.h"

namespace muster {

class NormalSystem {
 public:
  explicit NormalSystem(const LinearProgram& program);

  // False if rounding has made it hopeless.
  bool factor(const std::vector<double>& d, const std::vector<double>& f);
  void solve(const std::vector<double>& right, std::vector<double>& y);

  // Dense columns, in order.
  const std::vector<std::size_t>& wide() const { return layout_.wide; }
  // The same equations before these variables u are eliminated, for right sides of their own:
  // (E D E' + F) y + U u = right over the other variables, U' y - u / D = wide_right. Takes the
  // right sides, gives y and u, not refined.
  void solve_in_place(std::vector<double>& y, std::vector<double>& u) { solve_once(y, u); }

 private:
  using Group = NormalLayout::Group;
  // A term of a variable, where it goes.
  struct Placed {
    bool in_border;
    std::size_t place;  // in the border, or in the group's triangle
    double value;
  };
  void add_border();
  void add_rows();
  void add_variable(std::size_t variable, double d);
  void factor_by_qr(const Group& group);
  void stack_roots(const Group& group, std::size_t width, std::size_t height);
  void reflect_column(std::size_t column, std::size_t width, std::size_t height);
  bool factor_by_cholesky(const Group& group);
  void eliminate_border(const Group& group, std::size_t from, std::size_t to);
  void find_tightest();
  void solve_once(std::vector<double>& y, std::vector<double>& u);
  void subtract_product(const std::vector<double>& y, std::vector<double>& left) const;
  double dot_column(std::size_t variable, const std::vector<double>& rows) const;
  double* border_row(const Group& group, std::size_t i) {
    return borders_.data() + group.border + i * layout_.border;
  }

  const LinearProgram& program_;
  NormalLayout layout_;
  std::vector<std::size_t> tightest_;  // by dense column: the row to promote; kNone at first
  std::vector<double> d_;
  std::vector<double> f_;
  std::vector<double> matrices_;  // of each group a lower triangle
  std::vector<double> borders_;   // group rows by border, with the group's triangle applied
  DenseLu schur_;                 // the Schur complement of the groups
  std::vector<double> stack_;     // scratch, as are the next ones
  std::vector<double> parts_;
  std::vector<Placed> placed_;
  std::vector<double> ordered_;
  std::vector<double> border_right_;
  std::vector<double> residual_;
  std::vector<double> kept_;
};

}  // namespace muster
