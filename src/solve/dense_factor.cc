#include "solve/dense_factor.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace muster {
namespace {

constexpr std::size_t kParts = 4;
using Parts = double __attribute__((vector_size(kParts * sizeof(double))));

constexpr std::size_t kTall = 4;  // rows above that are taken at once
constexpr std::size_t kWide = 2;  // with so many of the bundle

// Entries of kWide rows below kTall finished ones, in the columns of these. All sums are those of
// dot(); `first`, the first of the finished rows, is a multiple of kParts.
inline __attribute__((always_inline)) void finish_tile(double* a, std::size_t n, std::size_t first,
                                                       double* rows) {
  const double* above = a + first * n;
  Parts sums[kTall][kWide] = {};
  for (std::size_t i = 0; i < first; i += kParts) {
    Parts right[kWide];
    for (std::size_t r = 0; r < kWide; ++r) std::memcpy(&right[r], rows + r * n + i, sizeof(Parts));
    for (std::size_t t = 0; t < kTall; ++t) {
      Parts left;
      std::memcpy(&left, above + t * n + i, sizeof left);
      for (std::size_t r = 0; r < kWide; ++r) sums[t][r] += left * right[r];
    }
  }
  for (std::size_t t = 0; t < kTall; ++t) {
    for (std::size_t r = 0; r < kWide; ++r) {
      double* row = rows + r * n;
      const Parts& parts = sums[t][r];
      double sum = parts[0];
      for (std::size_t i = first; i < first + t; ++i) sum += above[t * n + i] * row[i];
      double& entry = row[first + t];
      entry = (entry - ((sum + parts[1]) + (parts[2] + parts[3]))) / above[t * n + first + t];
    }
  }
}

// Rows are finished in bundles, so that the rows above are fetched once for all of a bundle.
inline __attribute__((always_inline)) bool factor(double* a, std::size_t n) {
  constexpr std::size_t kBundle = 16;
  static_assert(kBundle % kTall == 0 && kTall % kParts == 0);
  for (std::size_t begin = 0; begin < n; begin += kBundle) {
    const std::size_t end = std::min(n, begin + kBundle);
    for (std::size_t first = 0; first < begin; first += kTall) {
      std::size_t i = begin;
      for (; i + kWide <= end; i += kWide) finish_tile(a, n, first, a + i * n);
      for (; i < end; ++i) {
        for (std::size_t j = first; j < first + kTall; ++j) {
          a[i * n + j] = (a[i * n + j] - dot(a + j * n, a + i * n, j)) / a[j * n + j];
        }
      }
    }
    for (std::size_t i = begin; i < end; ++i) {
      double* row = a + i * n;
      for (std::size_t j = begin; j < i; ++j) {
        row[j] = (row[j] - dot(row, a + j * n, j)) / a[j * n + j];
      }
      // Near the optimum the matrix is nearly singular. A huge pivot sets the row's component of
      // the solution to about zero instead of stopping, the usual remedy in interior point methods
      // (Wright 1997, chapter 11).
      double pivot = row[i] - dot(row, row, i);
      // What is left of the pivot is rounding: the row depends on others, its dual does not
      // matter.
      if (!(pivot > 1e-15 * row[i])) pivot = row[i] > 0 ? 1e30 * row[i] : 1;
      if (!std::isfinite(pivot)) return false;
      row[i] = std::sqrt(pivot);
    }
  }
  return true;
}

#if defined(__x86_64__)
// The same operations on the same numbers, four at once.
__attribute__((target("avx2"))) bool factor_wide(double* a, std::size_t n) { return factor(a, n); }
#endif

}  // namespace

bool cholesky(double* a, std::size_t n) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return factor_wide(a, n);
#endif
  return factor(a, n);
}

}  // namespace muster
