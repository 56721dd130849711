// The page about traces says everything that the tables of formats, columns and findings say.
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/paths.h"
#include "workload/doctor.h"
#include "workload/formats/native.h"
#include "workload/trace_format.h"
#include "workload/trace_writer.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

class TraceDocsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file(source_dir() / "docs" / "trace-formats.md");
    page_.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    ASSERT_FALSE(page_.empty());
  }
  // All headings, one per line.
  std::string headings() const {
    std::string found;
    for (std::size_t at = page_.find("\n## "); at != std::string::npos;
         at = page_.find("\n## ", at + 1)) {
      found += page_.substr(at + 1, page_.find('\n', at + 1) - at);
    }
    return found;
  }

  std::string page_;
};

TEST_F(TraceDocsTest, EveryFormatHasASectionWithItsSettings) {
  for (const TraceFormat& format : trace_formats()) {
    EXPECT_THAT(headings(), HasSubstr(std::string(format.name)));
    for (const ParamInfo& setting : format.settings()) {
      EXPECT_THAT(page_, HasSubstr("`" + std::string(setting.name))) << format.name;
    }
  }
}

TEST_F(TraceDocsTest, EveryColumnOfTheNativeFormatIsExplained) {
  for (const TraceColumn& column : native_columns())
    EXPECT_THAT(page_, HasSubstr(std::string(column.names)));
}

TEST_F(TraceDocsTest, EveryFindingAndEveryWritableFormatIsListed) {
  for (const Finding& finding : possible_findings())
    EXPECT_THAT(page_, HasSubstr(std::string(finding.name)));
  const std::string writing = page_.substr(page_.find("## Writing"));
  for (const WritableFormat& format : writable_formats())
    EXPECT_THAT(writing, HasSubstr(std::string(format.name)));
}

}  // namespace
}  // namespace muster
