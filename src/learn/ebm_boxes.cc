#include "learn/ebm_boxes.h"

#include <algorithm>

namespace muster {
namespace {

// Cuts that are drawn do not depend on the rows, so the boxes of several pairs can be found in one
// pass: a row's boxes are the digits of a code, and rows are summed up by code.
constexpr std::size_t kMostTogether = 5;  // their sums still fit into the fastest cache
// Fewer rows than that for each code, and walking the codes costs more than walking the rows.
constexpr std::size_t kRowsPerSum = 8;
constexpr std::size_t kChunk = 2048;

// Places are compared as signed 16-bit numbers, for which every vector unit has an instruction.
constexpr int kMiddle = 32768;

std::int16_t less_middle(int place) { return static_cast<std::int16_t>(place - kMiddle); }

}  // namespace

PairBoxes::PairBoxes(const std::vector<TermCells>& places, const std::vector<BinnedPair>& pairs,
                     const EbmRows& rows, double learning_rate)
    : axes_(places.size()), pairs_(pairs), learning_rate_(learning_rate) {
  for (const BinnedPair& pair : pairs) {
    for (const int feature : {pair.first, pair.second}) {
      const TermCells& mine = places[static_cast<std::size_t>(feature)];
      Axis& axis = axes_[static_cast<std::size_t>(feature)];
      if (!axis.places.empty()) continue;
      axis.count = mine.count;
      axis.places.reserve(mine.cells.size());
      for (const std::uint16_t place : mine.cells) {
        axis.places.push_back(less_middle(place));
        // A fifth box for rows that have no bin in one of the features.
        if (place == mine.count) boxes_ = 5;
      }
    }
  }
  while (together_ < kMostTogether && codes(together_ + 1) * kRowsPerSum <= rows.training()) {
    ++together_;
  }
}

std::size_t PairBoxes::codes(std::size_t pairs) const {
  std::size_t value = 1;
  for (std::size_t i = 0; i < pairs; ++i) value *= boxes_;
  return value;
}

// The pairs of a round in groups: one pass over the rows adds the steps of the group before and
// sums up this one. O(rows x pairs / together + 4^together x together).
void PairBoxes::round(Random& random, EbmRows& rows, std::vector<std::vector<double>>& scores) {
  std::vector<PairCuts> cuts;
  for (const BinnedPair& pair : pairs_) {
    cuts.push_back(PairCuts::draw(first_of(pair).count, second_of(pair).count, random));
  }
  code_.assign(rows.count(), 0);
  applied_.assign(1, 0);
  for (std::size_t first = 0; first < pairs_.size(); first += together_) {
    const std::size_t end = std::min(first + together_, pairs_.size());
    sum_up(cuts, first, end, rows);
    for (std::size_t pair = first; pair < end; ++pair) {
      if (cuts[pair].cut >= 0) take_step(cuts[pair], pair, codes(end - pair - 1), scores[pair]);
    }
    applied_.assign(change_.begin(), change_.end());
  }
  for (std::size_t i = 0; i < rows.count(); ++i) rows.score[i] += applied_[code_[i]];
}

void PairBoxes::sum_up(const std::vector<PairCuts>& cuts, std::size_t first, std::size_t end,
                       EbmRows& rows) {
  sums_.assign(codes(end - first), {});
  change_.assign(sums_.size(), 0);
  // Row by row in pieces that stay in the cache.
  for (std::size_t from = 0; from < rows.count(); from += kChunk) {
    const std::size_t to = std::min(from + kChunk, rows.count());
    for (std::size_t i = from; i < to; ++i) rows.score[i] += applied_[code_[i]];
    for (std::size_t i = from; i < to; ++i) code_[i] = 0;
    for (std::size_t pair = first; pair < end; ++pair) {
      if (boxes_ == 4) {
        append_boxes<false>(cuts[pair], pairs_[pair], from, to);
      } else {
        append_boxes<true>(cuts[pair], pairs_[pair], from, to);
      }
    }
    for (std::size_t i = from; i < std::min(to, rows.training()); ++i) {
      Sum& sum = sums_[code_[i]];
      sum.gradient -= static_cast<double>(rows.score[i]);
      sum.rows += 1;
    }
  }
}

// Appends the box of each row as a digit to its code, the last digit where it is in none. Without
// branches, so that the compiler takes several rows at a time.
template <bool kSomeInNone>
void PairBoxes::append_boxes(const PairCuts& cuts, const BinnedPair& pair, std::size_t begin,
                             std::size_t end) {
  const Axis& outer = cuts.by_first ? first_of(pair) : second_of(pair);
  const Axis& inner = cuts.by_first ? second_of(pair) : first_of(pair);
  const std::int16_t cut = less_middle(cuts.cut);
  const std::int16_t low = less_middle(cuts.low);
  const std::int16_t high = less_middle(cuts.high);
  const std::int16_t outer_end = less_middle(outer.count);
  const std::int16_t inner_end = less_middle(inner.count);
  const std::int16_t* const o = outer.places.data();
  const std::int16_t* const n = inner.places.data();
  std::uint16_t* const code = code_.data();
  for (std::size_t i = begin; i < end; ++i) {
    const std::int16_t edge = o[i] < cut ? low : high;
    const std::uint16_t half = o[i] < cut ? 0 : 2;
    auto box = static_cast<std::uint16_t>(half + (n[i] < edge ? 0 : 1));
    if constexpr (kSomeInNone) {
      box = o[i] < outer_end ? box : std::uint16_t{4};
      box = n[i] < inner_end ? box : std::uint16_t{4};
    }
    code[i] = static_cast<std::uint16_t>(code[i] * (kSomeInNone ? 5 : 4) + box);
  }
}

// The step of learn/ebm_step.h; `digit` is the weight of the pair's digit in a code.
void PairBoxes::take_step(const PairCuts& cuts, std::size_t pair, std::size_t digit,
                          std::vector<double>& scores) {
  const int first_count = first_of(pairs_[pair]).count;
  const int second_count = second_of(pairs_[pair]).count;
  for (std::size_t number = 0; number < 4; ++number) {
    // All codes that have this box as the digit of this pair.
    const auto each = [&](const auto& visit) {
      for (std::size_t from = number * digit; from < sums_.size(); from += boxes_ * digit) {
        for (std::size_t code = from; code < from + digit; ++code) visit(code);
      }
    };
    Sum box;
    each([&](std::size_t code) {
      box.gradient += sums_[code].gradient;
      box.rows += sums_[code].rows;
    });
    if (box.rows <= 0) continue;
    const double step = learning_rate_ * box.gradient / box.rows;
    // The next pairs of the group see the gradients after this step, as if the rows had been read
    // again: every row of a code moves by the same amount.
    each([&](std::size_t code) {
      change_[code] += step;
      sums_[code].gradient -= step * sums_[code].rows;
    });
    cuts.box(static_cast<int>(number), first_count, second_count).add(step, second_count, scores);
  }
}

}  // namespace muster
