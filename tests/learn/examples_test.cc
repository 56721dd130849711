#include "learn/examples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/csv.h"
#include "support/hostile_names.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

TEST(Examples, AnyTextReadsBack) {
  const std::vector<std::string> names = hostile_names();
  std::string text = "job_id,duration\n";
  for (const std::string& name : names) {
    append_field(text, name);
    text += ",5\n";
  }
  const auto table = parse_examples(text, "table.csv", {"job_id"});
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->find("job_id")->texts, names);
}

TEST(Examples, AWrongNumberOfCellsNamesItsLine) {
  const auto table = parse_examples("a,b\n1,2\n\n\"x\ny\",3\n1,2,3\n", "table.csv", {});
  ASSERT_FALSE(table);
  EXPECT_THAT(table.error().message, HasSubstr("table.csv:6: 3 cells where the header has 2"));
}

}  // namespace
}  // namespace muster
