// Cuts a feature into bins (histogram binning, as in LightGBM and the explainable boosting
// machine), so that its effect becomes a short table and training sums over bins instead of sorting
// rows. Bins hold about equal numbers of rows (quantile binning), or are of equal width. Bin 0 is
// for missing values; a category that was not seen in training has no bin and no effect.
//
// Making them costs one sort, O(n log n); finding a bin O(log bins). Cuts ascend strictly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "learn/features.h"

namespace muster {

inline constexpr int kNoBin = -1;

// How many of `cuts` are at most `value`. Halving without branches: where a value falls cannot be
// guessed by the processor.
inline std::size_t cuts_up_to(const std::vector<double>& cuts, double value) {
  const double* from = cuts.data();
  std::size_t left = cuts.size();
  while (left > 0) {
    const std::size_t half = (left + 1) / 2;
    from += half & (std::size_t{0} - static_cast<std::size_t>(from[half - 1] <= value));
    left -= half;
  }
  return static_cast<std::size_t>(from - cuts.data());
}

struct Bins {
  bool categorical = false;
  int categories = 0;        // of a categorical feature: bin = category + 1
  std::vector<double> cuts;  // of numbers: bin k + 1 holds values from cuts[k - 1] below cuts[k]

  int count() const { return 1 + (categorical ? categories : static_cast<int>(cuts.size()) + 1); }
  int of(double value) const {
    if (std::isnan(value)) return categorical ? kNoBin : 0;
    if (categorical) {
      const int category = static_cast<int>(value);
      return category < categories ? category + 1 : kNoBin;
    }
    return 1 + static_cast<int>(cuts_up_to(cuts, value));
  }

  // At most `most` bins beside the missing one, with as equal counts as distinct values allow, or,
  // if `uniform`, of equal width. Of values in order, as sorted_values() makes them.
  static Bins of_numbers(std::span<const double> sorted, int most, bool uniform);
  static Bins of_categories(int count);
};

// Ascending, without those that are missing. Infinities count as none here, and fall into the
// outermost bins.
std::vector<double> sorted_values(std::span<const double> values);

}  // namespace muster
