#include "learn/ebm.h"

#include <atomic>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "learn/boosted.h"
#include "learn/model_file.h"

namespace muster {
namespace {

struct Sample {
  FeatureSet features;
  std::vector<std::vector<double>> columns;
  std::vector<double> target;
};

using Shape = std::function<double(double)>;

FeatureSet numbers(std::size_t count) {
  std::vector<Feature> features;
  for (std::size_t i = 0; i < count; ++i) features.push_back({fmt::format("x{}", i), false, {}});
  return FeatureSet(std::move(features));
}

// Rows whose target is a sum of shapes of uniform features in [0, 1), with noise.
Sample draw(const std::vector<Shape>& shapes, std::size_t rows, double noise, std::uint64_t seed) {
  Random random(seed);
  Sample sample;
  sample.features = numbers(shapes.size());
  sample.columns.resize(shapes.size());
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::size_t f = 0; f < shapes.size(); ++f) {
      const double x = random.unit();
      sample.columns[f].push_back(x);
      sum += shapes[f](x);
    }
    sample.target.push_back(sum + noise * random.normal(0, 1));
  }
  return sample;
}

std::vector<double> row_of(const Sample& sample, std::size_t i) {
  std::vector<double> row;
  for (const auto& column : sample.columns) row.push_back(column[i]);
  return row;
}

double root_mean_square(const Sample& sample, const std::function<double(std::size_t)>& predict) {
  double sum = 0;
  for (std::size_t i = 0; i < sample.target.size(); ++i) {
    const double error = predict(i) - sample.target[i];
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(sample.target.size()));
}

// How much of a shape, up to a constant, the term has found.
double shape_r2(const EbmTerm& term, const Shape& shape) {
  double mean_truth = 0;
  double mean_found = 0;
  std::vector<double> truth;
  std::vector<double> found;
  constexpr int kPoints = 1000;
  for (int i = 0; i < kPoints; ++i) {
    const double x = (i + 0.5) / kPoints;
    std::vector<double> row(static_cast<std::size_t>(term.features[0]) + 1, x);
    truth.push_back(shape(x));
    found.push_back(term.scores[static_cast<std::size_t>(term.cell(row))]);
    mean_truth += truth.back() / kPoints;
    mean_found += found.back() / kPoints;
  }
  double residual = 0;
  double total = 0;
  for (int i = 0; i < kPoints; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double t = truth[k] - mean_truth;
    residual += std::pow(t - (found[k] - mean_found), 2);
    total += t * t;
  }
  return 1 - residual / total;
}

struct Task {
  std::string name;
  std::vector<Shape> shapes;
  double noise;
};

std::vector<Task> tasks() {
  return {
      {"lines", {[](double x) { return 4 * x; }, [](double x) { return -2 * x; }}, 0.2},
      {"waves",
       {[](double x) { return 2 * std::sin(6 * x); }, [](double x) { return std::cos(9 * x); },
        [](double x) { return 3 * x * x; }},
       0.2},
      {"steps",
       {[](double x) { return x > 0.3 ? 2.0 : 0.0; },
        [](double x) { return x > 0.7 ? -3.0 : 1.0; }},
       0.3},
      {"exponents",
       {[](double x) { return std::exp(2 * x); }, [](double x) { return 5 * std::sqrt(x); },
        [](double x) { return -4 * x; }, [](double x) { return std::abs(8 * x - 4); }},
       0.5},
      {"peaks",
       {[](double x) { return 4 * std::exp(-50 * (x - 0.5) * (x - 0.5)); },
        [](double x) { return 2 * x; }, [](double x) { return std::sin(12 * x); }},
       0.3},
  };
}

TEST(Ebm, RecoversAdditiveTruth) {
  for (const Task& task : tasks()) {
    const Sample train = draw(task.shapes, 10000, task.noise, 1);
    const Sample test = draw(task.shapes, 5000, task.noise, 2);
    EbmOptions options;
    options.pairs = 0;
    const auto model = train_ebm(train.features, train.columns, train.target, options);
    ASSERT_TRUE(model) << model.error().message;
    for (std::size_t f = 0; f < task.shapes.size(); ++f) {
      const double r2 = shape_r2(model->terms[f], task.shapes[f]);
      EXPECT_GE(r2, 0.98) << task.name << " x" << f;
    }
    const double ours =
        root_mean_square(test, [&](std::size_t i) { return model->predict(row_of(test, i)); });
    fmt::print("{}: error {:.4f} (noise {})", task.name, ours, task.noise);
    if (has_boosted_trees()) {
      BoostedOptions trees;
      trees.depth = 4;
      const auto boosted =
          train_boosted_trees(train.features, train.columns, train.target, "y", trees);
      ASSERT_TRUE(boosted) << boosted.error().message;
      const auto predicted = (*boosted)->predict(test.columns);
      ASSERT_TRUE(predicted) << predicted.error().message;
      const double theirs = root_mean_square(test, [&](std::size_t i) { return (*predicted)[i]; });
      EXPECT_LE(ours, theirs * 1.05) << task.name;
      fmt::print(", boosted trees {:.4f}", theirs);
    }
    fmt::print("\n");
  }
}

