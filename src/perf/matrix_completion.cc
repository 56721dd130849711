#include "perf/matrix_completion.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/random.h"

namespace muster {
namespace {

// A symmetric positive definite system, small and dense, by Cholesky's decomposition.
class SmallSystem {
 public:
  explicit SmallSystem(std::size_t size) : size_(size), matrix_(size * size), right_(size) {}

  void reset(double diagonal) {
    std::fill(matrix_.begin(), matrix_.end(), 0.0);
    std::fill(right_.begin(), right_.end(), 0.0);
    for (std::size_t i = 0; i < size_; ++i) matrix_[i * size_ + i] = diagonal;
  }
  // Adds an equation: vector . x = value, in the sense of least squares.
  void add(const double* vector, double value) {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j <= i; ++j) matrix_[i * size_ + j] += vector[i] * vector[j];
      right_[i] += vector[i] * value;
    }
  }
  void solve(double* answer) {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = matrix_[i * size_ + j];
        for (std::size_t k = 0; k < j; ++k) sum -= matrix_[i * size_ + k] * matrix_[j * size_ + k];
        matrix_[i * size_ + j] = i == j ? std::sqrt(sum) : sum / matrix_[j * size_ + j];
      }
    }
    for (std::size_t i = 0; i < size_; ++i) {
      double sum = right_[i];
      for (std::size_t k = 0; k < i; ++k) sum -= matrix_[i * size_ + k] * answer[k];
      answer[i] = sum / matrix_[i * size_ + i];
    }
    for (std::size_t i = size_; i-- > 0;) {
      double sum = answer[i];
      for (std::size_t k = i + 1; k < size_; ++k) sum -= matrix_[k * size_ + i] * answer[k];
      answer[i] = sum / matrix_[i * size_ + i];
    }
  }

 private:
  std::size_t size_;
  std::vector<double> matrix_;  // its lower half
  std::vector<double> right_;
};

double dot(const double* a, const double* b, std::size_t size) {
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

std::optional<std::vector<double>> complete_matrix(std::span<const double> cells,
                                                   std::span<const char> known, std::size_t rows,
                                                   std::size_t columns,
                                                   const CompletionOptions& options) {
  assert(cells.size() == rows * columns && known.size() == cells.size() && options.rank > 0);
  bool any = false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (known[i] == 0) continue;
    if (!std::isfinite(cells[i])) return std::nullopt;
    any = true;
  }
  if (!any) return std::nullopt;
  const auto rank = static_cast<std::size_t>(options.rank);
  Random random(options.seed, "matrix completion");
  std::vector<double> of_row(rows * rank);
  std::vector<double> of_column(columns * rank);
  for (double& factor : of_row) factor = random.normal(0, 1);
  for (double& factor : of_column) factor = random.normal(0, 1);
  std::vector<double> answer(cells.size(), 0.0);
  SmallSystem system(rank);
  for (int sweep = 0; sweep < options.sweeps; ++sweep) {
    for (std::size_t r = 0; r < rows; ++r) {
      system.reset(options.ridge);
      for (std::size_t c = 0; c < columns; ++c) {
        const std::size_t at = r * columns + c;
        if (known[at] != 0) system.add(&of_column[c * rank], cells[at]);
      }
      system.solve(&of_row[r * rank]);
    }
    for (std::size_t c = 0; c < columns; ++c) {
      system.reset(options.ridge);
      for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t at = r * columns + c;
        if (known[at] != 0) system.add(&of_row[r * rank], cells[at]);
      }
      system.solve(&of_column[c * rank]);
    }
    double change = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        const double now = dot(&of_row[r * rank], &of_column[c * rank], rank);
        change += std::abs(now - answer[r * columns + c]);
        answer[r * columns + c] = now;
      }
    }
    if (!std::isfinite(change)) return std::nullopt;
    if (change < options.tolerance * static_cast<double>(cells.size())) break;
  }
  return answer;
}

}  // namespace muster
