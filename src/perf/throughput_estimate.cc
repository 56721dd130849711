#include "perf/throughput_estimate.h"

#include <algorithm>
#include <cmath>

#include "perf/matrix_completion.h"

namespace muster {

ThroughputEstimator::ThroughputEstimator(const ThroughputTable& table, std::vector<int> types,
                                         const PairEstimateOptions& options)
    : table_(table), types_(std::move(types)), options_(options) {
  for (std::size_t i = 0; i < table.keys().size(); ++i) {
    if (table.keys()[i].gpus == 1) references_.push_back(static_cast<int>(i));
  }
  const auto wanted = static_cast<std::size_t>(std::max(options.references, 0));
  if (wanted > 0 && wanted < references_.size()) {
    Random random(options.seed, "reference models");
    random.shuffle(references_);
    references_.resize(wanted);
    std::sort(references_.begin(), references_.end());
  }
  for (const int mine : references_) {
    for (const int type : types_) {
      for (const int other : references_) rows_.push_back(part(type, mine, other));
    }
  }
}

double ThroughputEstimator::part(int type, int mine, int other) const {
  const double alone = table_.alone(type, mine);
  return alone > 0 ? std::min(1.0, table_.pair(type, mine, other).mine / alone) : 0;
}

int ThroughputEstimator::match(int key, Random& random) const {
  if (table_.keys()[static_cast<std::size_t>(key)].gpus != 1) return key;
  const std::size_t count = references_.size();
  const std::size_t columns = types_.size() * count;
  std::vector<double> cells = rows_;
  std::vector<char> known(cells.size(), 1);
  bool gaps = false;
  for (const int type : types_) {
    for (const int other : references_) {
      const bool measured = random.chance(options_.profiled);
      cells.push_back(measured ? part(type, key, other) : 0);
      known.push_back(measured ? 1 : 0);
      gaps = gaps || !measured;
    }
  }
  std::vector<double> row(cells.end() - static_cast<std::ptrdiff_t>(columns), cells.end());
  if (gaps) {
    CompletionOptions completion;
    completion.seed = random.next();
    const auto full = complete_matrix(cells, known, count + 1, columns, completion);
    if (!full) return references_[random.below(count)];
    const std::size_t first = count * columns;
    for (std::size_t c = 0; c < columns; ++c) {
      if (known[first + c] == 0) row[c] = std::clamp((*full)[first + c], 0.0, 1.0);
    }
  }
  return closest(row, random);
}

// The smallest angle between the rows.
int ThroughputEstimator::closest(const std::vector<double>& row, Random& random) const {
  const std::size_t columns = row.size();
  double length = 0;
  for (const double cell : row) length += cell * cell;
  int best = references_[random.below(references_.size())];
  double best_cosine = -1;
  for (std::size_t r = 0; r < references_.size(); ++r) {
    double product = 0;
    double other = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      const double cell = rows_[r * columns + c];
      product += row[c] * cell;
      other += cell * cell;
    }
    if (!(length > 0) || !(other > 0)) continue;
    const double cosine = product / std::sqrt(length * other);
    if (cosine > best_cosine) {
      best_cosine = cosine;
      best = references_[r];
    }
  }
  return best;
}

ThroughputTable::Pair ThroughputEstimator::pair(int type, int mine, int my_reference, int other,
                                                int other_reference) const {
  return {part(type, my_reference, other_reference) * table_.alone(type, mine),
          part(type, other_reference, my_reference) * table_.alone(type, other)};
}

}  // namespace muster
