#include <algorithm>
#include <cmath>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/show.h"
#include "report/json.h"
#include "report/table.h"
#include "run/config/share_folder.h"
#include "run/experiment/experiment.h"

namespace muster {
namespace {

struct ReproduceOptions {
  std::string system;
  std::string experiment;
  unsigned threads = 0;
  bool all = false;
  bool json = false;
  bool quiet = false;
};

int list_experiments(const std::string& system) {
  for (const std::string& folder : shared_folders("experiments")) {
    if (!system.empty() && folder != system) continue;
    for (const std::string& name : shared_files("experiments/" + folder)) {
      const auto experiment = load_experiment(folder, name);
      if (!experiment) return complain(experiment.error());
      show("{:<10} {:<16} {} ({} runs)\n", folder, name, experiment->title,
           experiment->runs.size());
    }
  }
  show("\n`muster reproduce SYSTEM` runs all of one system, `muster reproduce SYSTEM NAME` one.\n");
  return kExitOk;
}

std::string figure_text(double value) {
  return std::isnan(value) ? "" : fmt::format("{:.3f}", value);
}

// With how far the seeds lie apart, where there are several.
std::string ours_text(const FigureCheck& figure) {
  if (std::isnan(figure.least)) return figure_text(figure.ours);
  return fmt::format("{} ({} to {})", figure_text(figure.ours), figure_text(figure.least),
                     figure_text(figure.most));
}

// As a number and as a part of what it is compared with; in brackets where it is only shown.
std::string difference_text(const FigureCheck& figure) {
  if (!figure.compared()) return "";
  if (std::abs(figure.difference) < 5e-4) return figure.judged ? "0" : "(0)";
  const ExpectedFigure& expected = figure.expected;
  const double reference = std::isnan(expected.artifact) ? expected.published : expected.artifact;
  std::string text = fmt::format("{:+.3f}", figure.difference);
  if (reference != 0) text += fmt::format(", {:+.1f} %", 100 * figure.difference / reference);
  if (!figure.judged) return "(" + text + ")";
  return text + (figure.within ? "" : " !");
}

std::string jobs_text(const JobsCheck& jobs) {
  if (!jobs.compared) return jobs.unavailable.empty() ? "" : "not here";
  return fmt::format("{}/{}{}", jobs.jobs - jobs.unequal, jobs.jobs, jobs.unequal > 0 ? " !" : "");
}

// One line per run with its first figure, or one per figure. Columns without content are left out.
void print_table(const std::vector<RunCheck>& runs, bool all) {
  bool published = false;
  bool jobs = false;
  for (const RunCheck& run : runs) {
    jobs = jobs || run.jobs.compared || !run.jobs.unavailable.empty();
    for (const FigureCheck& figure : run.figures) {
      published = published || !std::isnan(figure.expected.published);
    }
  }
  std::vector<Column> columns;
  for (const char* name : {"run", "figure", "ours", "artifact"}) {
    columns.push_back({name, name, Unit::kCount, Better::kNeither});
  }
  const auto column = [&](const char* key, const char* label) {
    columns.push_back({key, label, Unit::kCount, Better::kNeither});
  };
  if (published) column("published", "published");
  column("difference", "difference");
  column("held", "held to");
  column("figures", "figures equal");
  if (jobs) column("jobs", "jobs equal");
  Table table(std::move(columns));
  for (const RunCheck& run : runs) {
    std::size_t within = 0;
    std::size_t judged = 0;
    for (const FigureCheck& figure : run.figures) {
      judged += figure.judged ? 1 : 0;
      within += figure.judged && figure.within ? 1 : 0;
    }
    bool first = true;
    if (!run.missing.empty()) table.add_row({run.run, std::string("not run")});
    for (const FigureCheck& figure : run.figures) {
      if (!first && !all && figure.within && figure.compared()) continue;
      std::vector<Cell> cells{first ? run.run : std::string(), figure.expected.key,
                              ours_text(figure), figure_text(figure.expected.artifact)};
      if (published) cells.emplace_back(figure_text(figure.expected.published));
      cells.emplace_back(difference_text(figure));
      cells.emplace_back(figure.held_to);
      cells.emplace_back(first ? fmt::format("{}/{}", within, judged) : std::string());
      if (jobs) cells.emplace_back(first ? jobs_text(run.jobs) : std::string());
      table.add_row(std::move(cells));
      first = false;
    }
  }
  fmt::print("{}", table.text(text_style(STDOUT_FILENO, false)));
}

void print_experiment(const Experiment& experiment, const ExperimentResult& result, bool all) {
  show("\n{} {}: {}\n{}\n\n", experiment.system, experiment.name, experiment.title,
       experiment.source);
  print_table(result.runs, all);
  for (const RunCheck& run : result.runs) {
    for (const std::string& example : run.jobs.examples) {
      show("  {}: {}\n", run.run, example);
    }
  }
  // The same file is usually missing for many runs.
  std::string told;
  for (const RunCheck& run : result.runs) {
    for (const std::string& why : {run.missing, run.jobs.unavailable}) {
      if (why.empty() || why == told) continue;
      show("  not compared: {}\n", why);
      told = why;
    }
  }
}

void write_json(JsonWriter& json, const Experiment& experiment, const ExperimentResult& result) {
  json.begin_object();
  json.member("system", experiment.system).member("experiment", experiment.name);
  json.member("title", experiment.title).member("source", experiment.source);
  json.member("within_tolerance", result.within()).member("complete", result.complete);
  json.key("runs").begin_array();
  for (const RunCheck& run : result.runs) {
    json.begin_object().member("name", run.run).member("within_tolerance", run.within());
    if (!run.missing.empty()) json.member("not_run", run.missing);
    json.key("figures").begin_array();
    for (const FigureCheck& figure : run.figures) {
      json.begin_object().member("key", figure.expected.key).member("ours", figure.ours);
      if (!std::isnan(figure.least)) {
        json.member("least", figure.least).member("most", figure.most);
        json.member("deviation", figure.deviation);
      }
      json.member("artifact", figure.expected.artifact);
      json.member("published", figure.expected.published);
      json.member("difference", figure.difference).member("within_tolerance", figure.within);
      json.member("judged", figure.judged).member("held_to", figure.held_to);
      json.end_object();
    }
    json.end_array();
    if (run.jobs.compared) {
      json.key("jobs").begin_object();
      json.member("compared", static_cast<double>(run.jobs.jobs));
      json.member("unequal", static_cast<double>(run.jobs.unequal));
      json.key("examples").begin_array();
      for (const std::string& example : run.jobs.examples) json.value(example);
      json.end_array().end_object();
    } else if (!run.jobs.unavailable.empty()) {
      json.member("jobs_not_compared", run.jobs.unavailable);
    }
    json.end_object();
  }
  json.end_array().end_object();
}

// What all experiments together came to.
struct Tally {
  std::size_t runs = 0;
  std::size_t within = 0;
  std::size_t shown = 0;  // nothing about them is judged
  std::size_t not_run = 0;
  std::size_t jobs = 0;
  std::size_t unequal = 0;
  bool not_here = false;  // jobs that are recorded

