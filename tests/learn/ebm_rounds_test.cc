#include "learn/ebm_rounds.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/random.h"

namespace muster {
namespace {

// Rows in bins: two numbers with missing values (bin 0), one of them uneven, a number of which all
// rows share two bins, a number with a bin that only held-out rows have, and categories of which
// some rows have none.
struct Binned {
  std::vector<TermCells> features;
  std::vector<double> target;
  std::size_t training = 0;
};

Binned binned_rows(std::size_t rows, std::uint64_t seed) {
  Random random(seed);
  Binned made;
  made.training = rows * 85 / 100;
  made.features = {
      {{}, 40, false}, {{}, 25, false}, {{}, 3, false}, {{}, 9, false}, {{}, 12, true}};
  const auto add = [&](std::size_t feature, std::uint64_t bin) {
    made.features[feature].cells.push_back(static_cast<std::uint16_t>(bin));
    return static_cast<double>(bin);
  };
  for (std::size_t i = 0; i < rows; ++i) {
    const double a = add(0, random.unit() < 0.1 ? 0 : 1 + random.below(39));
    const double b = add(1, static_cast<std::uint64_t>(25 * std::pow(random.unit(), 3)));
    const double c = add(2, 1 + random.below(2));
    add(3, i < made.training || i % 3 != 0 ? 1 + random.below(4) + 4 * random.below(2) : 5);
    const double e = add(4, random.below(13));
    // About 0 and in single precision, as scores of rows are.
    made.target.push_back(static_cast<float>(std::sin(a / 6) + 0.1 * b + c + std::cos(5 * e) +
                                             (a == 0 ? 2 : 0) + 0.3 * random.normal(0, 1) - 2.5));
  }
  for (std::size_t i = 0; i < made.training; ++i) {
    if (made.features[3].cells[i] == 5) made.features[3].cells[i] = 4;
  }
  return made;
}

EbmScores no_scores(const std::vector<TermCells>& terms) {
  EbmScores scores;
  for (const TermCells& term : terms) {
    scores.emplace_back(static_cast<std::size_t>(term.count) + 1, 0);
  }
  return scores;
}

void expect_same(const EbmScores& left, const EbmScores& right, double tolerance) {
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t t = 0; t < left.size(); ++t) {
    ASSERT_EQ(left[t].size(), right[t].size());
    for (std::size_t b = 0; b < left[t].size(); ++b) {
      ASSERT_NEAR(left[t][b], right[t][b], tolerance) << "term " << t << ", bin " << b;
    }
  }
}

RowRounds by_rows(const std::vector<TermCells>& features, EbmRows& rows,
                  const EbmOptions& options) {
  return RowRounds(features, rows, options,
                   [&](std::size_t t, const StepSums& sums, const std::vector<double>& rows_of,
                       Random* random, std::vector<double>& step) {
                     feature_step(sums, rows_of, features[t].categorical, options, random, step);
                   });
}

// What the rows would say, had each round's scores been given to them.
double error_of(const Binned& data, const EbmScores& scores) {
  double sum = 0;
  for (std::size_t i = data.training; i < data.target.size(); ++i) {
    double off = -data.target[i];
    for (std::size_t t = 0; t < scores.size(); ++t) off += scores[t][data.features[t].cells[i]];
    sum += off * off;
  }
  return sum / static_cast<double>(data.target.size() - data.training);
}

// Rounds by tables of counts are rounds by passes over the rows: the same steps and errors, first
// with random cuts, then with the best ones, and again after they began anew.
TEST(EbmRounds, CountsGiveTheScoresOfPassesOverTheRows) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Binned data = binned_rows(3000, seed);
    EbmOptions options;
    EbmRows rows(data.target, data.training, false, 0);
    EbmRows same = rows;
    RowRounds passes = by_rows(data.features, rows, options);
    const CountPlan plan(data.features);
    CountRounds counts(plan, data.features, same, options);
    for (const int random_rounds : {60, 0}) {
      EXPECT_DOUBLE_EQ(passes.begin(), counts.begin());
      EbmScores left = no_scores(data.features);
      EbmScores right = left;
      Random first(seed);
      Random second(seed);
      for (int round = 0; round < 120; ++round) {
        const bool drawn = round < random_rounds;
        const double error = passes.round(drawn ? &first : nullptr, left);
        const double other = counts.round(drawn ? &second : nullptr, right);
        ASSERT_NEAR(error, other, 1e-5 * error) << round;
        ASSERT_NEAR(other, error_of(data, right), 1e-9 * other) << round;
      }
      expect_same(left, right, 1e-4);
      EXPECT_LT(counts.round(nullptr, right), 0.2);
      EXPECT_NE(right[4][3], 0);
      EXPECT_EQ(right[4][12], 0) << "rows without a category must stay as they are";
      EXPECT_EQ(right[3][5], 0) << "a bin without training rows has no score";
    }
  }
}

