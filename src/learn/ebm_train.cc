#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <thread>

#include <fmt/format.h>

#include "learn/ebm.h"
#include "learn/ebm_bag.h"

namespace muster {
namespace {

constexpr int kMostCells = 60000;  // of one term; the bags count them in 16 bits

// Runs `work(i)` for all i below `count`, on several threads; the order does not matter.
template <typename Work>
void in_parallel(int count, int threads, const Work& work) {
  std::atomic<int> next{0};
  const auto loop = [&] {
    for (int i = next++; i < count; i = next++) work(i);
  };
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> others;
  for (int i = 1; i < std::min(threads > 0 ? threads : cores, count); ++i)
    others.emplace_back(loop);
  loop();
  for (std::thread& thread : others) thread.join();
}

BinnedColumn binned(const Bins& bins, const std::vector<double>& values) {
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
// along an order, and the alphabet's means nothing.
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

// Mean and deviation of a term over the bags, centred so that it adds nothing on average.
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

std::vector<BinnedPair> choose_pairs(const std::vector<std::vector<double>>& gains,
                                     const std::vector<BinnedColumn>& coarse, int wanted) {
  const std::size_t features = coarse.size();
  std::vector<BinnedPair> pairs;
  for (std::size_t a = 0; a < features; ++a) {
    for (std::size_t b = a + 1; b < features; ++b) {
      if (coarse[a].count > kMostCells / coarse[b].count) continue;
      pairs.push_back({static_cast<int>(a), static_cast<int>(b)});
    }
  }
  const auto gain = [&](const std::vector<double>& bag, const BinnedPair& pair) {
    return bag[static_cast<std::size_t>(pair.first) * features +
               static_cast<std::size_t>(pair.second)];
  };
  // The mean of the ranks over the bags decides: one lucky bag does not.
  std::vector<double> rank(pairs.size(), 0);
  for (const std::vector<double>& bag : gains) {
    std::vector<std::size_t> order(pairs.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return gain(bag, pairs[a]) > gain(bag, pairs[b]);
    });
    for (std::size_t place = 0; place < order.size(); ++place) {
      rank[order[place]] += static_cast<double>(place);
    }
  }
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank[a] < rank[b]; });
  std::vector<BinnedPair> chosen;
  for (std::size_t i = 0; i < order.size() && static_cast<int>(i) < wanted; ++i) {
    chosen.push_back(pairs[order[i]]);
  }
  return chosen;
}

}  // namespace

