#include "perf/throughput_estimate.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "perf/matrix_completion.h"
#include "support/gavel_table.h"
#include "support/paths.h"
#include "support/temporary_folder.h"
#include "workload/perf/throughput_json.h"

namespace muster {
namespace {

TEST(MatrixCompletion, FindsTheGapsOfALowRank) {
  constexpr std::size_t kRows = 20;
  constexpr std::size_t kColumns = 30;
  Random random(7);
  std::vector<double> left(2 * kRows);
  std::vector<double> right(2 * kColumns);
  for (double& one : left) one = random.uniform(0.2, 1);
  for (double& one : right) one = random.uniform(0.2, 1);
  std::vector<double> cells(kRows * kColumns);
  std::vector<char> known(cells.size());
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      cells[r * kColumns + c] = left[2 * r] * right[2 * c] + left[2 * r + 1] * right[2 * c + 1];
      known[r * kColumns + c] = random.chance(0.7) ? 1 : 0;
    }
  }
  std::vector<double> given = cells;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (known[i] == 0) given[i] = 1e9;  // what is not known must not matter
  }
  const auto full = complete_matrix(given, known, kRows, kColumns, {.rank = 3, .tolerance = 1e-6});
  ASSERT_TRUE(full);
  double worst = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    worst = std::max(worst, std::abs((*full)[i] - cells[i]));
  }
  EXPECT_LT(worst, 0.1);
}

TEST(MatrixCompletion, HasAnAnswerForEverything) {
  EXPECT_FALSE(complete_matrix(std::vector<double>(4), std::vector<char>(4, 0), 2, 2));
  EXPECT_FALSE(complete_matrix(std::vector<double>{1, NAN}, std::vector<char>{1, 1}, 1, 2));
  const auto one = complete_matrix(std::vector<double>{0.5}, std::vector<char>{1}, 1, 1);
  ASSERT_TRUE(one);
  EXPECT_NEAR((*one)[0], 0.5, 0.05);
}

struct Estimates {
  ThroughputTable table;
  std::vector<int> types;
  std::vector<int> single;  // keys of one GPU
};

Estimates open(const std::string& json) {
  auto table = parse_throughput_table(json, "table");
  EXPECT_TRUE(table);
  Estimates all{std::move(*table), {}, {}};
  for (const std::string_view type : {"k80", "p100", "v100"}) {
    all.types.push_back(all.table.type(type));
  }
  for (std::size_t i = 0; i < all.table.keys().size(); ++i) {
    if (all.table.keys()[i].gpus == 1) all.single.push_back(static_cast<int>(i));
  }
  return all;
}

int matching_themselves(const Estimates& all, const ThroughputEstimator& estimator,
                        const std::vector<int>& keys) {
  int same = 0;
  for (const int key : keys) {
    Random random(static_cast<std::uint64_t>(key), "test");
    same += estimator.match(key, random) == key ? 1 : 0;
  }
  EXPECT_LE(keys.size(), all.single.size());
  return same;
}

// The published estimator reads wrong columns below all references: none of 16 matched itself.
TEST(ThroughputEstimate, ReferencesMatchThemselves) {
  const Estimates all = open(gavel_table_json());
  ASSERT_EQ(all.single.size(), 26U);
  for (const int references : {1, 2, 5, 16, 25, 26, 0, 99}) {
    const ThroughputEstimator estimator(all.table, all.types, {.references = references});
    const std::size_t expected =
        references == 0 || references > 26 ? 26 : static_cast<std::size_t>(references);
    ASSERT_EQ(estimator.references().size(), expected);
    EXPECT_EQ(matching_themselves(all, estimator, estimator.references()),
              static_cast<int>(expected))
        << references << " references";
  }
}

TEST(ThroughputEstimate, PairsOfReferencesAreTheMeasuredOnes) {
  const Estimates all = open(gavel_table_json());
  const ThroughputEstimator estimator(all.table, all.types, {});
  for (const int type : all.types) {
    for (const int a : all.single) {
      for (const int b : all.single) {
        const auto believed = estimator.pair(type, a, a, b, b);
        const auto measured = all.table.pair(type, a, b);
        EXPECT_NEAR(believed.mine, measured.mine, 1e-6 * measured.mine);
        EXPECT_NEAR(believed.other, measured.other, 1e-5 * measured.other);
      }
    }
  }
}

