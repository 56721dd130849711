#include "report/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "report/terminal.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Units, DurationsReadLikeSpeech) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(0.12), "120 ms");
  EXPECT_EQ(duration_text(3.2), "3.2 s");
  EXPECT_EQ(duration_text(45), "45 s");
  EXPECT_EQ(duration_text(59.7), "1 min");
  EXPECT_EQ(duration_text(90), "1 min 30 s");
  EXPECT_EQ(duration_text(3599.9), "1 h");
  EXPECT_EQ(duration_text(7800), "2 h 10 min");
  EXPECT_EQ(duration_text(86400 + 3 * 3600), "1 d 3 h");
  EXPECT_EQ(duration_text(86399.9), "1 d");
  EXPECT_EQ(duration_text(86400.0 * 1234), "1,234 d");
  EXPECT_EQ(duration_text(-90), "-1 min 30 s");
  EXPECT_EQ(duration_text(kNoFigure), "n/a");
}

TEST(Units, NumbersCarryTheirUnit) {
  EXPECT_EQ(count_text(82247), "82,247");
  EXPECT_EQ(count_text(-1234567), "-1,234,567");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(number_text(0.7134, Unit::kRatio), "71.3 %");
  EXPECT_EQ(number_text(3.4567, Unit::kFactor), "3.46");
  EXPECT_EQ(number_text(1234.5, Unit::kGpuHours), "1,235");
  EXPECT_EQ(number_text(kNoFigure, Unit::kCount), "n/a");
}

Table sample() {
  Table table({{"policy", "policy", Unit::kCount, Better::kNeither},
               {"avg_jct_s", "avg JCT", Unit::kSeconds, Better::kLower},
               {"utilization", "utilisation", Unit::kRatio, Better::kHigher}});
  table.add_row({std::string("fifo"), 7200.5, 0.5});
  table.add_row({std::string("srtf"), 3600.0, 0.75});
  table.add_row({std::string("größer"), {}, 0.75});
  return table;
}

TEST(Table, AlignsAndMarksTheBest) {
  EXPECT_EQ(sample().text({}),
            "policy  avg JCT   utilisation\n"
            "──────  ───────   ───────────\n"
            "fifo        2 h        50.0 %\n"
            "srtf        1 h*       75.0 %*\n"
            "größer                 75.0 %*\n"
            "* best of its column\n");
}

TEST(Table, ColumnsThatDoNotFitGoBelowWithTheFirstOneAgain) {
  EXPECT_EQ(sample().text({.width = 20}),
            "policy  avg JCT\n"
            "──────  ───────\n"
            "fifo        2 h\n"
            "srtf        1 h*\n"
            "größer\n"
            "\n"
            "policy  utilisation\n"
            "──────  ───────────\n"
            "fifo         50.0 %\n"
            "srtf         75.0 %*\n"
            "größer       75.0 %*\n"
            "* best of its column\n");
  EXPECT_EQ(sample().text({.width = 30}), sample().text({}));
}

TEST(Table, ALongLastColumnOfWordsIsWrapped) {
  Table table({{"figure", "figure"}, {"meaning", "meaning"}});
  table.add_row({std::string("a"), std::string("one two three four five six seven eight nine")});
  table.add_row({std::string("b"), std::string("short")});
  EXPECT_EQ(table.text({.width = 34}),
            "figure  meaning\n"
            "──────  ──────────────────────────\n"
            "a       one two three four five\n"
            "        six seven eight nine\n"
            "b       short\n");
}

TEST(Table, EveryHeadlineTableFitsANarrowTerminal) {
  RunSummary summary;
  summary.metrics = Metrics{};
  summary.metrics.avg_jct_s = 123456;
  for (const std::size_t width : {60U, 80U, 120U}) {
    for (const Table& table :
         {comparison_table({{"las + consolidated", &summary}}), figures_table(summary)}) {
      const std::string text = table.text({.width = width});
      for (const std::string_view line : split(text, '\n')) {
        EXPECT_LE(display_width(line), width) << line;
      }
    }
  }
}

TEST(Table, ColoursOnlyWhenAsked) {
  EXPECT_THAT(sample().text({}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(sample().text({.colour = true}), HasSubstr("\x1b[1;32m1 h\x1b[0m"));
}

TEST(Table, MarksNothingWhereAllAreEqual) {
  Table table({{"a", "a", Unit::kCount, Better::kLower}});
  table.add_row({1.0});
  table.add_row({1.0});
  EXPECT_THAT(table.text({}), Not(HasSubstr("*")));
}

TEST(Table, GivesProgramsExactNumbers) {
  EXPECT_EQ(sample().csv(),
            "policy,avg_jct_s,utilization\nfifo,7200.5,0.5\nsrtf,3600,0.75\ngrößer,,0.75\n");
  EXPECT_EQ(
      sample().json(),
      "[\n {\n  \"policy\": \"fifo\",\n  \"avg_jct_s\": 7200.5,\n  \"utilization\": 0.5\n },\n"
      " {\n  \"policy\": \"srtf\",\n  \"avg_jct_s\": 3600,\n  \"utilization\": 0.75\n },\n"
      " {\n  \"policy\": \"größer\",\n  \"avg_jct_s\": null,\n  \"utilization\": 0.75\n }\n]\n");
}

TEST(Table, WidthCountsWhatTheEyeSees) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("größer"), 6U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
}

TEST(ComparisonTable, ShowsRefusedJobsOnlyWhereThereAreSome) {
  RunSummary a;
  RunSummary b;
  a.metrics.avg_jct_s = 100;
  b.metrics.avg_jct_s = 50;
  EXPECT_THAT(comparison_table({{"a", &a}, {"b", &b}}).csv(), Not(HasSubstr("refused")));
  b.metrics.refused = 2;
  EXPECT_THAT(comparison_table({{"a", &a}, {"b", &b}}).csv(), HasSubstr("refused"));
  EXPECT_EQ(comparison_table({{"a", &a}}, {"avg_jct_s"}).csv(), "run,avg_jct_s\na,100\n");
}

TEST(FiguresTable, LeavesOutWhatThereIsNot) {
  RunSummary summary;
  summary.metrics.jobs = 3;
  EXPECT_THAT(figures_table(summary).text({}), HasSubstr("jobs that left"));
  EXPECT_THAT(figures_table(summary).text({}), Not(HasSubstr("avg JCT")));
}

TEST(Terminal, APipeIsNone) {
  EXPECT_FALSE(is_terminal(-1));
  EXPECT_FALSE(wants_colour(-1));
  EXPECT_GT(terminal_width(-1), 0);
}

// Who knows how long jobs will run is marked, in a column of its own; where nobody does there is
// none.
TEST(ComparisonTable, MarksWhoKnowsDurations) {
  RunSummary summary;
  RunInfo knows;
  knows.clairvoyant = true;
  const RunInfo does_not;
  const Table both = comparison_table({{"srtf", &summary, &knows}, {"las", &summary, &does_not}});
  EXPECT_THAT(both.csv(), ::testing::HasSubstr("clairvoyant"));
  EXPECT_THAT(both.text({}), ::testing::HasSubstr("knows durations"));
  const Table neither = comparison_table({{"las", &summary, &does_not}});
  EXPECT_THAT(neither.csv(), ::testing::Not(::testing::HasSubstr("clairvoyant")));
}

}  // namespace
}  // namespace muster
