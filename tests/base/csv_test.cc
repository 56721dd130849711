#include "base/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/hostile_names.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

TEST(Csv, AnyFieldReadsBack) {
  const std::vector<std::string> names = hostile_names();
  std::string text;
  for (const std::string& name : names) {
    append_field(text, name);
    text += ',';
    append_field(text, name + name);
    text += '\n';
  }
  std::string_view rest = text;
  std::vector<std::string> fields;
  for (const std::string& name : names) {
    ASSERT_TRUE(next_csv_record(rest, fields));
    EXPECT_THAT(fields, ElementsAre(name, name + name));
  }
  EXPECT_FALSE(next_csv_record(rest, fields));
}

TEST(Csv, BlanksCountOnlyInsideQuotes) {
  std::string_view rest = " a , \" b \" ,\r\n \"c\"\"d\"  ,e";
  std::vector<std::string> fields;
  ASSERT_TRUE(next_csv_record(rest, fields));
  EXPECT_THAT(fields, ElementsAre("a", " b ", ""));
  ASSERT_TRUE(next_csv_record(rest, fields));
  EXPECT_THAT(fields, ElementsAre("c\"d", "e"));
}

}  // namespace
}  // namespace muster