TEST(Ebm, FindsTheInteractingPair) {
  Random random(3);
  Sample sample;
  sample.features = numbers(4);
  sample.columns.resize(4);
  for (int i = 0; i < 6000; ++i) {
    // Sixteen values each, so that every one has a bin of its own and the truth can be told.
    for (auto& column : sample.columns) {
      column.push_back((static_cast<double>(random.below(16)) + 0.5) / 16);
    }
    const bool a = sample.columns[1].back() > 0.5;
    const bool b = sample.columns[3].back() > 0.5;
    sample.target.push_back(sample.columns[0].back() + (a == b ? 2.0 : -2.0) +
                            0.1 * random.normal(0, 1));
  }
  EbmOptions options;
  options.pairs = 1;
  const auto model = train_ebm(sample.features, sample.columns, sample.target, options);
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(model->terms.size(), 5U);
  EXPECT_EQ(model->terms[4].features, (std::vector<int>{1, 3}));
  EXPECT_EQ(model->ranking().front(), 4);
  EXPECT_LT(
      root_mean_square(sample, [&](std::size_t i) { return model->predict(row_of(sample, i)); }),
      0.3);
}

Sample with_users(std::size_t rows) {
  Random random(5);
  Sample sample;
  std::vector<std::string> names = {"ann", "bob", "cyd", "dan"};
  sample.features = FeatureSet({{"user", true, names}, {"gpus", false, {}}});
  sample.columns.resize(2);
  const double effect[] = {5, -5, 2, 0};
  for (std::size_t i = 0; i < rows; ++i) {
    const auto user = random.below(4);
    const bool missing = random.unit() < 0.2;
    const double gpus = static_cast<double>(random.below(8) + 1);
    sample.columns[0].push_back(static_cast<double>(user));
    sample.columns[1].push_back(missing ? kMissingNumber : gpus);
    sample.target.push_back(effect[user] + (missing ? 10 : gpus) + 0.1 * random.normal(0, 1));
  }
  return sample;
}

TEST(Ebm, UsesCategoriesAndMissingValues) {
  const Sample sample = with_users(3000);
  const auto model = train_ebm(sample.features, sample.columns, sample.target, {});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_NEAR(model->predict(std::vector<double>{0, 3}), 8, 0.3);
  EXPECT_NEAR(model->predict(std::vector<double>{1, kMissingNumber}), 5, 0.3);
  // Someone who was never seen: what is known of the rest.
  const double unseen = model->predict(std::vector<double>{kMissingNumber, 3});
  EXPECT_NEAR(unseen, 3.5, 1);
}

TEST(Ebm, ExplanationAddsUp) {
  const Sample sample = with_users(2000);
  const auto model = train_ebm(sample.features, sample.columns, sample.target, {});
  ASSERT_TRUE(model);
  const std::vector<double> row = {0, 7};
  const Explanation explanation = model->explain(row);
  double sum = explanation.intercept;
  for (const auto& part : explanation.parts) sum += part.score;
  EXPECT_NEAR(sum, model->predict(row), 1e-9);
  for (std::size_t i = 1; i < explanation.parts.size(); ++i) {
    EXPECT_GE(std::abs(explanation.parts[i - 1].score), std::abs(explanation.parts[i].score));
  }
}

TEST(Ebm, Classifies) {
  Random random(7);
  Sample sample;
  sample.features = numbers(2);
  sample.columns.resize(2);
  for (int i = 0; i < 4000; ++i) {
    const double x = random.unit();
    const double y = random.unit();
    sample.columns[0].push_back(x);
    sample.columns[1].push_back(y);
    const double p = 1 / (1 + std::exp(-(10 * x - 5)));
    sample.target.push_back(random.unit() < p ? 1 : 0);
  }
  EbmOptions options;
  options.classify = true;
  const auto model = train_ebm(sample.features, sample.columns, sample.target, options);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_GT(model->predict(std::vector<double>{0.9, 0.5}), 0.9);
  EXPECT_LT(model->predict(std::vector<double>{0.1, 0.5}), 0.1);
  EXPECT_NEAR(model->predict(std::vector<double>{0.5, 0.5}), 0.5, 0.12);
}

