#include "solve/dense_lu.h"

#include <algorithm>
#include <cmath>

namespace muster {

void DenseLu::resize(std::size_t size) {
  size_ = size;
  matrix_.resize(size * size);
  scale_.resize(size);
  order_.resize(size);
}

void DenseLu::clear() { std::fill(matrix_.begin(), matrix_.end(), 0.0); }

// Gaussian elimination with partial pivoting (Golub and Van Loan, section 3.4), after scaling rows
// and columns by the roots of the diagonal, which keeps the matrix symmetric. O(n^3). A pivot of
// zero becomes huge, which makes that component of the answer zero: the system is used near optima,
// where it may lose rank.
bool DenseLu::factor() {
  for (std::size_t i = 0; i < size_; ++i) {
    const double diagonal = std::abs(at(i, i));
    scale_[i] = diagonal > 0 ? 1 / std::sqrt(diagonal) : 1;
    order_[i] = i;
  }
  for (std::size_t i = 0; i < size_; ++i) {
    for (std::size_t k = 0; k <= i; ++k) {
      at(i, k) *= scale_[i] * scale_[k];
      at(k, i) = at(i, k);
    }
  }
  for (std::size_t c = 0; c < size_; ++c) {
    // The largest entry of the column as pivot: all multipliers stay within one.
    std::size_t best = c;
    for (std::size_t i = c + 1; i < size_; ++i) {
      if (std::abs(at(i, c)) > std::abs(at(best, c))) best = i;
    }
    if (best != c) {
      std::swap_ranges(row(c), row(c) + size_, row(best));
      std::swap(order_[c], order_[best]);
    }
    if (!std::isfinite(at(c, c))) return false;
    if (at(c, c) == 0) at(c, c) = 1e30;
    for (std::size_t i = c + 1; i < size_; ++i) {
      const double factor = at(i, c) /= at(c, c);
      for (std::size_t k = c + 1; k < size_; ++k) at(i, k) -= factor * at(c, k);
    }
  }
  return true;
}

// P A = L U: forward through the unit triangle L, back through U, both on the scaled system.
// O(n^2).
void DenseLu::solve(std::vector<double>& right) {
  std::vector<double>& x = answer_;
  x.resize(size_);
  for (std::size_t i = 0; i < size_; ++i) {
    x[i] = right[order_[i]] * scale_[order_[i]];
    for (std::size_t k = 0; k < i; ++k) x[i] -= at(i, k) * x[k];
  }
  for (std::size_t i = size_; i-- > 0;) {
    for (std::size_t k = i + 1; k < size_; ++k) x[i] -= at(i, k) * x[k];
    x[i] /= at(i, i);
  }
  for (std::size_t i = 0; i < size_; ++i) right[i] = x[i] * scale_[i];
}

}  // namespace muster