  std::string text() const {
    std::string text = fmt::format("{} of {} runs within tolerance, ", within, runs);
    text += jobs > 0   ? fmt::format("{} of {} jobs equal", jobs - unequal, jobs)
            : not_here ? "the recorded jobs are not on this machine"
                       : "no single jobs are recorded to compare with";
    if (shown > 0) text += fmt::format(", {} runs only shown", shown);
    if (not_run > 0) text += fmt::format(", {} runs not possible here", not_run);
    return text;
  }

  void add(const ExperimentResult& result) {
    for (const RunCheck& run : result.runs) {
      const bool judged = run.jobs.compared || run.figures.empty() ||
                          std::any_of(run.figures.begin(), run.figures.end(),
                                      [](const FigureCheck& one) { return one.judged; });
      if (!run.missing.empty()) {
        ++not_run;
      } else if (!judged) {
        ++shown;
      } else {
        ++runs;
        within += run.within() ? 1 : 0;
      }
      jobs += run.jobs.jobs;
      not_here = not_here || !run.jobs.unavailable.empty() || !run.missing.empty();
      unequal += run.jobs.unequal;
    }
  }
};

int reproduce(const ReproduceOptions& options) {
  if (options.system.empty()) return list_experiments("");
  std::vector<std::string> names{options.experiment};
  if (options.experiment.empty()) names = shared_files("experiments/" + options.system);
  if (names.empty()) names.emplace_back();
  std::vector<Experiment> experiments;
  for (const std::string& name : names) {
    auto experiment = load_experiment(options.system, name);
    if (!experiment) return complain(experiment.error());
    experiments.push_back(std::move(*experiment));
  }
  watch_interrupts();
  Progress progress({.title = "reproduce",
                     .unit = "runs",
                     .quiet = options.quiet,
                     .tasks_expected = static_cast<int>(experiments.size())});
  JsonWriter json(2);
  json.begin_array();
  Tally tally;
  for (const Experiment& experiment : experiments) {
    const auto result =
        run_experiment(experiment, {options.threads, [] { return !interrupted(); }, &progress});
    if (!result) return complain(result.error(), kExitFailed);
    if (!result->complete) {
      progress.stop();
      return complain(Error{"interrupted; runs that had not finished were not compared"},
                      kExitInterrupted);
    }
    tally.add(*result);
    if (options.json) {
      write_json(json, experiment, *result);
    } else {
      print_experiment(experiment, *result, options.all);
    }
  }
  progress.stop();
  if (options.json) {
    json.end_array();
    fmt::print("{}\n", json.text());
  } else {
    show("\n{}\n", tally.text());
  }
  return tally.within == tally.runs ? kExitOk : kExitFailed;
}

}  // namespace

void add_reproduce_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "reproduce", "Run published experiments and compare with the published numbers");
  const auto options = std::make_shared<ReproduceOptions>();
  command->add_option("SYSTEM", options->system, "published system; without it, list all");
  command->add_option("EXPERIMENT", options->experiment,
                      "one of its experiments; without it, run all");
  command->add_flag("--all", options->all,
                    "show every figure, not only the first and those that differ");
  command->add_option("-j,--jobs", options->threads,
                      "number of parallel runs (default: one per core)");
  command->add_flag("--json", options->json, "print the comparison as JSON");
  command->add_flag("-q,--quiet", options->quiet, "show no progress on standard error");
  command->footer(
      "Examples:\n"
      "  muster reproduce                     what can be reproduced\n"
      "  muster reproduce blox                all of Blox: figures and every job\n"
      "  muster reproduce blox figure6 --all  one figure in full\n"
      "\n"
      "The exit status is 1 if a figure is beyond the experiment's tolerance or a job differs.\n"
      "Differences in brackets are shown but not judged.\n"
      "Runs that need missing data are named and left out of the comparison.");
  command->callback([options, &chosen] { chosen.run = [options] { return reproduce(*options); }; });
}

}  // namespace muster
