#include <filesystem>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.h"
#include "report/html.h"
#include "report/table.h"
#include "report/terminal.h"

namespace muster {
namespace {

struct ReportOptions {
  std::vector<std::string> results;
  std::string output = "report.html";
  std::string title;
};

int report(const ReportOptions& options) {
  std::vector<PageRun> pages;
  for (const std::string& path : options.results) {
    const auto folder = ResultFolder::open(path);
    if (!folder) return complain(folder.error());
    auto page = page_run(*folder);
    if (!page) return complain(page.error());
    pages.push_back(std::move(*page));
  }
  if (Status written = write_report(options.output, pages, {options.title}); !written) {
    return complain(written.error(), kExitFailed);
  }
  std::vector<TableRun> rows;
  for (const PageRun& page : pages) rows.push_back({page.info.label, &page.summary});
  fmt::print("{}\nreport: {}\n",
             comparison_table(rows, {}).text({wants_colour(STDOUT_FILENO), true}),
             std::filesystem::absolute(options.output).lexically_normal().string());
  return kExitOk;
}

}  // namespace

void add_report_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("report", "Write an HTML page about one or several results");
  const auto options = std::make_shared<ReportOptions>();
  command->add_option("RESULT", options->results, "folders of results")->required();
  command->add_option("-o,--output", options->output, "the page")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--title", options->title, "its title");
  command->footer(
      "Examples:\n"
      "  muster report results/las -o las.html\n"
      "  muster report results/compare/* --title 'Spring cluster' -o spring.html\n"
      "\n"
      "The page needs nothing else: it opens from disk and can be sent as it is.");
  command->callback([options, &chosen] { chosen.run = [options] { return report(*options); }; });
}

}  // namespace muster
