#include <algorithm>
#include <filesystem>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/live/explain_live.h"
#include "cli/show.h"
#include "report/explain.h"
#include "report/worst_waits.h"

namespace muster {
namespace {

struct ExplainOptions {
  std::string result;
  std::string job;
  LinkOptions link;
  bool all = false;
};

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char digit) { return digit >= '0' && digit <= '9'; });
}

int explain(const ExplainOptions& options) {
  // A number that is no folder is a job of a running daemon.
  if (options.job.empty() && !std::filesystem::is_directory(options.result)) {
    if (is_number(options.result)) return explain_live(options.link, options.result);
    return complain(Error{
        fmt::format("no result folder '{}', and it is not a job number; name a folder that `muster "
                    "simulate` wrote, or the number of a job of a running daemon",
                    options.result)});
  }
  const auto folder = ResultFolder::open(options.result);
  if (!folder) return complain(folder.error());
  constexpr std::size_t kMostLines = 40;
  constexpr std::size_t kWorst = 10;
  const TextStyle style = text_style(STDOUT_FILENO, false);
  if (options.job.empty()) {
    const auto worst = worst_waits(*folder, kWorst);
    if (!worst) return complain(worst.error());
    if (options.link.json) {
      fmt::print("{}", worst_waits_json(*worst));
    } else {
      print_fitted(worst_waits_text(*worst, *folder, style));
    }
    return kExitOk;
  }
  const auto story = explain_job(*folder, options.job);
  if (!story) return complain(story.error());
  if (options.link.json) {
    fmt::print("{}\n", story_json(*story));
    return kExitOk;
  }
  print_fitted(story_text(*story, style, options.all ? 0 : kMostLines));
  if (story->waited == 0) {
    show("\nIt never waited; `muster explain {}` lists those that waited longest.\n",
         folder->path());
  }
  return kExitOk;
}

}  // namespace

void add_explain_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("explain", "Explain why a job waited: when, behind which job, for what");
  const auto options = std::make_shared<ExplainOptions>();
  command
      ->add_option("RESULT", options->result,
                   "result folder; or, without JOB, the number of a job of a running daemon")
      ->required();
  command->add_option("JOB", options->job,
                      "the job's name in the trace, or its number (#12); without it, those that "
                      "waited longest");
  command->add_flag("--all", options->all, "show every period of waiting; merge none");
  add_link_options(*command, options->link);
  command->footer(
      "Examples:\n"
      "  muster explain results/las                # which jobs waited longest, and why\n"
      "  muster explain results/las 42\n"
      "  muster explain results/las '#42' --all\n"
      "  muster explain results/las train-bert-7 --json\n"
      "  muster explain 42                               # job 42 of a running daemon\n"
      "\n"
      "It reads the recorded decisions: when the job arrived, was admitted, started, lost its\n"
      "GPUs and ended, and in between which job was first in line and what it lacked.");
  command->callback([options, &chosen] { chosen.run = [options] { return explain(*options); }; });
}

}  // namespace muster
