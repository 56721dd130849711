#include "solve/assignment.h"

#include <cassert>
#include <limits>
#include <utility>

namespace muster {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Rows are added one by one. Invariant after each: reduced costs are not negative, and those of
// assigned pairs are zero, so that the assignment is optimal for the rows so far.
class Assignment {
 public:
  Assignment(std::span<const double> cost, std::size_t rows, std::size_t columns)
      : cost_(cost),
        rows_(rows),
        columns_(columns),
        row_dual_(rows, 0.0),
        column_dual_(columns, 0.0),
        distance_(columns),
        path_(columns, kNone),
        column_of_(rows, kNone),
        row_of_(columns, kNone),
        row_seen_(rows),
        column_seen_(columns),
        remaining_(columns) {}

  std::vector<std::size_t> solve() {
    for (std::size_t row = 0; row < rows_; ++row) add(row);
    return std::move(column_of_);
  }

 private:
  // Assigns one more row: augments along the shortest path, and moves the duals so that the path's
  // edges are tight and no reduced cost is negative.
  void add(std::size_t row) {
    double length = 0;
    const std::size_t sink = shortest_path(row, length);
    // The Hungarian update of the potentials: vertices that Dijkstra's search has settled move by
    // what their distance lacks to the length of the path.
    row_dual_[row] += length;
    for (std::size_t i = 0; i < rows_; ++i) {
      if (row_seen_[i] != 0 && i != row) row_dual_[i] += length - distance_[column_of_[i]];
    }
    for (std::size_t j = 0; j < columns_; ++j) {
      if (column_seen_[j] != 0) column_dual_[j] -= length - distance_[j];
    }
    // Back along the path: each row takes the column that it reached, and gives up its own.
    std::size_t j = sink;
    for (;;) {
      const std::size_t i = path_[j];
      row_of_[j] = i;
      std::swap(column_of_[i], j);
      if (i == row) break;
    }
  }

  // Dijkstra's search from an unassigned row to the nearest unassigned column, in reduced costs:
  // the shortest augmenting path.
  std::size_t shortest_path(std::size_t row, double& length) {
    std::size_t left = columns_;
    // Filled from the end, so that equal costs everywhere are answered with the diagonal.
    for (std::size_t k = 0; k < columns_; ++k) remaining_[k] = columns_ - k - 1;
    row_seen_.assign(rows_, 0);
    column_seen_.assign(columns_, 0);
    distance_.assign(columns_, std::numeric_limits<double>::infinity());
    for (std::size_t i = row;;) {
      std::size_t nearest = kNone;
      double lowest = std::numeric_limits<double>::infinity();
      row_seen_[i] = 1;
      for (std::size_t k = 0; k < left; ++k) {
        const std::size_t j = remaining_[k];
        const double reduced = length + cost_[i * columns_ + j] - row_dual_[i] - column_dual_[j];
        if (reduced < distance_[j]) {
          path_[j] = i;
          distance_[j] = reduced;
        }
        // Of equally near columns a free one is better: it ends the search.
        if (distance_[j] < lowest || (distance_[j] == lowest && row_of_[j] == kNone)) {
          lowest = distance_[j];
          nearest = k;
        }
      }
      assert(nearest != kNone && "costs must be finite");
      length = lowest;
      // The nearest column is final, because reduced costs are not negative (Dijkstra 1959). If it
      // is assigned, its row continues the alternating path at no cost.
      const std::size_t j = remaining_[nearest];
      column_seen_[j] = 1;
      remaining_[nearest] = remaining_[--left];
      if (row_of_[j] == kNone) return j;
      i = row_of_[j];
    }
  }

  std::span<const double> cost_;
  std::size_t rows_;
  std::size_t columns_;
  std::vector<double> row_dual_;
  std::vector<double> column_dual_;
  std::vector<double> distance_;
  std::vector<std::size_t> path_;
  std::vector<std::size_t> column_of_;
  std::vector<std::size_t> row_of_;
  std::vector<char> row_seen_;
  std::vector<char> column_seen_;
  std::vector<std::size_t> remaining_;
};

}  // namespace

std::vector<std::size_t> assign_rows(std::span<const double> cost, std::size_t rows,
                                     std::size_t columns) {
  assert(rows <= columns && cost.size() == rows * columns);
  return Assignment(cost, rows, columns).solve();
}

}  // namespace muster
