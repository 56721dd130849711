// Steps on single features without passes over the rows, for squared error: "covariance updates"
// (Friedman, Hastie and Tibshirani, "Regularization paths for generalized linear models via
// coordinate descent", 2010, section 2.2). Used by learn/ebm_bag.cc alone.
//
// A step on feature f adds step[b] to the residual of every row in bin b of f. The sum of the
// gradients in bin c of feature g then changes by -sum over b of step[b] N[b][c], where N counts
// the rows in both bins. With all these counts in tables, the sums of all features stay up to date
// and no row is read. The sum of the squared residuals, which is all that the validation error
// needs, changes by the sum over b of step[b]^2 n[b] - 2 step[b] G[b].
//
// A step is constant over few ranges of bins. Counts are cumulated over the bins of a number, so
// that each end of a range costs one line of the table; categories, which are cut in another order
// every time, cost a line each, but lines are added up in integers first. O(bins of all features)
// for a step, times the categories for those; the number of rows does not matter.
//
// Invariant: sums are those of the residuals of all rows of the part, except for rounding. They are
// kept in double precision: after thousands of steps they are off by about 1e-15 of what they began
// with, less than what scores in single precision lose (a test watches that).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "learn/ebm_rows.h"

namespace muster {

// Where each bin of each feature stands in the tables, a bag's rows being known. The same for all
// bags of the same rows.
class CountPlan {
 public:
  explicit CountPlan(const std::vector<TermCells>& features);

  // Of the tables of both parts of the rows. Counts have 16 bits, but 32 in the columns of a
  // feature where more rows than that share a bin.
  std::size_t bytes() const { return 2 * lines_ * (2 * narrow_ + 4 * wide_); }
  // Whether steps by tables are worth their memory and take less time than passes over the rows.
  // The tables of a bag may have kMostCountBytes. Time: a pass reads every row for every feature.
  // That costs as much as four counts of a table, of which the processor takes several at a time;
  // kCountsPerRow is less, because counting itself takes as long as some hundred rounds. With few
  // rows, or with thousands of categories, passes win.
  bool worth(int max_leaves) const;

 private:
  friend class BinCounts;
  struct Place {
    int bins = 0;  // one more for rows without a bin
    bool categorical = false;
    bool wide = false;
    std::size_t line = 0;    // of its first bin
    std::size_t column = 0;  // of its first bin, in the table of its width
  };
  std::vector<Place> places_;
  std::size_t rows_ = 0;
  std::size_t lines_ = 0;
  std::size_t narrow_ = 0;  // columns of 16 bits
  std::size_t wide_ = 0;    // of 32
};

inline constexpr std::size_t kMostCountBytes = std::size_t{48} << 20;
inline constexpr double kCountsPerRow = 2;

// What the counts keep up to date: sums over the rows of one part of a bag.
struct BinSums {
  std::vector<double> gradient;  // by bin of all features, except for `moved` in every row
  double moved = 0;              // what all rows were moved by
  double square = 0;             // of the residuals
};

class BinCounts {
 public:
  // Counts the rows [begin, end) of the bag, O(rows x features^2). Asks once for each feature
  // whether to stop; the counts are not whole then.
  BinCounts(const CountPlan& plan, const std::vector<TermCells>& features, std::size_t begin,
            std::size_t end, const EbmOptions& options);

  // Sums up the residuals of the rows, one pass for each feature.
  BinSums sum_up(const std::vector<TermCells>& features, const std::vector<float>& residual) const;
  // The sums of the gradient by bin of one feature.
  void read(const BinSums& sums, std::size_t feature, std::vector<double>& gradient) const;
  // How many rows are in each bin.
  const std::vector<double>& rows(std::size_t feature) const { return rows_[feature]; }
  // Adds step[b] to the residual of every row in bin b.
  void take(std::size_t feature, const std::vector<double>& step, BinSums& sums) const;

 private:
  void cut_number(const CountPlan::Place& place, const std::vector<double>& rows,
                  const std::vector<double>& step, BinSums& sums) const;
  void cut_categories(const CountPlan::Place& place, const std::vector<double>& rows,
                      const std::vector<double>& step, BinSums& sums) const;
  void move(double by, std::span<const std::size_t> lines, BinSums& sums) const;
  std::size_t first_sum(const CountPlan::Place& place) const {
    return place.column + (place.wide ? plan_.narrow_ : 0);
  }

  const CountPlan& plan_;
  std::size_t begin_;
  std::size_t end_;
  std::vector<std::vector<double>> rows_;  // by feature, then bin
  // Line by line; of a number, line b counts the rows of all bins up to b.
  std::vector<std::uint16_t> narrow_;
  std::vector<std::int32_t> wide_;
};

}  // namespace muster