TEST(ThroughputEstimate, StrangersFindAReference) {
  const Estimates all = open(gavel_table_json());
  const ThroughputEstimator estimator(all.table, all.types,
                                      {.profiled = 0.6, .references = 16, .seed = 3});
  const std::set<int> references(estimator.references().begin(), estimator.references().end());
  for (const int key : all.single) {
    Random random(static_cast<std::uint64_t>(key), "test");
    EXPECT_EQ(references.count(estimator.match(key, random)), 1U);
  }
  // Nothing profiled at all: still one of them.
  const ThroughputEstimator blind(all.table, all.types, {.profiled = 0, .references = 4});
  Random random(1);
  EXPECT_EQ(std::count(blind.references().begin(), blind.references().end(),
                       blind.match(all.single[0], random)),
            1);
  // Jobs on several GPUs stand for themselves.
  const int wide = all.table.key("LM (batch size 5)", 4);
  EXPECT_EQ(blind.match(wide, random), wide);
}

TEST(ThroughputEstimate, OfThePublishedTable) {
  MUSTER_NEEDS_SHARED("data/gavel/simulation_throughputs.json");
  auto table =
      load_throughput_table((shared_dir() / "data/gavel/simulation_throughputs.json").string());
  ASSERT_TRUE(table);
  Estimates all{std::move(*table), {}, {}};
  for (const std::string_view type : {"k80", "p100", "v100"}) {
    all.types.push_back(all.table.type(type));
  }
  for (std::size_t i = 0; i < all.table.keys().size(); ++i) {
    if (all.table.keys()[i].gpus == 1) all.single.push_back(static_cast<int>(i));
  }
  const ThroughputEstimator whole(all.table, all.types, {});
  EXPECT_EQ(matching_themselves(all, whole, all.single), 26);
  const ThroughputEstimator some(all.table, all.types, {.references = 16});
  EXPECT_EQ(matching_themselves(all, some, some.references()), 16);
  // Gavel's own with half of the cells: 21 of 26.
  const ThroughputEstimator half(all.table, all.types, {.profiled = 0.5});
  EXPECT_GE(matching_themselves(all, half, all.single), 21);
}

TEST(EstimatedThroughputs, IsABeliefAboutPairsAlone) {
  TemporaryFolder folder;
  const std::string file = folder.write("table.json", gavel_table_json()).string();
  Symbols symbols;
  auto truth = load_throughputs(file, "v100", symbols);
  auto belief = load_estimated_throughputs(file, "v100",
                                           {.profiled = 0.3, .references = 3, .seed = 1}, symbols);
  ASSERT_TRUE(truth && belief);
  JobSpec mine;
  mine.id = JobId{4};
  mine.model = symbols.intern("ResNet-50 (batch size 64)");
  mine.duration = 1000;
  JobSpec other = mine;
  other.id = JobId{5};
  other.model = symbols.intern("CycleGAN");
  RunContext context;
  context.gpus = 1;
  context.gpu_type = symbols.intern("p100");
  EXPECT_EQ((*belief)->step_rate(mine, context), (*truth)->step_rate(mine, context));
  const JobSpec* co_located = &other;
  context.neighbours = std::span(&co_located, 1);
  const double believed = (*belief)->step_rate(mine, context);
  EXPECT_GT(believed, 0);
  EXPECT_EQ((*belief)->step_rate(mine, context), believed) << "a job is profiled once";
  other.model = symbols.intern("Unheard-of");
  const Status checked = (*truth)->check(other);
  ASSERT_FALSE(checked);
  EXPECT_EQ(
      checked.error().message,
      "job '5': its type 'Unheard-of' on 1 GPUs is not in the table of throughputs; the table "
      "does not know the type at all");
}

}  // namespace
}  // namespace muster
