#include "solve/symmetric_factor.h"

#include <algorithm>
#include <amd.h>

namespace muster {

SymmetricFactor::SymmetricFactor(const std::vector<Entry>& entries,
                                 const std::vector<signed char>& signs)
    : size_(static_cast<std::int32_t>(signs.size())) {
  order(entries, signs);
  find_tree();
  below_.resize(first_.back());
  lower_.resize(first_.back());
  pivots_.resize(signs.size());
  line_.assign(signs.size(), 0.0);
  reached_.resize(signs.size());
  path_.resize(signs.size());
}

void SymmetricFactor::order(const std::vector<Entry>& entries,
                            const std::vector<signed char>& signs) {
  const std::size_t n = signs.size();
  std::vector<std::int32_t> columns(n + 1, 0);
  std::vector<std::int32_t> rows;
  for (const Entry& entry : entries) {
    ++columns[static_cast<std::size_t>(entry.column) + 1];
    rows.push_back(entry.row);
  }
  for (std::size_t c = 0; c < n; ++c) columns[c + 1] += columns[c];
  std::vector<std::int32_t> sequence(n);
  amd_order(size_, columns.data(), rows.data(), sequence.data(), nullptr, nullptr);
  place_.resize(n);
  signs_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(sequence[i]);
    place_[row] = static_cast<std::int32_t>(i);
    signs_[i] = signs[row];
  }
  const auto at = [&](const Entry& entry) {
    const std::int32_t a = place_[static_cast<std::size_t>(entry.row)];
    const std::int32_t b = place_[static_cast<std::size_t>(entry.column)];
    return Entry{std::min(a, b), std::max(a, b)};
  };
  starts_.assign(n + 1, 0);
  for (const Entry& entry : entries) ++starts_[static_cast<std::size_t>(at(entry).column) + 1];
  for (std::size_t c = 0; c < n; ++c) starts_[c + 1] += starts_[c];
  std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
  rows_.resize(entries.size());
  entry_of_.resize(entries.size());
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const Entry placed = at(entries[e]);
    const std::size_t to = next[static_cast<std::size_t>(placed.column)]++;
    rows_[to] = placed.row;
    entry_of_[to] = e;
  }
}

// A row's parent is the first row below that its column of L touches (Davis: Direct Methods for
// Sparse Linear Systems, chapter 4).
void SymmetricFactor::find_tree() {
  constexpr std::int32_t kRoot = -1;
  const auto n = static_cast<std::size_t>(size_);
  parent_.assign(n, kRoot);
  seen_.assign(n, kRoot);
  std::vector<std::size_t> counts(n, 0);
  for (std::int32_t c = 0; c < size_; ++c) {
    seen_[static_cast<std::size_t>(c)] = c;
    for (std::size_t e = starts_[static_cast<std::size_t>(c)];
         e < starts_[static_cast<std::size_t>(c) + 1]; ++e) {
      for (auto r = static_cast<std::size_t>(rows_[e]); seen_[r] != c;
           r = static_cast<std::size_t>(parent_[r])) {
        if (parent_[r] == kRoot) parent_[r] = c;
        ++counts[r];
        seen_[r] = c;
      }
    }
  }
  first_.assign(n + 1, 0);
  for (std::size_t c = 0; c < n; ++c) first_[c + 1] = first_[c] + counts[c];
}

std::size_t SymmetricFactor::reach(std::int32_t column, const std::vector<double>& values) {
  auto top = static_cast<std::size_t>(size_);
  const auto c = static_cast<std::size_t>(column);
  seen_[c] = column;
  for (std::size_t e = starts_[c]; e < starts_[c + 1]; ++e) {
    auto r = static_cast<std::size_t>(rows_[e]);
    line_[r] = values[entry_of_[e]];
    std::size_t length = 0;
    for (; seen_[r] != column; r = static_cast<std::size_t>(parent_[r])) {
      path_[length++] = static_cast<std::int32_t>(r);
      seen_[r] = column;
    }
    while (length > 0) reached_[--top] = path_[--length];
  }
  return top;
}

void SymmetricFactor::factor(const std::vector<double>& values) {
  constexpr double kNone = 1e-13;
  constexpr double kSmall = 2e-7;
  filled_.assign(first_.begin(), first_.end() - 1);
  std::fill(seen_.begin(), seen_.end(), -1);
  for (std::int32_t row = 0; row < size_; ++row) {
    const auto k = static_cast<std::size_t>(row);
    std::size_t top = reach(row, values);
    double pivot = line_[k];
    line_[k] = 0;
    for (; top < reached_.size(); ++top) {
      const auto c = static_cast<std::size_t>(reached_[top]);
      const double value = line_[c];
      line_[c] = 0;
      for (std::size_t e = first_[c]; e < filled_[c]; ++e) {
        line_[static_cast<std::size_t>(below_[e])] -= lower_[e] * value;
      }
      const double part = value / pivots_[c];
      pivot -= part * value;
      below_[filled_[c]] = row;
      lower_[filled_[c]++] = part;
    }
    const double sign = signs_[k];
    pivots_[k] = sign * pivot <= kNone ? sign * kSmall : pivot;
  }
}

void SymmetricFactor::solve(std::vector<double>& x) {
  const auto n = static_cast<std::size_t>(size_);
  ordered_.resize(n);
  for (std::size_t r = 0; r < n; ++r) ordered_[static_cast<std::size_t>(place_[r])] = x[r];
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t e = first_[c]; e < first_[c + 1]; ++e) {
      ordered_[static_cast<std::size_t>(below_[e])] -= lower_[e] * ordered_[c];
    }
  }
  for (std::size_t c = 0; c < n; ++c) ordered_[c] /= pivots_[c];
  for (std::size_t c = n; c-- > 0;) {
    for (std::size_t e = first_[c]; e < first_[c + 1]; ++e) {
      ordered_[c] -= lower_[e] * ordered_[static_cast<std::size_t>(below_[e])];
    }
  }
  for (std::size_t r = 0; r < n; ++r) x[r] = ordered_[static_cast<std::size_t>(place_[r])];
}

}  // namespace muster
