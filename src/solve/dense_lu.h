// A small dense symmetric system that may be indefinite: LU factors with partial pivoting (Golub
// and Van Loan, section 3.4), after rows and columns were scaled to a diagonal of ones.
//
// Use it where dense_factor.h cannot be: Cholesky's method needs a positive definite matrix. Time:
// O(n^3) to factor, O(n^2) to solve. A column of which nothing is left, because its row depends on
// others, gets a huge pivot, so that its part of the answer is zero.
#pragma once

#include <cstddef>
#include <vector>

namespace muster {

class DenseLu {
 public:
  void resize(std::size_t size);
  std::size_t size() const { return size_; }

  void clear();
  // Only the lower triangle counts; it is gone after factor().
  double* row(std::size_t i) { return matrix_.data() + i * size_; }
  double& at(std::size_t i, std::size_t k) { return matrix_[i * size_ + k]; }

  // False if a number is no longer finite.
  bool factor();
  // Replaces the right side by the answer.
  void solve(std::vector<double>& right);

 private:
  std::size_t size_ = 0;
  std::vector<double> matrix_;      // then its factors
  std::vector<double> scale_;       // of rows and columns
  std::vector<std::size_t> order_;  // of rows, by the pivots
  std::vector<double> answer_;      // scratch
};

}  // namespace muster
