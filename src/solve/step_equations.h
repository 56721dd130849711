// The equations of a step of solve/embedding.h, and two ways to solve them.
//
// With G the rows of the signs (-x <= 0) and those of the program, and W^2 the scaling (slack over
// price), a step (x, prices) obeys
//   G' prices = right of x,   G x - W^2 prices = right of signs and rows.
// ECOS adds a little to W^2 and to the empty diagonal of the first equations, to keep its factors
// apart from zero, and leaves it there.
#pragma once

#include <memory>
#include <vector>

#include "solve/balance.h"
#include "solve/cone.h"
#include "solve/linear_program.h"
#include "solve/row_products.h"

namespace muster {

// By variables, by signs of variables, by rows; and what the equations need beside, such as the
// helpers that keep the scalings of cones sparse.
struct Part {
  std::vector<double> x;
  std::vector<double> sign;
  std::vector<double> row;
  std::vector<double> helper{};

  void add(double factor, const Part& other) {
    add(factor, other.x, x);
    add(factor, other.sign, sign);
    add(factor, other.row, row);
    add(factor, other.helper, helper);
  }
  static void add(double factor, const std::vector<double>& from, std::vector<double>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
  }
};

// A program as the embedding sees it: balanced, with costs of one of each variable's copies.
struct Stated {
  Balance balance;
  LinearProgram program;
  std::vector<char> free;     // by variable
  std::vector<char> in_cone;  // by row
  std::vector<double> signs;  // by variable: the entry in the row of its sign is minus this
  RowProducts rows;

  // `as_ecos`: balanced to the same last digit.
  Stated(const LinearProgram& original, bool as_ecos);
  double copies(std::size_t v) const { return program.variable_copies[v]; }
  double row_copies(std::size_t r) const { return program.row_copies[r]; }
  double sign(std::size_t v) const { return signs[v]; }
  bool is_free(std::size_t v) const { return free[v] != 0; }
};

inline Triple triple_at(const std::vector<double>& rows, std::size_t r) {
  return {rows[r], rows[r + 1], rows[r + 2]};
}
inline void put_triple(const Triple& triple, std::vector<double>& rows, std::size_t r) {
  std::copy(triple.begin(), triple.end(), rows.begin() + static_cast<std::ptrdiff_t>(r));
}
double dot_column(const LinearProgram& program, std::size_t variable,
                  const std::vector<double>& rows);

class StepEquations {
 public:
  static constexpr double kLittle = 7e-8;
  virtual ~StepEquations() = default;
  // `w` are the squares of the scaling; rows of cones have scalings of their own.
  virtual bool factor(const Part& w, const std::vector<ConeScaling>& cones) = 0;
  // As exactly as the factors are.
  virtual void solve(const Part& right, Part& step) = 0;
  // left -= the left side of the equations.
  virtual void subtract_product(const Part& step, Part& left) = 0;
  // How much may be missing, of what is asked for, before a step is refined.
  virtual double exactness() const { return 1e-14; }
  // Variables of which a program may not bound the sign.
  virtual const std::vector<std::size_t>& wide() const = 0;
};

// By groups of rows, in time linear in their number, with copies for equal ones.
std::unique_ptr<StepEquations> grouped_equations(const Stated& stated);
// All at once, as ECOS does: of a program without copies, with the signs of variables as rows.
std::unique_ptr<StepEquations> whole_equations(const Stated& stated);

}  // namespace muster
