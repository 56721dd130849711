#include "solve/normal_system.h"

#include <algorithm>
#include <cmath>

#include "solve/dense_factor.h"

namespace muster {
namespace {

// Groups up to this many rows are factored by reflections, which cost more than Cholesky's method.
constexpr std::size_t kSmallGroup = 8;

double largest_size(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

}  // namespace

NormalSystem::NormalSystem(const LinearProgram& program) : program_(program), layout_(program) {
  tightest_.assign(layout_.wide.size(), NormalLayout::kNone);
  matrices_.resize(layout_.matrix_values);
  borders_.resize(layout_.border_values);
  schur_.resize(layout_.border);
}

// Assembles the matrix block by block, then eliminates the groups one by one. A group of r rows and
// v variables costs O((r + v) (r + border)^2) by reflections and O(r (r + border)^2) by Cholesky's
// method; the Schur complement, O(border^3).
bool NormalSystem::factor(const std::vector<double>& d, const std::vector<double>& f) {
  d_ = d;
  f_ = f;
  layout_.promote(tightest_);
  std::fill(matrices_.begin(), matrices_.end(), 0.0);
  std::fill(borders_.begin(), borders_.end(), 0.0);
  schur_.clear();
  for (const std::size_t v : layout_.loose) add_variable(v, d[v]);
  add_border();
  add_rows();
  for (const Group& group : layout_.groups) {
    // QR of the square roots has the condition number of D^(1/2) E', not its square (Golub and Van
    // Loan, section 5.3); it is affordable only for small blocks.
    if (group.lower <= kSmallGroup) {
      factor_by_qr(group);
    } else if (!factor_by_cholesky(group)) {
      return false;
    }
    eliminate_border(group, layout_.border_rows, layout_.border);
  }
  find_tightest();
  // The Schur complement is indefinite because of the -1 / D on the diagonal, so it needs LU
  // factors with pivoting instead of Cholesky's method.
  return schur_.factor();
}

// The dense columns, with -1 / D on the diagonal. Where no row is promoted yet, its place is empty.
void NormalSystem::add_border() {
  for (std::size_t k = 0; k < layout_.wide.size(); ++k) {
    const std::size_t empty = layout_.links + k;
    if (layout_.promoted[k] == NormalLayout::kNone) schur_.at(empty, empty) = 1;
    const std::size_t at = layout_.border_rows + k;
    const std::size_t v = layout_.wide[k];
    schur_.at(at, at) = -1 / d_[v];
    for (std::size_t t = program_.first_term(v); t < program_.last_term(v); ++t) {
      const LinearProgram::Term& term = program_.terms[t];
      if (layout_.in_border(term.row)) {
        schur_.at(at, layout_.border_place[term.row]) += term.value;
      } else {
        border_row(layout_.group_with(term.row), layout_.lower[term.row])[at] = term.value;
      }
    }
  }
}

// F, on the diagonals.
void NormalSystem::add_rows() {
  for (std::size_t r = 0; r < program_.rows(); ++r) {
    if (layout_.in_border(r)) {
      schur_.at(layout_.border_place[r], layout_.border_place[r]) += f_[r];
    } else {
      const Group& group = layout_.group_with(r);
      matrices_[group.matrix + layout_.lower[r] * group.lower + layout_.lower[r]] = f_[r];
    }
  }
}

// The outer product of a variable's terms, into its group (lower triangle), its border and the
// Schur complement.
void NormalSystem::add_variable(std::size_t variable, double d) {
  placed_.clear();
  const Group* group = nullptr;
  for (std::size_t t = program_.first_term(variable); t < program_.last_term(variable); ++t) {
    const LinearProgram::Term& term = program_.terms[t];
    const std::size_t place = layout_.border_place[term.row];
    const bool in_border = place != NormalLayout::kNone;
    if (!in_border) group = &layout_.group_with(term.row);
    placed_.push_back({in_border, in_border ? place : layout_.lower[term.row], term.value});
  }
  for (const Placed& a : placed_) {
    // Only the lower triangle is stored, the matrix is symmetric.
    const double product = d * a.value;
    if (a.in_border) {
      double* row = schur_.row(a.place);
      for (const Placed& b : placed_) {
        if (b.in_border && b.place <= a.place) row[b.place] += product * b.value;
      }
      continue;
    }
    double* row = matrices_.data() + group->matrix + a.place * group->lower;
    double* border = border_row(*group, a.place);
    for (const Placed& b : placed_) {
      if (b.in_border) {
        border[b.place] += product * b.value;
      } else if (b.place <= a.place) {
        row[b.place] += product * b.value;
      }
    }
  }
}

// The row that holds a dense column back is the one with the least pivot.
void NormalSystem::find_tightest() {
  for (std::size_t k = 0; k < layout_.wide.size(); ++k) {
    double least = HUGE_VAL;
    const std::size_t v = layout_.wide[k];
    for (std::size_t t = program_.first_term(v); t < program_.last_term(v); ++t) {
      const LinearProgram::Term& term = program_.terms[t];
      double pivot = HUGE_VAL;
      if (!layout_.in_border(term.row)) {
        const Group& group = layout_.group_with(term.row);
        // A diagonal entry of the triangle is the square root of the pivot of its row.
        const double root = matrices_[group.matrix + layout_.lower[term.row] * (group.lower + 1)];
        pivot = root * root;
      } else if (term.row == layout_.promoted[k]) {
        pivot = schur_.at(layout_.links + k, layout_.links + k);
      }
      pivot /= term.value * term.value;
      if (pivot < least) {
        least = pivot;
        tightest_[k] = term.row;
      }
    }
  }
}

// Block elimination: forward through the groups, the Schur complement, back. y is by rows on both
// sides, u by dense columns; an empty u stands for a right side of zeros, and is not wanted.
void NormalSystem::solve_once(std::vector<double>& y, std::vector<double>& u) {
  const std::size_t width = layout_.border;
  std::vector<double>& border = border_right_;
  border.assign(width, 0.0);
  for (std::size_t k = 0; k < u.size(); ++k) border[layout_.border_rows + k] = u[k];
  ordered_.resize(y.size());
  for (std::size_t r = 0; r < y.size(); ++r) {
    if (layout_.in_border(r)) {
      border[layout_.border_place[r]] = y[r];
    } else {
      ordered_[layout_.place[r]] = y[r];
    }
  }
  // Forward: through each group's triangle, and its part off the border.
  for (const Group& group : layout_.groups) {
    double* part = ordered_.data() + group.first;
    solve_forward(matrices_.data() + group.matrix, group.lower, part);
    for (std::size_t i = 0; i < group.lower; ++i) {
      const double* row = border_row(group, i);
      for (std::size_t l = 0; l < width; ++l) border[l] -= row[l] * part[i];
    }
  }
  schur_.solve(border);
  // Back: the border is known now.
  for (const Group& group : layout_.groups) {
    double* part = ordered_.data() + group.first;
    for (std::size_t i = 0; i < group.lower; ++i) {
      part[i] -= dot(border_row(group, i), border.data(), width);
    }
    solve_backward(matrices_.data() + group.matrix, group.lower, part);
  }
  for (std::size_t r = 0; r < y.size(); ++r) {
    y[r] = layout_.in_border(r) ? border[layout_.border_place[r]] : ordered_[layout_.place[r]];
  }
  for (std::size_t k = 0; k < u.size(); ++k) u[k] = border[layout_.border_rows + k];
}

// Iterative refinement: solve for the residual and add the correction while the residual shrinks.
void NormalSystem::solve(const std::vector<double>& right, std::vector<double>& y) {
  y = right;
  std::vector<double> eliminated;
  solve_once(y, eliminated);
  constexpr int kRefinements = 2;
  constexpr double kExact = 1e-14;
  // Without the safeguard a correction from inaccurate factors could increase the error; kept_ is
  // the last y whose residual was smaller.
  double before = HUGE_VAL;
  for (int i = 0; i <= kRefinements; ++i) {
    residual_ = right;
    subtract_product(y, residual_);
    const double left = largest_size(residual_);
    if (!(left < before)) {
      if (i > 0) y = kept_;
      return;
    }
    if (i == kRefinements || left <= kExact * largest_size(right)) return;
    before = left;
    kept_ = y;
    solve_once(residual_, eliminated);
    for (std::size_t r = 0; r < y.size(); ++r) y[r] += residual_[r];
  }
}

double NormalSystem::dot_column(std::size_t variable, const std::vector<double>& rows) const {
  double sum = 0;
  for (std::size_t t = program_.first_term(variable); t < program_.last_term(variable); ++t) {
    sum += program_.terms[t].value * rows[program_.terms[t].row];
  }
  return sum;
}

// left -= (E D E' + F) y.
void NormalSystem::subtract_product(const std::vector<double>& y, std::vector<double>& left) const {
  for (std::size_t r = 0; r < y.size(); ++r) left[r] -= f_[r] * y[r];
  for (std::size_t v = 0; v < program_.variables(); ++v) {
    const std::size_t begin = program_.first_term(v);
    const std::size_t end = program_.last_term(v);
    const double sum = d_[v] * dot_column(v, y);
    for (std::size_t t = begin; t < end; ++t) {
      left[program_.terms[t].row] -= program_.terms[t].value * sum;
    }
  }
}

}  // namespace muster
