#include "report/comparison_file.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/html.h"
#include "report/summary_json.h"
#include "report/table.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

RunSummary summary_of(double jct) {
  RunSummary summary;
  summary.metrics.jobs = summary.metrics.finished = 10;
  summary.metrics.avg_jct_s = summary.metrics.p99_jct_s = jct;
  return summary;
}

PageRun page_of(std::string label, std::string cluster, double jct) {
  PageRun page;
  page.info.label = std::move(label);
  page.info.settings = {{"trace", "jobs.csv"}, {"cluster", std::move(cluster)}};
  page.summary = summary_of(jct);
  return page;
}

TEST(Comparison, BestIsNotAwardedAcrossClusters) {
  const std::vector<PageRun> fair = {page_of("fifo", "4x8", 100), page_of("las", "4x8", 50)};
  const std::vector<PageRun> unfair = {page_of("fifo", "4x8", 100), page_of("las", "9x8", 50)};
  const auto table = [](const std::vector<PageRun>& pages) {
    std::vector<TableRun> rows;
    rows.reserve(pages.size());
    for (const PageRun& page : pages) rows.push_back({page.info.label, &page.summary, &page.info});
    return comparison_table(rows).text({});
  };
  EXPECT_THAT(table(fair), HasSubstr("best of its column"));
  EXPECT_THAT(table(unfair), Not(HasSubstr("best of its column")));
  EXPECT_THAT(table(unfair), HasSubstr("no best is marked"));
  EXPECT_THAT(report_page(fair), HasSubstr("(best)"));
  EXPECT_THAT(report_page(unfair), Not(HasSubstr("(best)")));
  EXPECT_THAT(headline(fair), HasSubstr("with las, against"));
  EXPECT_THAT(headline(unfair), HasSubstr("not all of the same jobs on the same cluster"));
}

TEST(Comparison, APageNamesWhatIsMissing) {
  EXPECT_THAT(report_page({page_of("fifo", "4x8", 1)}, {.missing = {"las", "srtf <x>"}}),
              HasSubstr("The comparison was interrupted. Missing: las, srtf &lt;x&gt;."));
}

TEST(Comparison, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "compare").string();
  EXPECT_FALSE(is_comparison(path));
  ASSERT_TRUE(write_comparison(path, {{{"las:a=1", "las-a-1", true}, {"fifo", "fifo", false}}}));
  ASSERT_TRUE(is_comparison(path));
  const auto read = read_comparison(path);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->runs.size(), 2U);
  EXPECT_EQ(read->runs[0].name, "las:a=1");
  EXPECT_EQ(read->runs[0].folder, "las-a-1");
  EXPECT_TRUE(read->runs[0].complete);
  EXPECT_THAT(read->missing(), ElementsAre("fifo"));
}

TEST(Comparison, ClearingRemovesItsResultsAndNothingElse) {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  const std::string summary = summary_to_json({});
  for (const char* name : {"las", "fifo.incomplete", "other"}) {
    folder.write(std::filesystem::path(name) / "summary.json", summary);
  }
  folder.write("report.html", "page");
  folder.write("notes.txt", "mine");
  ASSERT_TRUE(clear_comparison(path));  // there is none yet
  EXPECT_EQ(folder.read("report.html"), "page");
  ASSERT_TRUE(write_comparison(path, {{{"las", "las", true}, {"fifo", "fifo", false}}}));
  ASSERT_TRUE(clear_comparison(path));
  for (const char* gone : {"las", "fifo.incomplete", "report.html", "comparison.json"}) {
    EXPECT_FALSE(std::filesystem::exists(folder.path() / gone)) << gone;
  }
  EXPECT_EQ(folder.read("notes.txt"), "mine");
  EXPECT_EQ(folder.read("other/summary.json"), summary);
}

TEST(Comparison, AFolderWithFilesOfOthersIsNotCleared) {
  const TemporaryFolder folder;
  folder.write("las/summary.json", summary_to_json({}));
  folder.write("las/thesis.tex", "mine");
  ASSERT_TRUE(write_comparison(folder.path().string(), {{{"las", "las", true}}}));
  EXPECT_FALSE(clear_comparison(folder.path().string()));
  EXPECT_EQ(folder.read("las/thesis.tex"), "mine");
  ASSERT_TRUE(clear_comparison(folder.path().string(), true));
  EXPECT_EQ(folder.read("las.old/thesis.tex"), "mine");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "las"));
}

TEST(Comparison, ADamagedFileLeadsNowhere) {
  const TemporaryFolder folder;
  for (const char* text :
       {"", "{}", R"({"format": "muster-comparison", "runs": [{"name": "a", "folder": "../b"}]})",
        R"({"format": "muster-comparison", "runs": [3]})"}) {
    folder.write("comparison.json", text);
    const auto read = read_comparison(folder.path().string());
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr("comparison.json is damaged"));
  }
}

}  // namespace
}  // namespace muster
