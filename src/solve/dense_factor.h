// Cholesky factors of symmetric positive definite matrices, A = L L', row by row in plain memory,
// and the triangular systems that are solved with them (Golub and Van Loan, section 4.2).
//
// O(n^3 / 3) to factor, in tiles, so that rows stay in the cache; O(n^2) to solve.
// Sums are taken in four parts whatever the processor, so that results are equal bit for bit.
#pragma once

#include <cstddef>

namespace muster {

inline double dot(const double* a, const double* b, std::size_t n) {
  double sums[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// In place, lower triangle. A row that depends on others is left with a pivot that makes its part
// of any answer zero. False if a number is no longer finite.
bool cholesky(double* a, std::size_t n);

// x becomes the answer of L x = x, and of L' x = x.
inline void solve_forward(const double* a, std::size_t n, double* x) {
  for (std::size_t i = 0; i < n; ++i) x[i] = (x[i] - dot(a + i * n, x, i)) / a[i * n + i];
}
inline void solve_backward(const double* a, std::size_t n, double* x) {
  for (std::size_t i = n; i-- > 0;) {
    x[i] /= a[i * n + i];
    for (std::size_t k = 0; k < i; ++k) x[k] -= a[i * n + k] * x[i];
  }
}

}  // namespace muster
