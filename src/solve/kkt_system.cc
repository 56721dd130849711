#include "solve/kkt_system.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace muster {
namespace {

constexpr double kFreeVariable = std::numeric_limits<double>::infinity();

double largest_entry(const std::vector<double>& values, double most = 0) {
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

void add_all(const std::vector<double>& from, std::vector<double>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

}  // namespace

KktSystem::KktSystem(const LinearProgram& program, const std::vector<double>& signs)
    : program_(program), signs_(signs), normal_(program), d_(signs.size()) {}

bool KktSystem::factor(const std::vector<double>& sign_weights,
                       const std::vector<double>& row_weights) {
  sign_weights_ = sign_weights;
  row_weights_ = row_weights;
  // A free variable has no row of signs; in the border of the normal equations 1 / D = 0.
  for (std::size_t v = 0; v < d_.size(); ++v) {
    d_[v] = is_free(v) ? kFreeVariable : sign_weights[v] / (signs_[v] * signs_[v]);
  }
  return normal_.factor(d_, row_weights);
}

void KktSystem::multiply(const std::vector<double>& x, std::vector<double>& product) const {
  product.assign(program_.rows(), 0.0);
  for (std::size_t v = 0; v < x.size(); ++v) {
    for (std::size_t t = program_.first_term(v); t < program_.last_term(v); ++t) {
      product[program_.terms[t].row] += program_.terms[t].value * x[v];
    }
  }
}

double KktSystem::dot_column(std::size_t variable, const std::vector<double>& rows) const {
  double sum = 0;
  for (std::size_t t = program_.first_term(variable); t < program_.last_term(variable); ++t) {
    sum += program_.terms[t].value * rows[program_.terms[t].row];
  }
  return sum;
}

// Block elimination. The rows of signs give their duals, -(sign dx + right) / W. Put into the rows
// of the variables, these give dx = known - D E'dy with known = D right - right of the sign / sign.
// Put into the rows of E, that gives the normal equations (E D E' + W) dy = E known - right.
//
// Dense columns are not eliminated but solved for together with dy, as u = -dx.
void KktSystem::solve_once(const KktVector& right, KktVector& step) {
  const std::size_t n = signs_.size();
  known_.assign(n, 0.0);
  for (std::size_t v = 0; v < n; ++v) {
    if (!is_free(v)) known_[v] = d_[v] * right.x[v] - right.sign[v] / signs_[v];
  }
  wide_.clear();
  for (const std::size_t v : normal_.wide()) {
    wide_.push_back(is_free(v) ? right.x[v] : known_[v] / d_[v]);
    known_[v] = 0;
  }
  // Right side of the normal equations, E known - right.
  multiply(known_, step.row);
  for (std::size_t r = 0; r < step.row.size(); ++r) step.row[r] -= right.row[r];
  normal_.solve_in_place(step.row, wide_);
  // Back substitution: dx from dy, then the duals of the rows of signs.
  step.x.resize(n);
  step.sign.assign(n, 0.0);
  for (std::size_t v = 0; v < n; ++v) {
    if (!is_free(v)) step.x[v] = known_[v] - d_[v] * dot_column(v, step.row);
  }
  for (std::size_t k = 0; k < wide_.size(); ++k) step.x[normal_.wide()[k]] = -wide_[k];
  for (std::size_t v = 0; v < n; ++v) {
    if (is_free(v)) continue;
    step.sign[v] = -(signs_[v] * step.x[v] + right.sign[v]) / sign_weights_[v];
  }
}

// The residual of the whole system, and its largest entry. That of the normal equations alone would
// not show what the elimination has cost.
double KktSystem::find_residual(const KktVector& right, const KktVector& step) {
  const std::size_t n = signs_.size();
  residual_.x.resize(n);
  residual_.sign.assign(n, 0.0);
  residual_.row = right.row;
  for (std::size_t v = 0; v < n; ++v) {
    residual_.x[v] = right.x[v] - dot_column(v, step.row) + signs_[v] * step.sign[v];
    if (is_free(v)) continue;
    residual_.sign[v] = right.sign[v] + signs_[v] * step.x[v] + sign_weights_[v] * step.sign[v];
  }
  multiply(step.x, product_);
  for (std::size_t r = 0; r < product_.size(); ++r) {
    residual_.row[r] -= product_[r] - row_weights_[r] * step.row[r];
  }
  return largest_entry(residual_.x, largest_entry(residual_.sign, largest_entry(residual_.row)));
}

// Iterative refinement: each pass solves for the residual with the same factors, O(terms + rows
// (rows + border) of each group + border^2), and counts only if the residual shrinks.
void KktSystem::solve(const KktVector& right, KktVector& step) {
  solve_once(right, step);
  constexpr int kRefinements = 3;
  constexpr double kExact = 1e-15;
  // The residual is compared with the right side: at machine precision another pass cannot help.
  const double size = largest_entry(right.x, largest_entry(right.sign, largest_entry(right.row)));
  double before = find_residual(right, step);
  for (int i = 0; i < kRefinements && before > kExact * size; ++i) {
    solve_once(residual_, correction_);
    refined_ = step;
    add_all(correction_.x, refined_.x);
    add_all(correction_.sign, refined_.sign);
    add_all(correction_.row, refined_.row);
    const double now = find_residual(right, refined_);
    if (!(now < before)) return;
    before = now;
    std::swap(step, refined_);
  }
}

}  // namespace muster