// A target without noise, which is learnt to the last digit: what is left then is a difference of
// large sums.
TEST(EbmRounds, CountsKeepUpWithErrorsThatVanish) {
  Binned data = binned_rows(2000, 4);
  for (std::size_t i = 0; i < data.target.size(); ++i) {
    data.target[i] =
        (data.features[0].cells[i] > 20 ? 1e6 : -1e6) + 1e5 * data.features[2].cells[i];
    data.features[3].cells[i] = 1;
  }
  EbmOptions options;
  options.learning_rate = 0.3;
  EbmRows rows(data.target, data.training, false, 0);
  const CountPlan plan(data.features);
  CountRounds counts(plan, data.features, rows, options);
  const double before = counts.begin();
  EbmScores scores = no_scores(data.features);
  for (int round = 0; round < 600; ++round) {
    const double error = counts.round(nullptr, scores);
    ASSERT_GE(error, 0) << round;
    ASSERT_NEAR(error, error_of(data, scores), 1e-14 * before) << round;
  }
  EXPECT_LT(error_of(data, scores), 1e-14 * before);
}

// More rows in a bin than 16 bits can count.
TEST(EbmRounds, CountsOfFullBinsAreWide) {
  Binned data = binned_rows(200, 5);
  const std::size_t narrow = CountPlan(data.features).bytes();
  Binned large;
  large.features = data.features;
  for (TermCells& feature : large.features) feature.cells.clear();
  for (std::size_t i = 0; i < 160000; ++i) {
    for (std::size_t f = 0; f < data.features.size(); ++f) {
      const bool common = f == 4 && i % 8 != 0;
      large.features[f].cells.push_back(common ? std::uint16_t{7}
                                               : data.features[f].cells[i % 200]);
    }
    large.target.push_back(large.features[0].cells[i] + large.features[4].cells[i] % 3);
  }
  large.training = 136000;
  const CountPlan plan(large.features);
  // The numbers of two bins, and the categories.
  EXPECT_EQ(plan.bytes() - narrow, 2U * 2 * 94 * (4 + 13));
  EbmOptions options;
  EbmRows rows(large.target, large.training, false, 0);
  CountRounds counts(plan, large.features, rows, options);
  counts.begin();
  EbmScores scores = no_scores(large.features);
  for (int round = 0; round < 40; ++round) {
    const double error = counts.round(nullptr, scores);
    ASSERT_NEAR(error, error_of(large, scores), 1e-6 * error);
  }
}

