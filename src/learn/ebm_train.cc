#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "base/parallel.h"
#include "learn/ebm.h"
#include "learn/ebm_bag.h"
#include "learn/ebm_pairs.h"

namespace muster {
namespace {

constexpr int kMostCells = 60000;  // of one term; the bags count them in 16 bits

// A value without a bin, a category that was not seen in training, gets the number after the last
// bin: rows are then summed up without a branch, and what falls there is not looked at.
BinnedColumn bin_column(const Bins& bins, const std::vector<double>& values) {
  BinnedColumn column;
  column.count = bins.count();
  column.categorical = bins.categorical;
  column.bin.reserve(values.size());
  for (const double value : values) {
    const int bin = bins.of(value);
    column.bin.push_back(static_cast<std::uint16_t>(bin == kNoBin ? column.count : bin));
  }
  return column;
}

// The categories of a column in the order of their mean target: [place] is a bin. Pairs are cut
// along an order, and the alphabet's means nothing; in this one a best cut in two is between
// neighbours (Fisher, 1958).
std::vector<int> order_by_target(const BinnedColumn& column, const std::vector<double>& target) {
  std::vector<double> sum(static_cast<std::size_t>(column.count) + 1, 0);
  std::vector<double> rows(sum.size(), 0);
  for (std::size_t i = 0; i < target.size(); ++i) {
    sum[column.bin[i]] += target[i];
    rows[column.bin[i]] += 1;
  }
  std::vector<int> order(static_cast<std::size_t>(column.count));
  std::iota(order.begin(), order.end(), 0);
  if (!column.categorical) return order;
  std::stable_sort(order.begin() + 1, order.end(), [&](int a, int b) {
    const auto i = static_cast<std::size_t>(a);
    const auto j = static_cast<std::size_t>(b);
    return sum[i] * std::max(1.0, rows[j]) < sum[j] * std::max(1.0, rows[i]);
  });
  return order;
}

// Bagging (Breiman, 1996): the mean over the bags is the term, their deviation its error bar. The
// term is centred so that it adds nothing on average; what that takes off goes to the intercept.
// O(bags x cells).
void average(EbmTerm& term, const std::vector<std::vector<double>>& by_bag, double& intercept) {
  const std::size_t cells = term.weights.size();
  term.scores.assign(cells, 0);
  term.deviations.assign(cells, 0);
  const auto bags = static_cast<double>(by_bag.size());
  double rows = 0;
  for (const double weight : term.weights) rows += weight;
  std::vector<double> centre(by_bag.size(), 0);
  for (std::size_t bag = 0; bag < by_bag.size(); ++bag) {
    for (std::size_t c = 0; c < cells; ++c) centre[bag] += by_bag[bag][c] * term.weights[c];
    centre[bag] = rows > 0 ? centre[bag] / rows : 0;
    intercept += centre[bag] / bags;
    for (std::size_t c = 0; c < cells; ++c) term.scores[c] += (by_bag[bag][c] - centre[bag]) / bags;
  }
  for (std::size_t c = 0; c < cells; ++c) {
    double square = 0;
    for (std::size_t bag = 0; bag < by_bag.size(); ++bag) {
      const double off = by_bag[bag][c] - centre[bag] - term.scores[c];
      square += off * off;
    }
    term.deviations[c] = std::sqrt(square / bags);
    // Nothing is known of a bin of missing values that no row fell into.
    if (c == 0 && term.features.size() == 1 && term.weights[0] == 0) {
      term.scores[0] = 0;
      term.deviations[0] = 0;
    }
    term.importance += rows > 0 ? std::abs(term.scores[c]) * term.weights[c] / rows : 0;
  }
}

// What a user can get wrong. Past it every column is as long as the target, and every target is a
// finite number, which training relies on.
Status check(const FeatureSet& features, const std::vector<std::vector<double>>& columns,
             const std::vector<double>& target, const EbmOptions& options) {
  if (target.size() < kFewestRows) {
    return Error{
        fmt::format("{} training rows; at least {} are needed", target.size(), kFewestRows)};
  }
  if (features.size() == 0) return Error{"no features to learn from"};
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (columns[i].size() != target.size()) {
      return Error{fmt::format("feature '{}' has {} rows and the target {}", features[i].name,
                               columns[i].size(), target.size())};
    }
    if (features[i].categories.size() >= kMostCells) {
      return Error{fmt::format("feature '{}' has {} categories, more than {}; group them first",
                               features[i].name, features[i].categories.size(), kMostCells)};
    }
  }
  for (std::size_t row = 0; row < target.size(); ++row) {
    if (!std::isfinite(target[row]) || (options.classify && target[row] != 0 && target[row] != 1)) {
      return Error{fmt::format("row {}: the target is {}; expected {}", row + 1, target[row],
                               options.classify ? "0 or 1" : "a number")};
    }
  }
  return Done{};
}

// Every feature in bins, twice: fine for the feature alone, coarse for its pairs.
struct BinnedFeatures {
  std::vector<Bins> fine_bins;
  std::vector<Bins> coarse_bins;
  std::vector<BinnedColumn> fine;
  std::vector<BinnedColumn> coarse;     // by place
  std::vector<std::vector<int>> place;  // [feature][place]: the bin that stands there in pairs
};

// Replaces bins by their places.
void put_in_places(const std::vector<int>& place, BinnedColumn& column) {
  std::vector<std::uint16_t> place_of(static_cast<std::size_t>(column.count) + 1);
  place_of.back() = static_cast<std::uint16_t>(column.count);
  for (std::size_t p = 0; p < place.size(); ++p) {
    place_of[static_cast<std::size_t>(place[p])] = static_cast<std::uint16_t>(p);
  }
  for (std::uint16_t& bin : column.bin) bin = place_of[bin];
}

// Each feature by itself, in parallel. O(rows log rows) for each, to sort its values.
BinnedFeatures bin_features(const FeatureSet& features,
                            const std::vector<std::vector<double>>& columns,
                            const std::vector<double>& target, const EbmOptions& options,
                            unsigned threads) {
  BinnedFeatures made;
  made.fine_bins.resize(features.size());
  made.coarse_bins.resize(features.size());
  made.fine.resize(features.size());
  made.coarse.resize(features.size());
  made.place.resize(features.size());
  in_parallel(features.size(), threads, [&](std::size_t i) {
    if (options.stopped()) return;
    if (features[i].categorical) {
      made.fine_bins[i] = Bins::of_categories(static_cast<int>(features[i].categories.size()));
      made.coarse_bins[i] = made.fine_bins[i];
    } else {
      const std::vector<double> sorted = sorted_values(columns[i]);
      made.fine_bins[i] = Bins::of_numbers(sorted, options.max_bins - 1, options.uniform_bins);
      made.coarse_bins[i] = Bins::of_numbers(sorted, options.pair_bins - 1, options.uniform_bins);
    }
    made.fine[i] = bin_column(made.fine_bins[i], columns[i]);
    made.coarse[i] = bin_column(made.coarse_bins[i], columns[i]);
    made.place[i] = order_by_target(made.coarse[i], target);
    put_in_places(made.place[i], made.coarse[i]);
  });
  return made;
}

using Bags = std::vector<std::unique_ptr<EbmBag>>;

struct Trained {
  Bags bags;
  std::vector<BinnedPair> pairs;
};

// First all features, then the pairs that explain most of what these leave. Where training was
// stopped, what it returns is not whole.
Trained train_bags(const BinnedFeatures& binned, const std::vector<double>& target, double base,
                   const EbmOptions& options, unsigned threads) {
  Trained trained;
  Bags& bags = trained.bags;
  bags.resize(static_cast<std::size_t>(std::max(1, options.bags)));
  std::vector<std::vector<double>> gains(bags.size());
  const bool with_pairs = options.pairs > 0 && binned.fine.size() > 1;
  in_parallel(bags.size(), threads, [&](std::size_t i) {
    if (options.stopped()) return;
    bags[i] = std::make_unique<EbmBag>(binned.fine, binned.coarse, target, options, base,
                                       options.seed + i);
    bags[i]->fit_features();
    if (with_pairs) gains[i] = bags[i]->pair_gains();
  });
  if (!with_pairs || options.stopped()) return trained;
  trained.pairs = choose_pairs(gains, binned.coarse, options.pairs, kMostCells);
  in_parallel(bags.size(), threads, [&](std::size_t i) { bags[i]->fit_pairs(trained.pairs); });
  return trained;
}

// The bags share the bins of a feature, so their scores are averaged bin by bin. Weights are counts
// over all rows, not those that a bag has drawn.
EbmTerm feature_term(const BinnedFeatures& binned, std::size_t feature, const Bags& bags,
                     double& intercept) {
  EbmTerm term;
  term.features = {static_cast<int>(feature)};
  term.bins = {binned.fine_bins[feature]};
  const BinnedColumn& column = binned.fine[feature];
  term.weights.assign(static_cast<std::size_t>(column.count), 0);
  for (const std::uint16_t bin : column.bin) {
    if (bin < column.count) term.weights[bin] += 1;
  }
  std::vector<std::vector<double>> by_bag;
  by_bag.reserve(bags.size());
  for (const auto& bag : bags) by_bag.push_back(bag->feature_scores()[feature]);
  average(term, by_bag, intercept);
  return term;
}

// The bags know the cells of a pair by places, the model by bins: a reader of the model need not
// know the order in which categories were cut.
EbmTerm pair_term(const BinnedFeatures& binned, std::size_t number, const Trained& trained,
                  double& intercept) {
  const BinnedPair& pair = trained.pairs[number];
  const auto a = static_cast<std::size_t>(pair.first);
  const auto b = static_cast<std::size_t>(pair.second);
  const std::vector<int>& first = binned.place[a];
  const std::vector<int>& second = binned.place[b];
  EbmTerm term;
  term.features = {pair.first, pair.second};
  term.bins = {binned.coarse_bins[a], binned.coarse_bins[b]};
  const auto columns = static_cast<std::size_t>(binned.coarse[b].count);
  const auto cell_of = [&](std::size_t p, std::size_t q) {
    return static_cast<std::size_t>(first[p]) * columns + static_cast<std::size_t>(second[q]);
  };
  term.weights.assign(first.size() * second.size(), 0);
  for (std::size_t row = 0; row < binned.coarse[a].bin.size(); ++row) {
    const std::uint16_t p = binned.coarse[a].bin[row];
    const std::uint16_t q = binned.coarse[b].bin[row];
    if (p < binned.coarse[a].count && q < binned.coarse[b].count) term.weights[cell_of(p, q)] += 1;
  }
  std::vector<std::vector<double>> by_bag;
  by_bag.reserve(trained.bags.size());
  for (const auto& bag : trained.bags) {
    const std::vector<double>& scores = bag->pair_scores()[number];
    std::vector<double>& mine = by_bag.emplace_back(term.weights.size(), 0);
    for (std::size_t p = 0; p < first.size(); ++p) {
      for (std::size_t q = 0; q < second.size(); ++q) {
        mine[cell_of(p, q)] = scores[p * columns + q];
      }
    }
  }
  average(term, by_bag, intercept);
  return term;
}

}  // namespace

