// Part of solve/normal_system.h, where reference and complexity are; the invariant is in
// solve/normal_layout.h.
//
// The groups of the normal equations, each factored into a triangle and eliminated from the border.
#include <algorithm>
#include <cmath>

#include "solve/dense_factor.h"
#include "solve/normal_system.h"

namespace muster {

// The rows of a QR factorisation: the square roots of D times the group's columns, and below them
// the square roots of F.
void NormalSystem::stack_roots(const Group& group, std::size_t width, std::size_t height) {
  const std::size_t rows = group.lower;
  stack_.assign(height * width, 0.0);
  for (std::size_t i = group.variables; i < group.end; ++i) {
    const std::size_t v = layout_.by_group[i];
    const double root = std::sqrt(d_[v]);
    double* line = stack_.data() + (i - group.variables) * width;
    for (std::size_t t = program_.first_term(v); t < program_.last_term(v); ++t) {
      const LinearProgram::Term& term = program_.terms[t];
      const std::size_t column = layout_.in_border(term.row) ? rows + layout_.border_place[term.row]
                                                             : layout_.lower[term.row];
      line[column] += root * term.value;
    }
  }
  const double* matrix = matrices_.data() + group.matrix;
  for (std::size_t r = 0; r < rows; ++r) {
    stack_[(height - rows + r) * width + r] = std::sqrt(matrix[r * rows + r]);
  }
}

// Householder's reflection of the lines from `column` on, which leaves zeros below the first.
void NormalSystem::reflect_column(std::size_t column, std::size_t width, std::size_t height) {
  // The largest line goes first: small ones would drown in the others.
  std::size_t best = column;
  for (std::size_t i = column + 1; i < height; ++i) {
    if (std::abs(stack_[i * width + column]) > std::abs(stack_[best * width + column])) best = i;
  }
  double* head = stack_.data() + column * width;
  if (best != column) {
    std::swap_ranges(head + column, head + width, stack_.data() + best * width + column);
  }
  double below = 0;
  for (std::size_t i = column + 1; i < height; ++i) {
    below += stack_[i * width + column] * stack_[i * width + column];
  }
  if (!(below > 0)) return;
  const double norm = std::copysign(std::sqrt(head[column] * head[column] + below), head[column]);
  const double first = head[column] + norm;
  // All columns at once, line by line.
  double* part = parts_.data();
  for (std::size_t k = column + 1; k < width; ++k) part[k] = head[k] * first;
  for (std::size_t i = column + 1; i < height; ++i) {
    const double* line = stack_.data() + i * width;
    const double factor = line[column];
    for (std::size_t k = column + 1; k < width; ++k) part[k] += factor * line[k];
  }
  for (std::size_t k = column + 1; k < width; ++k) {
    part[k] /= norm * first;
    head[k] -= part[k] * first;
  }
  for (std::size_t i = column + 1; i < height; ++i) {
    double* line = stack_.data() + i * width;
    const double factor = line[column];
    for (std::size_t k = column + 1; k < width; ++k) line[k] -= part[k] * factor;
  }
  head[column] = -norm;
}

// A small group. The triangle R of the factorisation is the transpose of the group's factor, and
// what is left below it, in the columns of the border, is what the border sees of the group.
void NormalSystem::factor_by_qr(const Group& group) {
  const std::size_t rows = group.lower;
  const std::size_t width = rows + layout_.border_rows;
  const std::size_t height = group.end - group.variables + rows;
  parts_.resize(std::max(parts_.size(), width));
  stack_roots(group, width, height);
  double* matrix = matrices_.data() + group.matrix;
  for (std::size_t c = 0; c < rows; ++c) {
    reflect_column(c, width, height);
    const double* head = stack_.data() + c * width;
    for (std::size_t k = c; k < rows; ++k) matrix[k * rows + c] = head[k];
    double* border = border_row(group, c);
    for (std::size_t l = 0; l < layout_.border_rows; ++l) border[l] = head[rows + l];
  }
  for (std::size_t i = rows; i < height; ++i) {
    const double* line = stack_.data() + i * width + rows;
    for (std::size_t a = 0; a < layout_.border_rows; ++a) {
      for (std::size_t b = 0; b <= a; ++b) schur_.at(a, b) += line[a] * line[b];
    }
  }
}

// A large group.
bool NormalSystem::factor_by_cholesky(const Group& group) {
  for (std::size_t i = group.variables; i < group.end; ++i) {
    add_variable(layout_.by_group[i], d_[layout_.by_group[i]]);
  }
  if (!cholesky(matrices_.data() + group.matrix, group.lower)) return false;
  eliminate_border(group, 0, layout_.border_rows);
  return true;
}

// Solves with the group's triangle for the columns [from, to) of its border, and subtracts their
// products from the Schur complement.
void NormalSystem::eliminate_border(const Group& group, std::size_t from, std::size_t to) {
  const double* matrix = matrices_.data() + group.matrix;
  for (std::size_t i = 0; i < group.lower && from < to; ++i) {
    double* row = border_row(group, i);
    for (std::size_t k = 0; k < i; ++k) {
      const double factor = matrix[i * group.lower + k];
      const double* above = border_row(group, k);
      for (std::size_t l = from; l < to; ++l) row[l] -= factor * above[l];
    }
    for (std::size_t l = from; l < to; ++l) row[l] /= matrix[i * group.lower + i];
    for (std::size_t a = from; a < to; ++a) {
      for (std::size_t b = 0; b <= a; ++b) schur_.at(a, b) -= row[a] * row[b];
    }
  }
}

}  // namespace muster
