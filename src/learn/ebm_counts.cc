#include "learn/ebm_counts.h"

#include <algorithm>
#include <array>
#include <limits>

namespace muster {
namespace {

// One block of a table: rows by bin of the feature of its lines and of that of its columns.
template <typename Count>
void count_rows(const Cells& lines, const Cells& columns, std::size_t begin, std::size_t end,
                std::size_t width, Count* block) {
  for (std::size_t i = begin; i < end; ++i) ++block[lines[i] * width + columns[i]];
}

// By itself: g++ takes eight counts at a time here, but merges the loop with one over lines
// instead.
template <typename Count>
[[gnu::noinline]] void add(const Count* more, std::size_t size, Count* sums) {
  for (std::size_t c = 0; c < size; ++c) sums[c] = static_cast<Count>(sums[c] + more[c]);
}

// sums[c] -= by x the counts of all these lines in column c. In pieces that stay in the cache; the
// counts of a column add up to no more than its rows, so that a sum has the width of a count.
template <typename Count>
void subtract(double by, std::span<const std::size_t> lines, const std::vector<Count>& table,
              std::size_t width, double* sums) {
  constexpr std::size_t kPiece = 4096;
  std::array<Count, kPiece> added;
  for (std::size_t from = 0; from < width; from += kPiece) {
    const std::size_t size = std::min(kPiece, width - from);
    const Count* counts = table.data() + lines.front() * width + from;
    if (lines.size() > 1) {
      std::copy(counts, counts + size, added.begin());
      for (const std::size_t line : lines.subspan(1)) {
        const Count* more = table.data() + line * width + from;
        add(more, size, added.data());
      }
      counts = added.data();
    }
    double* mine = sums + from;
    for (std::size_t c = 0; c < size; ++c) mine[c] -= by * static_cast<double>(counts[c]);
  }
}

}  // namespace

// Where everything lies: a line for each bin of each feature, and in it a column for each bin of
// each other. Counts are 16 bits wide unless some bin has more rows than that holds.
CountPlan::CountPlan(const std::vector<TermCells>& features) {
  for (const TermCells& feature : features) {
    Place place;
    place.bins = feature.count + 1;
    place.categorical = feature.categorical;
    std::vector<std::size_t> rows(static_cast<std::size_t>(place.bins), 0);
    for (const std::uint16_t cell : feature.cells) ++rows[cell];
    place.wide =
        *std::max_element(rows.begin(), rows.end()) > std::numeric_limits<std::uint16_t>::max();
    std::size_t& columns = place.wide ? wide_ : narrow_;
    place.line = lines_;
    place.column = columns;
    lines_ += rows.size();
    columns += rows.size();
    rows_ = feature.cells.size();
    places_.push_back(place);
  }
}

// Whether counts are cheaper than rows: lines of a round times the width of the table, against rows
// times features. Jobs of a trace have few distinct values, so mostly they are.
bool CountPlan::worth(int max_leaves) const {
  if (bytes() > kMostCountBytes) return false;
  double lines = 0;  // that a round reads
  for (const Place& place : places_) {
    lines += place.categorical ? place.bins / 4.0 : std::min(place.bins, max_leaves);
  }
  const auto columns = static_cast<double>(narrow_ + wide_);
  return 2 * lines * columns <
         kCountsPerRow * static_cast<double>(rows_) * static_cast<double>(places_.size());
}

BinCounts::BinCounts(const CountPlan& plan, const std::vector<TermCells>& features,
                     std::size_t begin, std::size_t end, const EbmOptions& options)
    : plan_(plan),
      begin_(begin),
      end_(end),
      narrow_(plan.lines_ * plan.narrow_, 0),
      wide_(plan.lines_ * plan.wide_, 0) {
  for (std::size_t f = 0; f < features.size() && !options.stopped(); ++f) {
    const CountPlan::Place& place = plan.places_[f];
    const auto bins = static_cast<std::size_t>(place.bins);
    std::vector<double>& rows = rows_.emplace_back(bins, 0);
    for (std::size_t i = begin; i < end; ++i) rows[features[f].cells[i]] += 1;
    const auto fill = [&](bool wide, std::size_t width, auto& table) {
      auto* const first = table.data() + place.line * width;
      for (std::size_t g = 0; g < features.size(); ++g) {
        if (plan.places_[g].wide != wide) continue;
        count_rows(features[f].cells, features[g].cells, begin, end, width,
                   first + plan.places_[g].column);
      }
      // For numbers a line holds the rows up to its bin (a prefix sum): a cut moves all rows on one
      // side, which is then one line.
      if (place.categorical) return;
      for (std::size_t k = width; k < bins * width; ++k) {
        first[k] =
            static_cast<std::remove_reference_t<decltype(*first)>>(first[k] + first[k - width]);
      }
    };
    fill(false, plan.narrow_, narrow_);
    fill(true, plan.wide_, wide_);
  }
}

// The only pass over the rows: the state that rounds start from.
BinSums BinCounts::sum_up(const std::vector<TermCells>& features,
                          const std::vector<float>& residual) const {
  BinSums sums;
  sums.gradient.assign(plan_.narrow_ + plan_.wide_, 0);
  for (std::size_t f = 0; f < features.size(); ++f) {
    double* const mine = sums.gradient.data() + first_sum(plan_.places_[f]);
    const Cells& cells = features[f].cells;
    for (std::size_t i = begin_; i < end_; ++i) mine[cells[i]] -= static_cast<double>(residual[i]);
  }
  for (std::size_t i = begin_; i < end_; ++i) {
    sums.square += static_cast<double>(residual[i]) * residual[i];
  }
  return sums;
}

// What a pass over the rows would have summed up for this feature. Steps that move all rows alike
// are kept as one number, `moved`, instead of being taken off every sum.
void BinCounts::read(const BinSums& sums, std::size_t feature,
                     std::vector<double>& gradient) const {
  const std::vector<double>& rows = rows_[feature];
  const double* const mine = sums.gradient.data() + first_sum(plan_.places_[feature]);
  gradient.resize(rows.size());
  for (std::size_t b = 0; b < rows.size(); ++b) gradient[b] = mine[b] - sums.moved * rows[b];
}

// Takes a step: the sum of squares first, from the sums as they were ((r - s)^2 = r^2 - 2rs + s^2
// over the rows of a bin), then the sums of all features.
void BinCounts::take(std::size_t feature, const std::vector<double>& step, BinSums& sums) const {
  const CountPlan::Place& place = plan_.places_[feature];
  const std::vector<double>& rows = rows_[feature];
  const double* const mine = sums.gradient.data() + first_sum(place);
  for (std::size_t b = 0; b < rows.size(); ++b) {
    sums.square += step[b] * (step[b] * rows[b] - 2 * (mine[b] - sums.moved * rows[b]));
  }
  if (place.categorical) {
    cut_categories(place, rows, step, sums);
  } else {
    cut_number(place, rows, step, sums);
  }
}

// All rows move by the last value of the step; the rows up to each cut, by how much the value
// before it is more than the one after. Bins without rows cut nothing.
void BinCounts::cut_number(const CountPlan::Place& place, const std::vector<double>& rows,
                           const std::vector<double>& step, BinSums& sums) const {
  bool any = false;
  std::size_t last = 0;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    if (rows[b] == 0) continue;
    const std::size_t line[] = {place.line + last};
    if (any && step[b] != step[last]) move(step[last] - step[b], line, sums);
    any = true;
    last = b;
  }
  if (any) sums.moved += step[last];
}