Result<Ebm> train_ebm(const FeatureSet& features, const std::vector<std::vector<double>>& columns,
                      const std::vector<double>& target, const EbmOptions& options) {
  if (Status good = check(features, columns, target, options); !good) return good.error();
  const std::size_t count = features.size();
  std::vector<Bins> fine_bins;
  std::vector<Bins> coarse_bins;
  std::vector<BinnedColumn> fine;
  std::vector<BinnedColumn> coarse;
  std::vector<std::vector<int>> place;  // [feature][place]: the bin that stands there in pairs
  for (std::size_t i = 0; i < count; ++i) {
    const auto categories = static_cast<int>(features[i].categories.size());
    const bool of_categories = features[i].categorical;
    fine_bins.push_back(
        of_categories ? Bins::of_categories(categories)
                      : Bins::of_numbers(columns[i], options.max_bins - 1, options.uniform_bins));
    coarse_bins.push_back(
        of_categories ? Bins::of_categories(categories)
                      : Bins::of_numbers(columns[i], options.pair_bins - 1, options.uniform_bins));
    fine.push_back(binned(fine_bins[i], columns[i]));
    coarse.push_back(binned(coarse_bins[i], columns[i]));
    place.push_back(order_by_target(coarse[i], target));
    std::vector<std::uint16_t> place_of(static_cast<std::size_t>(coarse[i].count) + 1);
    place_of.back() = static_cast<std::uint16_t>(coarse[i].count);
    for (std::size_t p = 0; p < place[i].size(); ++p) {
      place_of[static_cast<std::size_t>(place[i][p])] = static_cast<std::uint16_t>(p);
    }
    for (std::uint16_t& bin : coarse[i].bin) bin = place_of[bin];
  }

  const double mean =
      std::accumulate(target.begin(), target.end(), 0.0) / static_cast<double>(target.size());
  double base = mean;
  if (options.classify) {
    const double p = std::clamp(mean, 1e-6, 1 - 1e-6);
    base = std::log(p / (1 - p));
  }
  // Numbers are learnt around their mean: single precision then suffices for the scores.
  std::vector<double> centred = target;
  if (!options.classify) {
    for (double& value : centred) value -= mean;
  }
  const int bag_count = std::max(1, options.bags);
  std::vector<std::unique_ptr<EbmBag>> bags(static_cast<std::size_t>(bag_count));
  std::vector<std::vector<double>> gains(bags.size());
  const bool with_pairs = options.pairs > 0 && count > 1;
  in_parallel(bag_count, options.threads, [&](int i) {
    const auto bag = static_cast<std::size_t>(i);
    bags[bag] = std::make_unique<EbmBag>(fine, coarse, centred, options,
                                         options.classify ? base : 0, options.seed + bag);
    bags[bag]->fit_features();
    if (with_pairs) gains[bag] = bags[bag]->pair_gains();
  });
  std::vector<BinnedPair> pairs;
  if (with_pairs) {
    pairs = choose_pairs(gains, coarse, options.pairs);
    in_parallel(bag_count, options.threads,
                [&](int i) { bags[static_cast<std::size_t>(i)]->fit_pairs(pairs); });
  }

  Ebm model;
  model.features = features;
  model.classify = options.classify;
  model.intercept = base;
  model.rows = static_cast<double>(target.size());
  for (std::size_t i = 0; i < count; ++i) {
    EbmTerm term;
    term.features = {static_cast<int>(i)};
    term.bins = {fine_bins[i]};
    term.weights.assign(static_cast<std::size_t>(fine[i].count), 0);
    for (const std::uint16_t bin : fine[i].bin) {
      if (bin < fine[i].count) term.weights[bin] += 1;
    }
    std::vector<std::vector<double>> by_bag;
    by_bag.reserve(bags.size());
    for (const auto& bag : bags) by_bag.push_back(bag->feature_scores()[i]);
    average(term, by_bag, model.intercept);
    model.terms.push_back(std::move(term));
  }
  for (std::size_t t = 0; t < pairs.size(); ++t) {
    const auto a = static_cast<std::size_t>(pairs[t].first);
    const auto b = static_cast<std::size_t>(pairs[t].second);
    EbmTerm term;
    term.features = {pairs[t].first, pairs[t].second};
    term.bins = {coarse_bins[a], coarse_bins[b]};
    const auto columns_of = static_cast<std::size_t>(coarse[b].count);
    const auto cell_of = [&](std::size_t p, std::size_t q) {
      return static_cast<std::size_t>(place[a][p]) * columns_of +
             static_cast<std::size_t>(place[b][q]);
    };
    term.weights.assign(place[a].size() * place[b].size(), 0);
    for (std::size_t row = 0; row < target.size(); ++row) {
      const std::uint16_t p = coarse[a].bin[row];
      const std::uint16_t q = coarse[b].bin[row];
      if (p < coarse[a].count && q < coarse[b].count) term.weights[cell_of(p, q)] += 1;
    }
    std::vector<std::vector<double>> by_bag;
    by_bag.reserve(bags.size());
    for (const auto& bag : bags) {
      const std::vector<double>& scores = bag->pair_scores()[t];
      std::vector<double>& mine = by_bag.emplace_back(term.weights.size(), 0);
      for (std::size_t p = 0; p < place[a].size(); ++p) {
        for (std::size_t q = 0; q < place[b].size(); ++q) {
          mine[cell_of(p, q)] = scores[p * columns_of + q];
        }
      }
    }
    average(term, by_bag, model.intercept);
    model.terms.push_back(std::move(term));
  }
  model.index();
  return model;
}

}  // namespace muster
