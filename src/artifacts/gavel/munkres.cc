#include "artifacts/gavel/munkres.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace muster {
namespace {

constexpr std::size_t kUnset = static_cast<std::size_t>(-1);

// Munkres, "Algorithms for the assignment and transportation problems" (1957), for rows <= columns.
// The reduced costs, what is left after subtraction of the duals of rows and columns, are kept as a
// matrix: where one is zero, the edge is tight and a row may be starred (matched) with a column, at
// most one star to each. A new star is found among zeros outside of covered rows and columns;
// where there is none, the least of what is left there is subtracted. Zeros are looked for row by
// row, from the left, and nothing is done to the numbers but these sums, since the answer among
// equals depends on both.
class Munkres {
 public:
  Munkres(std::span<const double> cost, std::size_t rows, std::size_t columns)
      : rows_(rows),
        columns_(columns),
        left_(cost.begin(), cost.end()),
        row_open_(rows, 1),
        column_open_(columns, 1),
        star_(rows, kUnset),
        prime_(rows, kUnset),
        row_of_star_(columns, kUnset) {}

  std::vector<std::size_t> solve() {
    for (std::size_t i = 0; i < rows_; ++i) begin(i);
    // At most one augmentation per row. Each costs at most `rows` adjustments of the duals, of
    // O(rows columns) each.
    while (cover_stars() < rows_) {
      // Koenig's theorem: the covered lines are a vertex cover of the zeros. If all zeros are
      // covered, the matching among them is of maximum size, and the duals have to move.
      std::size_t end = prime_zeros();
      while (end == kUnset) {
        make_zeros();
        end = prime_zeros();
      }
      move_stars(end);
    }
    return star_;
  }

 private:
  void begin(std::size_t i) {
    double* row = &left_[i * columns_];
    // Step 1: row reduction makes a zero, a tight edge, in each row; greedy stars start the
    // matching.
    const double least = *std::min_element(row, row + columns_);
    for (std::size_t j = 0; j < columns_; ++j) row[j] -= least;
    for (std::size_t j = 0; j < columns_ && star_[i] == kUnset; ++j) {
      if (row[j] == 0 && row_of_star_[j] == kUnset) set_star(i, j);
    }
  }

  void set_star(std::size_t i, std::size_t j) {
    star_[i] = j;
    row_of_star_[j] = i;
  }

  std::size_t cover_stars() {
    std::size_t count = 0;
    for (std::size_t j = 0; j < columns_; ++j) {
      if (row_of_star_[j] == kUnset) continue;
      column_open_[j] = 0;
      ++count;
    }
    return count;
  }

  // Primes zeros until a row without a star has one, and says which; kUnset: there are too few. A
  // row that has a star is covered in place of its star's column, which may open zeros above.
  std::size_t prime_zeros() {
    for (std::size_t i = 0; i < rows_;) {
      const std::size_t j = row_open_[i] != 0 ? open_zero(i) : kUnset;
      if (j == kUnset) {
        ++i;
        continue;
      }
      prime_[i] = j;
      if (star_[i] == kUnset) return i;
      row_open_[i] = 0;
      column_open_[star_[i]] = 1;
      i = 0;
    }
    return kUnset;
  }

  std::size_t open_zero(std::size_t i) const {
    const double* row = &left_[i * columns_];
    for (std::size_t j = 0; j < columns_; ++j) {
      if (column_open_[j] != 0 && row[j] == 0) return j;
    }
    return kUnset;
  }

  // Primes become stars along the path from this row; each drives out the star of its column.
  void move_stars(std::size_t i) {
    while (i != kUnset) {
      const std::size_t j = prime_[i];
      // Stars and primes alternate along the path; exchanging them adds one star.
      const std::size_t driven = row_of_star_[j];
      set_star(i, j);
      i = driven;
    }
    row_open_.assign(rows_, 1);
    column_open_.assign(columns_, 1);
    prime_.assign(rows_, kUnset);
  }

  void make_zeros() {
    // Dual adjustment: the least uncovered reduced cost is subtracted from uncovered columns and
    // added to covered rows. Uncovered entries fall by it, entries covered twice rise, and all stay
    // non-negative.
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < rows_; ++i) {
      const double* row = &left_[i * columns_];
      for (std::size_t j = 0; j < columns_ && row_open_[i] != 0; ++j) {
        if (column_open_[j] != 0) least = std::min(least, row[j]);
      }
    }
    assert(least < std::numeric_limits<double>::infinity() && "costs must be finite");
    for (std::size_t i = 0; i < rows_; ++i) {
      double* row = &left_[i * columns_];
      const double raised = row_open_[i] != 0 ? 0 : least;
      for (std::size_t j = 0; j < columns_; ++j) {
        row[j] += raised;
        row[j] -= column_open_[j] != 0 ? least : 0;
      }
    }
  }

  std::size_t rows_;
  std::size_t columns_;
  std::vector<double> left_;
  std::vector<char> row_open_;
  std::vector<char> column_open_;
  std::vector<std::size_t> star_;         // of each row: its column
  std::vector<std::size_t> prime_;        // likewise
  std::vector<std::size_t> row_of_star_;  // of each column
};

}  // namespace

std::vector<std::size_t> assign_rows_by_munkres(std::span<const double> cost, std::size_t rows,
                                                std::size_t columns) {
  assert(rows <= columns && cost.size() == rows * columns);
  return Munkres(cost, rows, columns).solve();
}

}  // namespace muster
