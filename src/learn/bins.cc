#include "learn/bins.h"

namespace muster {

Bins Bins::of_categories(int count) {
  Bins bins;
  bins.categorical = true;
  bins.categories = count;
  return bins;
}

std::vector<double> sorted_values(std::span<const double> values) {
  std::vector<double> sorted;
  sorted.reserve(values.size());
  for (const double value : values) {
    if (std::isfinite(value)) sorted.push_back(value);
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// Cuts lie half way between neighbouring values, so that a value that was seen never lies on one.
// One pass over the values.
Bins Bins::of_numbers(std::span<const double> sorted, int most, bool uniform) {
  Bins bins;
  if (sorted.empty()) return bins;
  const double low = sorted.front();
  const double high = sorted.back();
  if (low == high || most < 2) return bins;
  // Bins of equal width keep the shape of the axis, but rare extreme values then leave most bins
  // empty.
  if (uniform) {
    for (int i = 1; i < most; ++i) bins.cuts.push_back(low + (high - low) * i / most);
    bins.cuts.erase(std::unique(bins.cuts.begin(), bins.cuts.end()), bins.cuts.end());
    return bins;
  }
  // A value that is frequent takes a bin of its own; the others share what is left.
  const std::size_t rows = sorted.size();
  std::size_t begin = 0;
  int left = most;
  while (begin < rows && left > 1) {
    const std::size_t want =
        std::max<std::size_t>(1, (rows - begin) / static_cast<std::size_t>(left));
    std::size_t end = std::min(rows, begin + want);
    while (end < rows && sorted[end] == sorted[end - 1]) ++end;
    if (end == rows) break;
    bins.cuts.push_back(sorted[end - 1] + (sorted[end] - sorted[end - 1]) / 2);
    // Neighbouring doubles have no middle: the cut must lie above the lower one.
    if (bins.cuts.back() <= sorted[end - 1]) bins.cuts.back() = sorted[end];
    begin = end;
    --left;
  }
  return bins;
}

}  // namespace muster
