#include <filesystem>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/run_warnings.h"
#include "learn/model_file.h"
#include "report/comparison_file.h"
#include "report/html.h"
#include "report/perfetto.h"
#include "report/table.h"

namespace muster {
namespace {

struct ReportOptions {
  std::vector<std::string> results;
  std::string output = "report.html";
  std::string title;
  std::string perfetto;
  std::string model;
  std::vector<std::string> values;
};

int timeline(const ReportOptions& options) {
  if (options.results.size() != 1) {
    return complain(Error{"--perfetto takes one result: a timeline shows one run"});
  }
  const auto folder = ResultFolder::open(options.results.front());
  if (!folder) return complain(folder.error());
  if (Status written = write_perfetto(*folder, options.perfetto); !written) {
    return complain(written.error(), kExitFailed);
  }
  fmt::print("timeline: {}\n",
             std::filesystem::absolute(options.perfetto).lexically_normal().string());
  return kExitOk;
}

// What was named: folders of results, or a comparison and what its folder holds.
struct Named {
  std::vector<std::string> folders;
  std::vector<std::string> missing;  // runs of an interrupted comparison
};

Result<Named> named_results(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  Named named;
  for (const std::string& path : paths) {
    const fs::path name = fs::path(path).filename();
    const bool listed = is_comparison(path);
    if (listed || name == kComparisonName) {
      const auto comparison =
          read_comparison(listed ? path : fs::path(path).parent_path().string());
      if (!comparison) return comparison.error();
      for (const ComparisonFile::Run& run : comparison->runs) {
        if (listed && run.complete) named.folders.push_back(path + "/" + run.folder);
        if (!run.complete) named.missing.push_back(run.name);
      }
      continue;
    }
    // `results/compare/*` names the page of the comparison too.
    std::error_code code;
    if (name == "report.html" && fs::is_regular_file(path, code)) continue;
    named.folders.push_back(path);
  }
  if (named.folders.empty()) {
    return Error{fmt::format("{}: no results; name folders that hold a summary.json",
                             fmt::join(paths, ", "))};
  }
  return named;
}

int report(const ReportOptions& options) {
  if (!options.perfetto.empty()) return timeline(options);
  const auto named = named_results(options.results);
  if (!named) return complain(named.error());
  std::vector<PageRun> pages;
  for (const std::string& path : named->folders) {
    const auto folder = ResultFolder::open(path);
    if (!folder) return complain(folder.error());
    auto page = page_run(*folder);
    if (!page) return complain(page.error());
    pages.push_back(std::move(*page));
  }
  PageOptions page_options;
  page_options.title = options.title;
  page_options.missing = named->missing;
  Ebm model;
  if (!options.model.empty()) {
    auto loaded = load_ebm(options.model);
    if (!loaded) return complain(loaded.error());
    model = std::move(*loaded);
    page_options.model = &model;
  }
  if (!options.values.empty()) {
    if (options.model.empty())
      return complain(Error{"--explain explains a prediction of --model: give both"});
    auto row = model.features.encode_items(options.values);
    if (!row) return complain(row.error());
    page_options.row = std::move(*row);
  }
  if (Status written = write_report(options.output, pages, page_options); !written) {
    return complain(written.error(), kExitFailed);
  }
  std::vector<TableRun> rows;
  rows.reserve(pages.size());
  for (const PageRun& page : pages) {
    rows.push_back({page.info.label, &page.summary, &page.info});
  }
  fmt::print("{}\nreport: {}\n", comparison_table(rows, {}).text(text_style(STDOUT_FILENO)),
             std::filesystem::absolute(options.output).lexically_normal().string());
  std::vector<FinishedRun> finished;
  finished.reserve(pages.size());
  for (const PageRun& page : pages) finished.push_back({&page.info, &page.summary});
  warn_about(finished);
  if (!named->missing.empty()) {
    warn(fmt::format("the comparison was interrupted; missing: {}",
                     fmt::join(named->missing, ", ")));
  }
  return kExitOk;
}

}  // namespace

void add_report_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("report", "Write an HTML page about one or several results");
  const auto options = std::make_shared<ReportOptions>();
  command->add_option("RESULT", options->results, "folders of results, or of a comparison")
      ->required();
  command->add_option("-o,--output", options->output, "the page")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--title", options->title, "its title");
  command
      ->add_option("--model", options->model,
                   "also show this model (`muster learn train`) with its importance and effects")
      ->type_name("FILE");
  command
      ->add_option("--explain", options->values,
                   "also explain the prediction of --model for FEATURE=VALUE,FEATURE=VALUE")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("VALUES");
  command
      ->add_option("--perfetto", options->perfetto,
                   "write a timeline of one run for ui.perfetto.dev instead of the page")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  muster report results/las -o las.html\n"
      "  muster report results/compare                  # all runs of a comparison\n"
      "  muster report results/compare/* --title 'Spring cluster' -o spring.html\n"
      "  muster report results/lucid --model duration.json --explain user=ann,gpu_num=8\n"
      "  muster report results/las --perfetto las.json            # every job on every node\n"
      "\n"
      "The page needs nothing else: it opens from disk and can be sent as it is.");
  command->callback([options, &chosen] { chosen.run = [options] { return report(*options); }; });
}

}  // namespace muster