TEST(Ebm, IsTheSameWhateverTheThreads) {
  const Sample sample = with_users(500);
  EbmOptions options;
  options.threads = 1;
  const auto one = train_ebm(sample.features, sample.columns, sample.target, options);
  options.threads = 4;
  const auto four = train_ebm(sample.features, sample.columns, sample.target, options);
  ASSERT_TRUE(one && four);
  EXPECT_EQ(to_text(*one), to_text(*four));
}

// However early or late it is told: an error, soon, and never half a model.
TEST(Ebm, StopsWhenItIsTold) {
  const Sample sample = with_users(500);
  EbmOptions options;
  options.threads = 2;
  options.max_rounds = 100000;
  options.patience = 100000;
  for (const int after : {0, 1, 2, 5, 40, 500}) {
    std::atomic<int> asked = 0;
    options.keep_going = [&] { return ++asked <= after; };
    const auto model = train_ebm(sample.features, sample.columns, sample.target, options);
    ASSERT_FALSE(model) << after;
    EXPECT_EQ(model.error().message, "training was stopped");
    EXPECT_LE(asked, after + 100);
  }
}

TEST(Ebm, IsTheSameWhetherSomebodyMayStopIt) {
  const Sample sample = with_users(200);
  EbmOptions options;
  const auto alone = train_ebm(sample.features, sample.columns, sample.target, options);
  options.keep_going = [] { return true; };
  const auto watched = train_ebm(sample.features, sample.columns, sample.target, options);
  ASSERT_TRUE(alone && watched);
  EXPECT_EQ(to_text(*alone), to_text(*watched));
}

TEST(Ebm, CanBeMadeMonotone) {
  const Sample sample = draw({[](double x) { return std::sin(6 * x); }}, 2000, 0.1, 9);
  auto model = train_ebm(sample.features, sample.columns, sample.target, {});
  ASSERT_TRUE(model);
  ASSERT_TRUE(make_monotone(*model, "x0", Direction::kIncreasing));
  const std::vector<double>& scores = model->terms[0].scores;
  for (std::size_t i = 2; i < scores.size(); ++i) EXPECT_GE(scores[i], scores[i - 1]);
  EXPECT_FALSE(make_monotone(*model, "y", Direction::kAutomatic));
}

TEST(Ebm, IsotonicFitPoolsViolators) {
  const double values[] = {1, 3, 2, 4};
  const double weights[] = {1, 1, 1, 1};
  EXPECT_EQ(isotonic(values, weights), (std::vector<double>{1, 2.5, 2.5, 4}));
}

TEST(Ebm, AnswersBadInput) {
  Sample few = with_users(49);
  const auto too_few = train_ebm(few.features, few.columns, few.target, {});
  ASSERT_FALSE(too_few);
  EXPECT_NE(too_few.error().message.find("49 training rows; at least 50"), std::string::npos);
  Sample nan = with_users(60);
  nan.target[10] = kMissingNumber;
  const auto bad = train_ebm(nan.features, nan.columns, nan.target, {});
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("row 11"), std::string::npos);
  Sample equal = with_users(60);
  for (double& value : equal.target) value = 3;
  const auto constant = train_ebm(equal.features, equal.columns, equal.target, {});
  ASSERT_TRUE(constant);
  EXPECT_NEAR(constant->predict(std::vector<double>{0, 1}), 3, 1e-6);
  Sample hollow = with_users(60);
  for (double& value : hollow.columns[1]) value = kMissingNumber;
  EXPECT_TRUE(train_ebm(hollow.features, hollow.columns, hollow.target, {}));
}

TEST(ModelFile, KeepsEverything) {
  const Sample sample = with_users(800);
  auto model = train_ebm(sample.features, sample.columns, sample.target, {});
  ASSERT_TRUE(model);
  model->target = "duration";
  const std::string text = to_text(*model);
  const auto again = ebm_of(text, "model.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), text);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(again->predict(row_of(sample, i)), model->predict(row_of(sample, i)));
  }
  for (const std::string& broken :
       {std::string("{"), std::string("[]"), text.substr(0, text.size() / 2),
        std::string(R"({"muster_model":"ebm","version":1})")}) {
    EXPECT_FALSE(ebm_of(broken, "model.json"));
  }
}

}  // namespace
}  // namespace muster
