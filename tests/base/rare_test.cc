#include "base/rare.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

struct Point {
  int x = -1;
  int y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

TEST(Rare, ReadsAsADefaultValueWhereThereIsNone) {
  const Rare<Point> none;
  EXPECT_EQ(none->x, -1);
  EXPECT_EQ(*none, Point{});
  EXPECT_EQ(sizeof(none), sizeof(void*));
}

TEST(Rare, CopiesAreOfTheirOwn) {
  Rare<Point> one;
  one.set({1, 2});
  Rare<Point> copy = one;
  Rare<Point> assigned;
  assigned = one;
  one.set({3, 4});
  EXPECT_EQ(*one, (Point{3, 4}));
  EXPECT_EQ(*copy, (Point{1, 2}));
  EXPECT_EQ(*assigned, (Point{1, 2}));
  const Rare<Point>& itself = copy;
  copy = itself;
  EXPECT_EQ(*copy, (Point{1, 2}));
  const Rare<Point> moved = std::move(copy);
  EXPECT_EQ(moved->y, 2);
}

TEST(Rare, BecomesNoneAgain) {
  Rare<Point> one;
  one.set({1, 2});
  one.set({});
  EXPECT_EQ(one, Rare<Point>());
  one.set({1, 2});
  one = Rare<Point>();
  EXPECT_EQ(one->x, -1);
}

}  // namespace
}  // namespace muster
