#include "base/table_lookup.h"

#include <memory>

#include <gtest/gtest.h>

namespace muster {
namespace {

struct Row {
  std::string_view name;
  ParamList params;
  std::unique_ptr<double> (*make)(const Params&);
};

const std::vector<Row>& table() {
  static const std::vector<Row> kTable = {
      {"square",
       {{"side", ParamKind::kReal, "2", "length of a side", 0}},
       [](const Params& p) { return std::make_unique<double>(p.real("side") * p.real("side")); }},
      {"point", {}, [](const Params&) { return std::make_unique<double>(0.0); }},
  };
  return kTable;
}

TEST(FindRow, FindsByNameOrSaysWhatExists) {
  const auto found = find_row("shape", table(), "point");
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)->name, "point");
  const auto missing = find_row("shape", table(), "sqare");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            "no shape 'sqare'; did you mean 'square'? known: square, point");
}

TEST(MakeFrom, MakesWithDefaultsAndGivenParameters) {
  EXPECT_EQ(**make_from("shape", table(), "square", {}), 4);
  EXPECT_EQ(**make_from("shape", table(), "square", {{"side", "3"}}), 9);
}

TEST(MakeFrom, PassesOnBothKindsOfComplaint) {
  EXPECT_FALSE(make_from("shape", table(), "circle", {}));
  const auto wrong = make_from("shape", table(), "square", {{"side", "-1"}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "shape 'square': parameter 'side' is '-1', but must be at least 0 (length of a side)");
}

}  // namespace
}  // namespace muster
