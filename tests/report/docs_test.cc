// docs/results.md promises columns, figures, actions and reasons; this fails when the code has
// others.
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/out_file.h"
#include "base/text.h"
#include "report/metric_list.h"
#include "report/result_folder.h"
#include "report/summary_json.h"
#include "support/paths.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

TEST(ResultsPage, DescribesWhatIsWritten) {
  const auto page = read_file(source_dir() / "docs/results.md");
  ASSERT_TRUE(page) << page.error().message;
  for (const MetricInfo& metric : metric_list()) {
    EXPECT_THAT(*page, HasSubstr(fmt::format("| `{}` | {} |", metric.key, metric.sentence)));
  }
  for (const std::string_view header :
       {jobs_csv_header(), timeline_csv_header(), turns_csv_header()}) {
    for (const std::string_view column : split(header, ',')) {
      EXPECT_THAT(*page, HasSubstr(fmt::format("`{}`", column)));
    }
  }
  for (int i = 0; i <= static_cast<int>(kLastAction); ++i) {
    EXPECT_THAT(*page, HasSubstr(fmt::format("| {} {} |", i, action_name(static_cast<Action>(i)))));
  }
  for (int i = 0; i <= static_cast<int>(kLastReason); ++i) {
    EXPECT_THAT(*page, HasSubstr(fmt::format("| {} {} |", i, reason_name(static_cast<Reason>(i)))));
  }
}

TEST(ResultsPage, DescribesEveryKeyOfTheSummary) {
  const auto page = read_file(source_dir() / "docs/results.md");
  ASSERT_TRUE(page) << page.error().message;
  SummaryFile file;
  file.complete = false;
  const auto root = nlohmann::json::parse(summary_to_json(file));
  for (const auto& [key, value] : root.items()) {
    EXPECT_THAT(*page, HasSubstr(fmt::format("`{}`", key)));
  }
}

}  // namespace
}  // namespace muster
