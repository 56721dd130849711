#include "cli/comparison.h"

#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/parallel.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/run_warnings.h"
#include "report/comparison_file.h"
#include "report/html.h"
#include "report/summary_json.h"
#include "report/table.h"
#include "run/assembly/recorded_run.h"

namespace muster {
namespace {

// One folder per run, told apart where names fall together.
void choose_folders(std::vector<RunConfig>& runs, const std::string& folder) {
  std::set<std::string> taken;
  for (RunConfig& run : runs) {
    run.output.folder.clear();
    if (folder.empty()) continue;
    std::string name = file_name_for(run.name);
    while (!taken.insert(name).second) name += "-2";
    run.output.folder = fmt::format("{}/{}", folder, name);
  }
}

// Which runs belong together, those of `recorded` as complete as they are.
ComparisonFile listed(const std::vector<RunConfig>& runs,
                      const std::vector<std::optional<RecordedRun>>& recorded) {
  ComparisonFile list;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool complete = i < recorded.size() && recorded[i] && recorded[i]->complete;
    list.runs.push_back(
        {runs[i].name, std::filesystem::path(runs[i].output.folder).filename().string(), complete});
  }
  return list;
}

// An older comparison in the folder goes before the new one comes, so that the two never mix.
Status prepare_folder(const std::vector<RunConfig>& runs, const std::string& folder) {
  if (folder.empty()) return Done{};
  if (Status cleared = clear_comparison(folder, runs.front().output.force); !cleared)
    return cleared;
  return write_comparison(folder, listed(runs, {}));
}

Result<std::vector<std::optional<RecordedRun>>> run_all(const std::vector<RunConfig>& runs,
                                                        const ComparisonOptions& options) {
  std::shared_ptr<const SharedJobs> jobs;
  if (!endless(runs.front().workload) && !runs.front().workload.stream) {
    auto loaded = load_jobs(runs.front().workload);
    if (!loaded) return loaded.error();
    jobs = std::move(*loaded);
  }
  if (Status ready = prepare_folder(runs, options.folder); !ready) return ready.error();
  std::vector<std::optional<RecordedRun>> recorded(runs.size());
  std::optional<Error> error;
  std::mutex mutex;
  Progress progress({.title = options.title,
                     .quiet = options.quiet,
                     .tasks_expected = static_cast<int>(runs.size())});
  in_parallel(runs.size(), options.threads, [&](std::size_t i) {
    if (interrupted()) return;
    auto run = record_run(runs[i], jobs, {[] { return !interrupted(); }, &progress});
    const std::lock_guard lock(mutex);
    if (run) {
      recorded[i] = std::move(*run);
    } else if (!error) {
      error = Error{fmt::format("{}: {}", runs[i].name, run.error().message)};
    }
  });
  progress.stop();
  if (error) return *error;
  return recorded;
}

Result<std::string> write_page(const std::vector<const RecordedRun*>& runs,
                               const ComparisonFile& list, const ComparisonOptions& options) {
  if (Status kept = write_comparison(options.folder, list); !kept) return kept.error();
  std::vector<PageRun> pages;
  for (const RecordedRun* run : runs) {
    const auto folder = ResultFolder::open(run->folder);
    if (!folder) return folder.error();
    auto page = page_run(*folder);
    if (!page) return page.error();
    pages.push_back(std::move(*page));
  }
  const std::string path = options.folder + "/report.html";
  if (Status written =
          write_report(path, pages, {.title = options.title, .missing = list.missing()});
      !written) {
    return written.error();
  }
  return path;
}

void print_runs(const std::vector<const RecordedRun*>& runs, const ComparisonOptions& options) {
  if (options.json) {
    std::string list;
    for (const RecordedRun* run : runs) {
      list += (list.empty() ? "" : ",\n") +
              summary_to_json({run->info, run->summary, run->complete, ""});
    }
    fmt::print("[{}]\n", list);
    return;
  }
  std::vector<TableRun> rows;
  rows.reserve(runs.size());
  for (const RecordedRun* run : runs) {
    rows.push_back({run->info.label, &run->summary, &run->info});
  }
  fmt::print("{}", comparison_table(rows, options.metrics).text(text_style(STDOUT_FILENO)));
}

}  // namespace

int compare_runs(std::vector<RunConfig> runs, const ComparisonOptions& options) {
  choose_folders(runs, options.folder);
  watch_interrupts();
  const auto recorded = run_all(runs, options);
  if (!recorded) return complain(recorded.error());
  std::vector<const RecordedRun*> whole;
  for (const auto& run : *recorded) {
    if (!run) continue;
    if (run->unwritten) return complain(*run->unwritten, kExitFailed);
    if (run->complete) whole.push_back(&*run);
  }
  if (!whole.empty()) print_runs(whole, options);
  const ComparisonFile list = listed(runs, *recorded);
  std::string page;
  if (!options.folder.empty() && !whole.empty()) {
    auto written = write_page(whole, list, options);
    if (!written) return complain(written.error(), kExitFailed);
    page = *written;
  }
  if (!page.empty() && !options.json) {
    fmt::print("\nresults: {}\nreport:  {}\n", options.folder,
               std::filesystem::absolute(page).lexically_normal().string());
  }
  std::vector<FinishedRun> finished;
  finished.reserve(whole.size());
  for (const RecordedRun* run : whole) finished.push_back({&run->info, &run->summary});
  warn_about(finished);
  if (whole.size() == runs.size()) return kExitOk;
  fmt::print(stderr, "muster: interrupted; {} of {} runs are complete; missing: {}\n", whole.size(),
             runs.size(), fmt::join(list.missing(), ", "));
  return kExitInterrupted;
}

}  // namespace muster
