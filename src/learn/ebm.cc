#include "learn/ebm.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {

int EbmTerm::cell(std::span<const double> row) const {
  const int line = bins[0].of(row[static_cast<std::size_t>(features[0])]);
  if (line == kNoBin || features.size() == 1) return line;
  const int column = bins[1].of(row[static_cast<std::size_t>(features[1])]);
  return column == kNoBin ? kNoBin : line * bins[1].count() + column;
}

std::string EbmTerm::name(const FeatureSet& set) const {
  std::string text = set[static_cast<std::size_t>(features[0])].name;
  if (features.size() > 1) text += " x " + set[static_cast<std::size_t>(features[1])].name;
  return text;
}

namespace {

constexpr int kNowhere = -(1 << 30);  // twice this still fits an int

// Where the row falls in each table of look-ups.
class Places {
 public:
  Places(const std::vector<EbmLookup>& lookups, std::span<const double> row) {
    if (lookups.size() > kFew) many_.resize(lookups.size());
    for (std::size_t i = 0; i < lookups.size(); ++i) {
      data()[i] = lookups[i].place(row[static_cast<std::size_t>(lookups[i].feature)]);
    }
  }
  // The cell of a term; negative where it has none.
  int cell(const EbmTerm& term) const {
    // A pair's table is row by row: the first look-up is already multiplied by the number of
    // columns. The sum with kNowhere stays negative.
    const int first = term.first[data()[term.lookups[0]]];
    return term.second.empty() ? first : first + term.second[data()[term.lookups[1]]];
  }

 private:
  static constexpr std::size_t kFew = 64;
  std::size_t* data() { return many_.empty() ? few_ : many_.data(); }
  const std::size_t* data() const { return many_.empty() ? few_ : many_.data(); }
  std::size_t few_[kFew];
  std::vector<std::size_t> many_;
};

}  // namespace

std::size_t EbmLookup::place(double value) const {
  if (std::isnan(value)) return categorical ? static_cast<std::size_t>(categories) + 1 : 0;
  if (!categorical) return 1 + cuts_up_to(cuts, value);
  // A category that was not seen in training has a place of its own, which no term has a bin for.
  const auto category = static_cast<int>(value);
  return static_cast<std::size_t>(category < categories ? category : categories) + 1;
}

// Merges the cuts of all terms of a feature. A place is an interval between two neighbouring cuts,
// and each term maps places to its bins: one binary search per feature, instead of one per term.
void Ebm::index() {
  lookups.clear();
  std::vector<int> lookup_of(features.size(), -1);
  const auto lookup_for = [&](int feature, const Bins& bins) {
    int& place = lookup_of[static_cast<std::size_t>(feature)];
    if (place < 0) {
      place = static_cast<int>(lookups.size());
      lookups.push_back({feature, bins.categorical, bins.categories, {}});
    }
    return place;
  };
  for (EbmTerm& term : terms) {
    for (std::size_t k = 0; k < term.features.size(); ++k) {
      term.lookups[k] = lookup_for(term.features[k], term.bins[k]);
      std::vector<double>& cuts = lookups[static_cast<std::size_t>(term.lookups[k])].cuts;
      cuts.insert(cuts.end(), term.bins[k].cuts.begin(), term.bins[k].cuts.end());
    }
  }
  for (EbmLookup& lookup : lookups) {
    // The union of all cuts refines every term's binning, so a place lies in exactly one bin of
    // each term.
    std::sort(lookup.cuts.begin(), lookup.cuts.end());
    lookup.cuts.erase(std::unique(lookup.cuts.begin(), lookup.cuts.end()), lookup.cuts.end());
  }
  // The bin of each place: all values between two neighbouring cuts share it.
  const auto bins_of = [](const EbmLookup& lookup, const Bins& bins, int factor) {
    std::vector<int> found(lookup.places(), kNowhere);
    for (std::size_t place = 0; place < found.size(); ++place) {
      int bin = 0;
      if (lookup.categorical) {
        bin = place == 0                                           ? 0
              : place <= static_cast<std::size_t>(bins.categories) ? static_cast<int>(place)
                                                                   : kNoBin;
      } else if (place > 0) {
        bin =
            1 + (place == 1 ? 0 : static_cast<int>(cuts_up_to(bins.cuts, lookup.cuts[place - 2])));
      }
      if (bin != kNoBin) found[place] = bin * factor;
    }
    return found;
  };
  for (EbmTerm& term : terms) {
    const bool pair = term.features.size() > 1;
    const auto lookup = [&](int k) -> const EbmLookup& {
      return lookups[static_cast<std::size_t>(term.lookups[k])];
    };
    term.first = bins_of(lookup(0), term.bins[0], pair ? term.bins[1].count() : 1);
    term.second = pair ? bins_of(lookup(1), term.bins[1], 1) : std::vector<int>{};
  }
}

