#include "report/terminal.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace muster {
namespace {

TEST(Fitted, BreaksAtBlanksBelowTheLastColumn) {
  EXPECT_EQ(fitted("  las     least attained service first, with a bound\n", 30),
            "  las     least attained\n"
            "          service first, with\n"
            "          a bound\n");
  EXPECT_EQ(fitted("one two three four five", 12), "one two\n  three four\n  five");
}

TEST(Fitted, LeavesWhatFitsAndWhatHasNoBlanks) {
  EXPECT_EQ(fitted("a\n\nshort\n", 10), "a\n\nshort\n");
  EXPECT_EQ(fitted("", 10), "");
  EXPECT_EQ(fitted("0123456789abcdef\n", 10), "0123456789abcdef\n");
  EXPECT_EQ(fitted("a 0123456789abcdef b\n", 10), "a 0123456789abcdef\n  b\n");
  EXPECT_EQ(fitted("     \n          \n", 4), "     \n          \n");
}

TEST(Fitted, LosesNoWord) {
  const std::string text =
      "  a long line  with  columns   here and a tail of many words that goes on and on and on\n"
      "größer größer größer größer größer größer\n";
  const auto words = [](std::string_view all) {
    std::string joined;
    for (const char c : all) {
      if (c != ' ' && c != '\n') joined += c;
    }
    return joined;
  };
  for (std::size_t width = 1; width < 100; ++width) {
    const std::string narrow = fitted(text, width);
    EXPECT_EQ(words(narrow), words(text)) << width;
    if (width < 30) continue;
    for (const std::string_view line : split(narrow, '\n')) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
}

}  // namespace
}  // namespace muster
