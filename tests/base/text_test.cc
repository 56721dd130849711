#include "base/text.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Trim, TakesBlanksFromBothEnds) {
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(ParseReal, ReadsWholeTextsOnly) {
  EXPECT_EQ(parse_real("2.5"), 2.5);
  EXPECT_EQ(parse_real("-1e3"), -1000);
  EXPECT_EQ(parse_real("+7"), 7);
  EXPECT_EQ(parse_real("inf"), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(parse_real("nan").value_or(0)));
  for (const char* wrong :
       {"", " 1", "1 ", "12x", "1,5", "0x10", "+-5", "++5", "-+5", "+", "1e999"}) {
    EXPECT_EQ(parse_real(wrong), std::nullopt) << "'" << wrong << "'";
  }
}

TEST(ParseInteger, ReadsWholeTextsOnly) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("+12"), 12);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* wrong : {"", "1.0", "1e3", "9223372036854775808", "+-5", "--5", " 1", "x"}) {
    EXPECT_EQ(parse_integer(wrong), std::nullopt) << "'" << wrong << "'";
  }
}

TEST(ParseFlag, KnowsTheUsualWords) {
  for (const char* yes : {"true", "yes", "on", "1"}) EXPECT_EQ(parse_flag(yes), true);
  for (const char* no : {"false", "no", "off", "0"}) EXPECT_EQ(parse_flag(no), false);
  for (const char* wrong : {"", "True", "2", "y"}) EXPECT_EQ(parse_flag(wrong), std::nullopt);
}

TEST(Nearest, FindsSlipsAndNothingElse) {
  const std::string_view known[] = {"fifo", "las", "srtf", "tiresias"};
  EXPECT_EQ(nearest("lass", known), "las");
  EXPECT_EQ(nearest("tiresais", known), "tiresias");
  EXPECT_EQ(nearest("srft", known), "srtf");
  EXPECT_EQ(nearest("gandiva", known), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
}

TEST(UnknownName, SuggestsAndLists) {
  const std::string_view known[] = {"fifo", "las"};
  EXPECT_EQ(unknown_name("policy", "lass", known),
            "no policy 'lass'; did you mean 'las'? known: fifo, las");
  EXPECT_THAT(unknown_name("policy", "zzzzzz", known), Not(HasSubstr("did you mean")));
}

TEST(ExactText, ReadsBackAsTheSameNumber) {
  EXPECT_EQ(exact_text(3), "3");
  EXPECT_EQ(exact_text(-0.5), "-0.5");
  for (const double value :
       {0.1, 1.0 / 3, 1e16, 1e-300, 123456789.125, 2e15 + 1, -0.0,
        std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min(),
        std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(parse_real(exact_text(value)), value) << exact_text(value);
  }
}

TEST(Text, SpellingsOfOneName) {
  for (const std::string_view other :
       {"utilization", "utilisation", "Utilisation", "UTILIZATION"}) {
    EXPECT_TRUE(same_name("utilization", other)) << other;
  }
  EXPECT_TRUE(same_name("max-min-fairness", "Max_Min_Fairness"));
  EXPECT_FALSE(same_name("las", "la"));
  EXPECT_FALSE(same_name("las", "lasa"));
}

TEST(Text, AnUnknownNameWhereThereAreNone) {
  EXPECT_EQ(unknown_name("partition", "vc1", {}),
            "no partition 'vc1'; there are none to choose from");
}

}  // namespace
}  // namespace muster