// The sum of one look-up per term. A row falls into no cell of a term where it has a category that
// was not seen in training: the term then adds nothing.
double Ebm::score(std::span<const double> row) const {
  const Places places(lookups, row);
  double sum = intercept;
  for (const EbmTerm& term : terms) {
    const int cell = places.cell(term);
    if (cell >= 0) sum += term.scores[static_cast<std::size_t>(cell)];
  }
  return sum;
}

double Ebm::predict(std::span<const double> row) const {
  const double sum = score(row);
  // Inverse link function: logistic for log-odds, the identity for regression.
  return classify ? 1 / (1 + std::exp(-sum)) : sum;
}

// Exact, because the model is a sum: what each term adds is its score in the row's bin.
Explanation Ebm::explain(std::span<const double> row) const {
  Explanation explanation;
  explanation.intercept = intercept;
  explanation.sum = intercept;
  explanation.parts.reserve(terms.size());
  const Places places(lookups, row);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const int cell = places.cell(terms[i]);
    Explanation::Part part;
    part.term = static_cast<int>(i);
    if (cell >= 0) {
      part.score = terms[i].scores[static_cast<std::size_t>(cell)];
      part.deviation = terms[i].deviations[static_cast<std::size_t>(cell)];
    }
    explanation.sum += part.score;
    explanation.parts.push_back(part);
  }
  std::stable_sort(explanation.parts.begin(), explanation.parts.end(),
                   [](const Explanation::Part& a, const Explanation::Part& b) {
                     return std::abs(a.score) > std::abs(b.score);
                   });
  // The prediction follows from the sum, so the parts explain it completely.
  explanation.prediction = classify ? 1 / (1 + std::exp(-explanation.sum)) : explanation.sum;
  return explanation;
}

std::vector<int> Ebm::ranking() const {
  std::vector<int> order(terms.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [this](int a, int b) {
    return terms[static_cast<std::size_t>(a)].importance >
           terms[static_cast<std::size_t>(b)].importance;
  });
  return order;
}

// Pool adjacent violators (Ayer et al., 1955): blocks that would fall are merged into their
// weighted mean until all rise. O(n), as every value is merged at most once.
std::vector<double> isotonic(std::span<const double> values, std::span<const double> weights) {
  struct Block {
    double sum;
    double weight;
    std::size_t length;
    double mean() const { return sum / weight; }
  };
  // A bin without rows must not divide by zero; it follows its neighbours.
  constexpr double kNothing = 1e-9;
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Pool adjacent violators (Ayer and others, 1955): a new block is merged with the one before it
    // while their means decrease.
    const double weight = std::max(weights[i], kNothing);
    blocks.push_back({values[i] * weight, weight, 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().weight += last.weight;
      blocks.back().length += last.length;
    }
  }
  std::vector<double> fitted;
  for (const Block& block : blocks) fitted.insert(fitted.end(), block.length, block.mean());
  return fitted;
}

// The best fit in each direction; kAutomatic takes the one that changes the scores less. Pairs of
// the feature stay as they are.
Status make_monotone(Ebm& model, std::string_view feature, Direction direction) {
  const int position = model.features.position(feature);
  if (position < 0) {
    std::vector<std::string_view> known;
    for (std::size_t i = 0; i < model.features.size(); ++i) {
      known.push_back(model.features[i].name);
    }
    return Error{unknown_name("feature", feature, known)};
  }
  for (EbmTerm& term : model.terms) {
    if (term.features != std::vector<int>{position}) continue;
    if (term.bins[0].categorical) {
      return Error{fmt::format("feature '{}' is of categories, which have no order", feature)};
    }
    const std::span<const double> scores = std::span(term.scores).subspan(1);
    const std::span<const double> weights = std::span(term.weights).subspan(1);
    const auto error_of = [&](const std::vector<double>& fit) {
      double sum = 0;
      for (std::size_t i = 0; i < fit.size(); ++i) {
        sum += weights[i] * (fit[i] - scores[i]) * (fit[i] - scores[i]);
      }
      return sum;
    };
    // A decreasing fit is an increasing fit of the mirrored scores.
    const std::vector<double> up = isotonic(scores, weights);
    std::vector<double> mirrored(scores.begin(), scores.end());
    for (double& value : mirrored) value = -value;
    std::vector<double> down = isotonic(mirrored, weights);
    for (double& value : down) value = -value;
    const bool rises = direction == Direction::kIncreasing ||
                       (direction == Direction::kAutomatic && error_of(up) <= error_of(down));
    std::copy((rises ? up : down).begin(), (rises ? up : down).end(), term.scores.begin() + 1);
    return Done{};
  }
  return Error{fmt::format("the model has no effect of '{}' alone", feature)};
}

}  // namespace muster
