#include "base/symbols.h"

#include <string>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Symbols, AreEqualWhereTextsAre) {
  Symbols symbols;
  EXPECT_EQ(symbols.intern(""), kNoSymbol);
  const Symbol v100 = symbols.intern("v100");
  EXPECT_NE(v100, kNoSymbol);
  EXPECT_EQ(symbols.intern("v100"), v100);
  EXPECT_NE(symbols.intern("k80"), v100);
  EXPECT_EQ(symbols.text(v100), "v100");
  EXPECT_EQ(symbols.size(), 3U);
}

TEST(Symbols, FindDoesNotIntern) {
  Symbols symbols;
  EXPECT_EQ(symbols.find("v100"), kNoSymbol);
  EXPECT_EQ(symbols.size(), 1U);
  const Symbol v100 = symbols.intern("v100");
  EXPECT_EQ(symbols.find("v100"), v100);
}

// The index keeps views of the texts: they must stay where they are while the table grows, is moved
// or copied.
TEST(Symbols, SurviveGrowthMoveAndCopy) {
  Symbols symbols;
  std::vector<Symbol> made;
  made.reserve(1000);
  for (int i = 0; i < 1000; ++i) made.push_back(symbols.intern("name " + std::to_string(i)));
  const Symbols copied(symbols);
  const Symbols moved(std::move(symbols));
  for (int i = 0; i < 1000; ++i) {
    const std::string text = "name " + std::to_string(i);
    EXPECT_EQ(moved.find(text), made[static_cast<std::size_t>(i)]);
    EXPECT_EQ(copied.find(text), made[static_cast<std::size_t>(i)]);
    EXPECT_EQ(copied.text(made[static_cast<std::size_t>(i)]), text);
  }
}

}  // namespace
}  // namespace muster
