#include "report/json.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace muster {
namespace {

std::string written(std::string_view text) {
  JsonWriter json;
  json.value(text);
  return json.take();
}

TEST(Json, NestsInOrder) {
  JsonWriter json;
  json.begin_object()
      .member("b", 1.5)
      .key("a")
      .begin_array()
      .value(true)
      .null()
      .value("x")
      .end_array();
  json.key("empty").begin_object().end_object().end_object();
  EXPECT_EQ(json.text(), R"({"b":1.5,"a":[true,null,"x"],"empty":{}})");
}

TEST(Json, HasNoWordForWhatIsNotANumber) {
  JsonWriter json;
  json.begin_array().value(std::numeric_limits<double>::quiet_NaN());
  json.value(std::numeric_limits<double>::infinity()).value(1e300).value(3.0).end_array();
  EXPECT_EQ(json.text(), "[null,null,1e+300,3]");
}

TEST(Json, CannotEndAScript) {
  EXPECT_EQ(written("</script><!--&"), "\"\\u003c/script\\u003e\\u003c!--\\u0026\"");
  EXPECT_EQ(written("a\"b\\c\n\t\x01"), R"("a\"b\\c\n\t\u0001")");
  EXPECT_EQ(written("\u2028\u2029"), R"("\u2028\u2029")");
}

TEST(Json, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(written("gr\xc3\xbc\xc3\x9f"), "\"gr\xc3\xbc\xc3\x9f\"");
  EXPECT_EQ(written("a\xff"
                    "b"),
            R"("a\ufffdb")");
  EXPECT_EQ(written("\xc3"), R"("\ufffd")");
  EXPECT_EQ(written("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");
  EXPECT_EQ(written("\xc0\xaf"), R"("\ufffd\ufffd")");
  EXPECT_EQ(written("\xf0\x9f\x98\x80"), "\"\xf0\x9f\x98\x80\"");
}

}  // namespace
}  // namespace muster
