#include "model/prices.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

constexpr Symbol kFast{1};
constexpr Symbol kSlow{2};

TEST(Prices, TheCheapestSellerCounts) {
  const PriceBook book(
      {{kFast, "a", 0, 3}, {kFast, "b", 3600, 2}, {kFast, "a", 7200, 1}, {kSlow, "a", 100, 0.5}});
  // A seller asks its first price before its first offer, too.
  EXPECT_EQ(book.at(kFast, 0), 2);
  EXPECT_EQ(book.at(kFast, 3600), 2);
  EXPECT_EQ(book.at(kFast, 7199), 2);
  EXPECT_EQ(book.at(kFast, 7200), 1);
  EXPECT_EQ(book.at(kSlow, 0), 0.5);
  EXPECT_EQ(book.at(Symbol{3}, 0), 0);
  EXPECT_FALSE(book.knows(Symbol{3}));
  EXPECT_DOUBLE_EQ(book.between(kFast, 0, 3600), 2);
  EXPECT_DOUBLE_EQ(book.between(kFast, 3600, 10800), 2 + 1);
  EXPECT_DOUBLE_EQ(book.between(kFast, 50, 50), 0);
  EXPECT_EQ(book.next_change(0), 7200);
  EXPECT_EQ(book.next_change(7200), kNever);
}

TEST(Prices, RiseAndFall) {
  const PriceBook book({{kFast, "", 3600, 4}, {kFast, "", 0, 1}, {kFast, "", 7200, 2}});
  EXPECT_EQ(book.at(kFast, 0), 1);
  EXPECT_DOUBLE_EQ(book.between(kFast, 0, 3 * 3600), 1 + 4 + 2);
  EXPECT_EQ(book.next_change(0), 3600);
  EXPECT_EQ(book.next_change(3600), 7200);
}

}  // namespace
}  // namespace muster
