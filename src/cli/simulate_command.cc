#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/run_options.h"
#include "cli/run_warnings.h"
#include "report/summary_json.h"
#include "report/table.h"
#include "run/assembly/recorded_run.h"

namespace muster {
namespace {

struct SimulateOptions {
  RunOptions run;
  OutputOptions output;
  SaveOptions save;
};

Result<RunConfig> described(const SimulateOptions& options) {
  auto layers = layers_of(options.run);
  if (!layers) return layers.error();
  auto config = load_config(*layers);
  if (!config) return config.error();
  return complete_config(std::move(*config));
}

void choose_folder(RunConfig& config, const OutputOptions& output) {
  if (!output.folder.empty()) config.output.folder = output.folder;
  if (config.output.folder.empty()) {
    config.output.folder =
        "results/" + file_name_for(config.name.empty() ? config.label() : config.name);
  }
  if (output.no_save) config.output.folder.clear();
  config.output.force = config.output.force || output.force;
  config.output.turns = config.output.turns || output.turns;
}

void print_run(const RecordedRun& run, const OutputOptions& output) {
  if (output.json) {
    fmt::print("{}\n", summary_to_json({run.info, run.summary, run.complete, ""}));
    return;
  }
  const TextStyle style = text_style(STDOUT_FILENO);
  fmt::print("{}\n", run.info.label);
  if (output.metrics.empty()) {
    fmt::print("{}", figures_table(run.summary).text(style));
  } else {
    fmt::print("{}",
               comparison_table({{run.info.label, &run.summary}}, output.metrics).text(style));
  }
  if (!run.folder.empty()) {
    fmt::print("\nresults: {}\nagain:   {}\n", run.folder, run.info.rerun);
  }
}

int simulate(const SimulateOptions& options) {
  auto config = described(options);
  if (!config) return complain(config.error());
  if (Status known = check_metrics(options.output.metrics); !known) return complain(known.error());
  if (const std::string doubt = doubt_about(*config); !doubt.empty()) note(doubt);
  choose_folder(*config, options.output);
  if (options.save.file.empty() != (options.save.at_job < 0)) {
    return complain(Error{"--save-run FILE and --save-at JOB belong together: give both"});
  }
  watch_interrupts();
  Progress progress({.title = "simulate", .quiet = options.output.quiet});
  bool warned = false;
  const auto tell = [&warned](const std::vector<std::string>& warnings) {
    warned = true;
    for (const std::string& warning : warnings) warn(warning);
  };
  const auto run = record_run(*config, nullptr,
                              {.keep_going = [] { return !interrupted(); },
                               .progress = &progress,
                               .save = options.save,
                               .warn = tell});
  progress.stop();
  if (!run) return complain(run.error());
  if (run->unwritten) return complain(*run->unwritten, kExitFailed);
  print_run(*run, options.output);
  RunInfo untold = run->info;
  if (warned) untold.warnings.clear();
  warn_about({{&untold, &run->summary}});
  if (run->complete) return kExitOk;
  fmt::print(stderr, "muster: interrupted; {}\n",
             run->folder.empty() ? "the figures cover the part that was run"
                                 : "the results so far are marked incomplete in " + run->folder);
  return kExitInterrupted;
}

}  // namespace

void add_simulate_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("simulate", "Run one workload on one cluster under one set of policies");
  const auto options = std::make_shared<SimulateOptions>();
  add_run_options(*command, options->run, false);
  add_output_options(*command, options->output);
  constexpr const char* kSaved = "Save a run and continue it later";
  command
      ->add_option("--save-run", options->save.file,
                   "file to save the run to at --save-at; the run continues")
      ->type_name("FILE")
      ->group(kSaved);
  command
      ->add_option("--save-at", options->save.at_job,
                   "save the run when the job with this number arrives")
      ->type_name("JOB")
      ->check(CLI::NonNegativeNumber)
      ->group(kSaved);
  command
      ->add_option("--continue-run", options->save.continue_from,
                   "continue a saved run of the same description")
      ->type_name("FILE")
      ->group(kSaved);
  command->footer(
      "Examples:\n"
      "  muster simulate trace.csv --cluster 16x8\n"
      "  muster simulate trace.csv -c 16x8 -s las:service=seconds -p consolidated -o results/las\n"
      "  muster simulate -g philly-like:jobs=5000 -c 32x8 -s srtf --restart-cost 30\n"
      "  muster simulate trace.csv -c 16x8 --node-mtbf 604800 --checkpoint-every 1800\n"
      "  muster simulate --preset blox -g blox-simple:load=7,jobs=4001 -s las --measure 3000-4000\n"
      "  muster simulate --config results/las/inputs/run.toml      # the same run again\n"
      "\n"
      "The results go to a folder: summary.json, jobs.csv, decisions.bin, timeline.csv, and "
      "inputs/\n"
      "with all that is needed to run it again. `muster policies` lists what can be chosen.");
  command->callback([options, &chosen] { chosen.run = [options] { return simulate(*options); }; });
}

}  // namespace muster
