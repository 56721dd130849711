#include "workload/perf/throughput_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kSmall = R"json({
  "v100": {"('LM', 1)": {"null": 10.0, "('LM', 1)": [6.0, 6.0], "('A3C', 1)": [7.0, 2.5]},
           "('LM', 2)": {"null": 18.0},
           "('A3C', 1)": {"null": 5, "('LM', 1)": [2.5, 7.0]}},
  "k80":  {"('LM', 1)": {"null": 2.0}, "('A3C', 1)": {"null": 0}}
})json";

std::string error_of(std::string_view json) {
  const auto table = parse_throughput_table(json, "rates.json");
  return table ? "no error" : table.error().message;
}

TEST(ThroughputTable, FindsRatesAloneAndInPairs) {
  const auto table = parse_throughput_table(kSmall, "rates.json");
  ASSERT_TRUE(table) << table.error().message;
  const int v100 = table->type("v100");
  const int k80 = table->type("k80");
  const int lm = table->key("LM", 1);
  const int a3c = table->key("A3C", 1);
  EXPECT_EQ(table->alone(v100, lm), 10);
  EXPECT_EQ(table->alone(v100, table->key("LM", 2)), 18);
  EXPECT_EQ(table->pair(v100, lm, a3c).mine, 7);
  EXPECT_EQ(table->pair(v100, lm, a3c).other, 2.5);
  EXPECT_EQ(table->alone(k80, a3c), 0);
  EXPECT_TRUE(table->known(k80, a3c));
  EXPECT_FALSE(table->known(k80, table->key("LM", 2)));
  EXPECT_EQ(table->key("LM", 4), ThroughputTable::kUnknown);
  EXPECT_EQ(table->type("a100"), ThroughputTable::kUnknown);
}

TEST(ThroughputTable, SaysWhatIsWrong) {
  EXPECT_THAT(error_of("{"), HasSubstr("rates.json: not a table of throughputs"));
  EXPECT_THAT(error_of("{}"), HasSubstr("no throughputs"));
  EXPECT_THAT(error_of(R"json({"v100": {"('LM', 1)": {"null": 0, "('LM', 1)": [1, 1]}}})json"),
              HasSubstr("every rate is zero"));
  EXPECT_THAT(error_of(R"json({"v100": 3})json"),
              HasSubstr("v100: expected an object of job types"));
  EXPECT_THAT(error_of(R"json({"v100": {"LM": {"null": 1}}})json"),
              HasSubstr("v100, LM: expected a key"));
  EXPECT_THAT(error_of(R"json({"v100": {"('LM', 1)": {"null": -1}}})json"),
              HasSubstr("expected a rate of zero or more"));
  EXPECT_THAT(error_of(R"json({"v100": {"('LM', 1)": {"('LM', 1)": [1, 1]}}})json"),
              HasSubstr("expected its rate alone under \"null\""));
  EXPECT_THAT(error_of(R"json({"v100": {"('LM', 1)": {"null": 1, "('A3C', 1)": [1, 1]}}})json"),
              HasSubstr("but ('A3C', 1) has none"));
  EXPECT_THAT(error_of(R"json({"v100": {"('LM', 1)": {"null": 1, "('LM', 1)": [1]}}})json"),
              HasSubstr("expected two rates"));
}

TEST(Throughputs, RatesByTypeAndNeighbour) {
  const TemporaryFolder folder;
  Symbols symbols;
  const std::string path = folder.write("rates.json", kSmall);
  auto model = load_throughputs(path, "v100", symbols);
  ASSERT_TRUE(model) << model.error().message;
  JobSpec lm;
  lm.model = symbols.intern("LM");
  lm.duration = 100;
  lm.iterations = 1000;
  JobSpec a3c = lm;
  a3c.model = symbols.intern("A3C");
  RunContext context;
  context.gpus = 1;
  context.gpu_type = symbols.intern("k80");
  EXPECT_EQ((*model)->step_rate(lm, context), 2);
  EXPECT_EQ((*model)->rate(lm, context), 0.2);
  EXPECT_EQ((*model)->step_rate(a3c, context), 0) << "it does not fit there";
  EXPECT_GT((*model)->rate(a3c, context), 0) << "others must come to an end all the same";
  context.gpu_type = symbols.intern("t4");
  EXPECT_EQ((*model)->step_rate(lm, context), 0) << "nobody has measured it on such GPUs";
  EXPECT_GT((*model)->rate(lm, context), 0);
  context.gpu_type = kNoSymbol;
  EXPECT_EQ((*model)->rate(lm, context), 1) << "as recorded";
  context.gpu_type = symbols.intern("v100");
  const JobSpec* neighbours[] = {&a3c};
  context.neighbours = neighbours;
  EXPECT_EQ((*model)->step_rate(lm, context), 7);
  EXPECT_THAT(load_throughputs(path, "a100", symbols).error().message,
              HasSubstr("no GPU type 'a100'"));
  EXPECT_THAT(load_throughputs("", "v100", symbols).error().message, HasSubstr("parameter file"));
  EXPECT_THAT(load_throughputs("nowhere.json", "v100", symbols).error().message,
              HasSubstr("nowhere.json: cannot be read"));
}

}  // namespace
}  // namespace muster