// All rows move by the value that most categories have; the others, by how much theirs is more.
void BinCounts::cut_categories(const CountPlan::Place& place, const std::vector<double>& rows,
                               const std::vector<double>& step, BinSums& sums) const {
  struct Piece {
    double value = 0;
    std::vector<std::size_t> lines;
  };
  std::vector<Piece> pieces;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    if (rows[b] == 0) continue;
    const auto same = [&](const Piece& piece) { return piece.value == step[b]; };
    auto piece = std::find_if(pieces.begin(), pieces.end(), same);
    if (piece == pieces.end()) piece = pieces.insert(piece, {step[b], {}});
    piece->lines.push_back(place.line + b);
  }
  const auto most = std::max_element(
      pieces.begin(), pieces.end(),
      [](const Piece& a, const Piece& b) { return a.lines.size() < b.lines.size(); });
  if (most == pieces.end()) return;
  for (auto piece = pieces.begin(); piece != pieces.end(); ++piece) {
    if (piece != most) move(piece->value - most->value, piece->lines, sums);
  }
  sums.moved += most->value;
}

// All rows of these lines move by that much.
void BinCounts::move(double by, std::span<const std::size_t> lines, BinSums& sums) const {
  if (plan_.narrow_ > 0) subtract(by, lines, narrow_, plan_.narrow_, sums.gradient.data());
  if (plan_.wide_ > 0) {
    subtract(by, lines, wide_, plan_.wide_, sums.gradient.data() + plan_.narrow_);
  }
}

}  // namespace muster
