#include "learn/ebm.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {

int EbmTerm::cell(std::span<const double> row) const {
  const int first = bins[0].of(row[static_cast<std::size_t>(features[0])]);
  if (first == kNoBin || features.size() == 1) return first;
  const int second = bins[1].of(row[static_cast<std::size_t>(features[1])]);
  return second == kNoBin ? kNoBin : first * bins[1].count() + second;
}

std::string EbmTerm::name(const FeatureSet& set) const {
  std::string text = set[static_cast<std::size_t>(features[0])].name;
  if (features.size() > 1) text += " x " + set[static_cast<std::size_t>(features[1])].name;
  return text;
}

double Ebm::score(std::span<const double> row) const {
  double sum = intercept;
  for (const EbmTerm& term : terms) {
    const int cell = term.cell(row);
    if (cell != kNoBin) sum += term.scores[static_cast<std::size_t>(cell)];
  }
  return sum;
}

double Ebm::predict(std::span<const double> row) const {
  const double sum = score(row);
  return classify ? 1 / (1 + std::exp(-sum)) : sum;
}

Explanation Ebm::explain(std::span<const double> row) const {
  Explanation explanation;
  explanation.intercept = intercept;
  explanation.sum = intercept;
  explanation.parts.reserve(terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const int cell = terms[i].cell(row);
    Explanation::Part part;
    part.term = static_cast<int>(i);
    if (cell != kNoBin) {
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