// Bin, boost the features in every bag, choose pairs by all bags, boost these, average. Bags are
// independent and run in parallel; each has a seed of its own, so threads do not change the model.
Result<Ebm> train_ebm(const FeatureSet& features, const std::vector<std::vector<double>>& columns,
                      const std::vector<double>& target, const EbmOptions& options) {
  if (Status good = check(features, columns, target, options); !good) return good.error();
  const Error stopped{"training was stopped"};
  const auto threads = static_cast<unsigned>(std::max(0, options.threads));
  const BinnedFeatures binned = bin_features(features, columns, target, options, threads);
  if (options.stopped()) return stopped;
  const double mean =
      std::accumulate(target.begin(), target.end(), 0.0) / static_cast<double>(target.size());
  double base = mean;
  if (options.classify) {
    // The log-odds of the mean, which boosting starts from.
    const double p = std::clamp(mean, 1e-6, 1 - 1e-6);
    base = std::log(p / (1 - p));
  }
  // Numbers are learnt around their mean: single precision then suffices for the scores.
  std::vector<double> centred = target;
  if (!options.classify) {
    for (double& value : centred) value -= mean;
  }
  const Trained trained =
      train_bags(binned, centred, options.classify ? base : 0, options, threads);
  if (options.stopped()) return stopped;

  Ebm model;
  model.features = features;
  model.classify = options.classify;
  model.intercept = base;
  model.rows = static_cast<double>(target.size());
  for (std::size_t i = 0; i < features.size(); ++i) {
    model.terms.push_back(feature_term(binned, i, trained.bags, model.intercept));
  }
  for (std::size_t i = 0; i < trained.pairs.size(); ++i) {
    model.terms.push_back(pair_term(binned, i, trained, model.intercept));
  }
  model.index();
  return model;
}

}  // namespace muster