TEST(EbmRounds, RandomCutsOfPairsTogetherAreThoseOfOnePairAfterTheOther) {
  for (const bool some_in_none : {true, false}) {
    Binned data = binned_rows(9000, 6);
    if (!some_in_none) {
      for (std::uint16_t& cell : data.features[4].cells) cell = std::min<std::uint16_t>(cell, 11);
    }
    const std::vector<BinnedPair> pairs = {{0, 1}, {1, 4}, {0, 4}, {2, 3}, {3, 4}, {0, 2}, {1, 2}};
    std::vector<TermCells> cells;
    for (const BinnedPair& pair : pairs) {
      const TermCells& a = data.features[static_cast<std::size_t>(pair.first)];
      const TermCells& b = data.features[static_cast<std::size_t>(pair.second)];
      TermCells& mine = cells.emplace_back(TermCells{{}, a.count * b.count, false});
      for (std::size_t i = 0; i < data.target.size(); ++i) {
        const bool none = a.cells[i] == a.count || b.cells[i] == b.count;
        mine.cells.push_back(
            static_cast<std::uint16_t>(none ? mine.count : a.cells[i] * b.count + b.cells[i]));
      }
    }
    EbmOptions options;
    EbmRows rows(data.target, data.training, false, 0);
    EbmRows same = rows;
    PairRounds together(cells, data.features, pairs, rows, options);
    RowRounds apart(cells, same, options,
                    [&](std::size_t t, const StepSums& sums, const std::vector<double>& rows_of,
                        Random* random, std::vector<double>& step) {
                      pair_step(sums, rows_of,
                                data.features[static_cast<std::size_t>(pairs[t].first)].count,
                                data.features[static_cast<std::size_t>(pairs[t].second)].count,
                                options, random, step);
                    });
    EXPECT_EQ(together.begin(), apart.begin());
    EbmScores left = no_scores(cells);
    EbmScores right = left;
    Random first(7);
    Random second(7);
    for (int round = 0; round < 60; ++round) {
      const bool drawn = round < 50;
      const double error = together.round(drawn ? &first : nullptr, left);
      const double other = apart.round(drawn ? &second : nullptr, right);
      ASSERT_NEAR(error, other, 1e-5 * other) << round;
    }
    expect_same(left, right, 1e-4);
    for (std::size_t i = 0; i < rows.count(); ++i) {
      ASSERT_NEAR(rows.score[i], same.score[i], 1e-4) << i;
    }
  }
}

std::vector<TermCells> features_of(int numbers, int bins, int categories, std::size_t rows) {
  std::vector<TermCells> features(static_cast<std::size_t>(numbers), {Cells(rows, 1), bins, false});
  if (categories > 0) features.push_back({Cells(rows, 1), categories, true});
  for (TermCells& feature : features) {
    for (std::size_t i = 0; i < rows; ++i) {
      feature.cells[i] = static_cast<std::uint16_t>(i % static_cast<std::size_t>(feature.count));
    }
  }
  return features;
}

// Tables where they take less time than passes over the rows, and not too much memory.
TEST(EbmRounds, CountsAreWorthItForManyRowsAndFewBins) {
  constexpr int kLeaves = 3;
  EXPECT_TRUE(CountPlan(features_of(12, 256, 118, 200000)).worth(kLeaves));
  EXPECT_FALSE(CountPlan(features_of(12, 256, 118, 1000)).worth(kLeaves));
  EXPECT_TRUE(CountPlan(features_of(12, 32, 0, 2000)).worth(kLeaves));
  EXPECT_FALSE(CountPlan(features_of(12, 32, 0, 500)).worth(kLeaves));
  // Categories cost a line each.
  EXPECT_TRUE(CountPlan(features_of(5, 256, 1000, 200000)).worth(kLeaves));
  EXPECT_FALSE(CountPlan(features_of(5, 256, 1000, 20000)).worth(kLeaves));
  // Memory: bins squared, 16 bits for each of two parts.
  const CountPlan most(features_of(13, 271, 0, 200000));
  EXPECT_EQ(most.bytes(), 2U * 2 * (13 * 272) * (13 * 272));
  EXPECT_LE(most.bytes(), kMostCountBytes);
  EXPECT_TRUE(most.worth(kLeaves));
  const CountPlan more(features_of(14, 271, 0, 200000));
  EXPECT_GT(more.bytes(), kMostCountBytes);
  EXPECT_FALSE(more.worth(kLeaves));
  EXPECT_FALSE(CountPlan(features_of(1, 256, 60000, 200000)).worth(kLeaves));
}

// Counting takes longer than a round: it asks, too.
TEST(EbmRounds, CountingStopsWhenItIsTold) {
  const Binned data = binned_rows(500, 8);
  const CountPlan plan(data.features);
  EbmOptions options;
  int asked = 0;
  options.keep_going = [&] { return ++asked <= 2; };
  const BinCounts counts(plan, data.features, 0, data.training, options);
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace muster
