#include "workload/records.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/numbers.h"
#include "workload/table_parser.h"
#include "workload/timestamp.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Hands out a few bytes at a time, as a slow pipe does.
class Drip final : public ByteInput {
 public:
  Drip(std::string text, std::size_t step) : text_(std::move(text)), step_(step) {}
  Result<std::size_t> read(char* to, std::size_t size) override {
    const std::size_t count = std::min({size, step_, text_.size() - next_});
    text_.copy(to, count, next_);
    next_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t step_;
  std::size_t next_ = 0;
};

std::vector<std::string> all(RecordReader& reader) {
  std::vector<std::string> records;
  std::string_view record;
  while (reader.next(record)) records.emplace_back(record);
  return records;
}

TEST(RecordsTest, LinesDoNotDependOnHowBytesArrive) {
  const std::string text = "one\r\n\ntwo,2\nthree";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    auto reader = make_line_reader(InputWindow(std::make_unique<Drip>(text, step)));
    EXPECT_THAT(all(*reader), ElementsAre("one", "", "two,2", "three")) << step;
    EXPECT_EQ(reader->line(), 4U);
    EXPECT_FALSE(reader->error());
  }
}

TEST(RecordsTest, JsonObjectsDoNotDependOnHowBytesArrive) {
  const std::string text = "[{\"a\": \"}\\\"{\"},\n{\"b\": {\"c\": []}}\n]\n{\"d\":1}";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    auto reader = make_json_reader(InputWindow(std::make_unique<Drip>(text, step)));
    EXPECT_THAT(all(*reader),
                ElementsAre("{\"a\": \"}\\\"{\"}", "{\"b\": {\"c\": []}}", "{\"d\":1}"))
        << step;
    EXPECT_EQ(reader->line(), 4U);
    EXPECT_FALSE(reader->error());
  }
}

TEST(RecordsTest, EndlessLinesAreRefused) {
  auto reader =
      make_line_reader(InputWindow(bytes_of("first\n" + std::string(kLongestRecord + 2, 'x'))));
  EXPECT_THAT(all(*reader), ElementsAre("first"));
  ASSERT_TRUE(reader->error());
  EXPECT_THAT(reader->error()->message, HasSubstr("line 2 is longer than 16 MiB"));
}

TEST(RecordsTest, OtherJsonIsRefused) {
  auto reader = make_json_reader(InputWindow(bytes_of("[\n 1, 2]")));
  EXPECT_THAT(all(*reader), IsEmpty());
  ASSERT_TRUE(reader->error());
  EXPECT_THAT(reader->error()->message, HasSubstr("line 2: found '1'"));
}

TEST(RecordsTest, CellsMayBeQuoted) {
  EXPECT_THAT(split_cells("a, b ,\"c,\"\"d\"\"\",", ','), ElementsAre("a", "b", "c,\"d\"", ""));
  EXPECT_THAT(split_cells("\" kept \",\"never closed,x", ','),
              ElementsAre(" kept ", "\"never closed", "x"));
  EXPECT_THAT(split_cells("", ','), ElementsAre(""));
}

double real(std::string_view text) {
  double value = -77;
  return read_real(text, value) ? value : -99;
}

TEST(NumbersTest, AgreeWithTheSlowWay) {
  EXPECT_EQ(real("0"), 0);
  EXPECT_EQ(real("66.0"), 66);
  EXPECT_EQ(real("66.5"), 66.5);
  EXPECT_EQ(real("999999999999999"), 999999999999999);
  EXPECT_EQ(real("9999999999999999"), 1e16);
  EXPECT_EQ(real("-12"), -12);
  EXPECT_EQ(real("+12"), 12);
  EXPECT_EQ(real("1e3"), 1000);
  EXPECT_EQ(real(".5"), 0.5);
  for (const std::string_view wrong :
       {"", "+", "+-1", "1 ", " 1", "0x10", "1,5", ".0", "1..0", "12x", "--1"}) {
    if (wrong == ".0") continue;  // C++ reads it as 0, and so do we
    EXPECT_EQ(real(wrong), -99) << wrong;
  }
}

TEST(NumbersTest, WholeNumbersMustBeWholeAndFit) {
  int value = 0;
  EXPECT_TRUE(read_whole_number("4.0", value));
  EXPECT_EQ(value, 4);
  EXPECT_TRUE(read_whole_number("-2147483648", value));
  EXPECT_EQ(value, -2147483647 - 1);
  for (const std::string_view wrong : {"2147483648", "1.5", "nan", "inf", "1e10", ""}) {
    EXPECT_FALSE(read_whole_number(wrong, value)) << wrong;
  }
}

TEST(TimestampTest, ReadsWhatTracesWrite) {
  Seconds value = 0;
  EXPECT_TRUE(read_timestamp("1970-01-01 00:00:00", value));
  EXPECT_EQ(value, 0);
  EXPECT_TRUE(read_timestamp("2017-10-09 07:01:55", value));
  EXPECT_EQ(value, 1507532515);
  EXPECT_TRUE(read_timestamp("2000-02-29T23:59:59Z", value));
  EXPECT_EQ(value, 951868799);
  EXPECT_TRUE(read_timestamp("2024-03-01T08:00:00.25+02:00", value));
  EXPECT_EQ(value, 1709272800.25);
  EXPECT_TRUE(read_timestamp("1969-12-31 23:59:59", value));
  EXPECT_EQ(value, -1);
  for (const std::string_view wrong :
       {"", "2017-10-09", "2017-13-01 00:00:00", "2017-02-29 00:00:00", "2017-10-09 24:00:00",
        "2017-10-09 07:60:00", "2017-10-09 07:01:5x", "2017-10-09 07:01:55 PST",
        "2017-10-09 07:01:55.", "2017/10/09 07:01:55", "2017-10-09 07:01:55+2:00", "Unknown",
        "0000-00-00 00:00:00"}) {
    EXPECT_FALSE(read_timestamp(wrong, value)) << wrong;
  }
}

TEST(TimestampTest, WritesWhatItReads) {
  for (const Seconds time :
       {0.0, 951868799.0, 1507532515.0, 1709272800.0, 4102444800.0, -1.0, 68169600.0}) {
    Seconds again = 0;
    EXPECT_TRUE(read_timestamp(timestamp_text(time), again)) << timestamp_text(time);
    EXPECT_EQ(again, time);
  }
}

}  // namespace
}  // namespace muster
