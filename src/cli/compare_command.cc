#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/comparison.h"
#include "cli/run_options.h"

namespace muster {
namespace {

struct CompareOptions {
  RunOptions run;
  OutputOptions output;
  unsigned threads = 0;
};

struct Kind {
  std::string_view key;
  std::string_view option;
  const std::vector<std::string>& values;
};

// All combinations of what was given several times, named by what differs.
Result<std::vector<RunConfig>> runs_of(const CompareOptions& options) {
  const auto layers = layers_of(options.run);
  if (!layers) return layers.error();
  const Kind kinds[] = {
      {"cluster", "--cluster", options.run.clusters},
      {"scheduling", "--scheduling", options.run.schedulings},
      {"placement", "--placement", options.run.placements},
      {"admission", "--admission", options.run.admissions},
  };
  struct Draft {
    ConfigLayers layers;
    std::string name;
  };
  std::vector<Draft> drafts{{*layers, ""}};
  for (const Kind& kind : kinds) {
    if (kind.values.size() < 2) continue;
    std::vector<Draft> more;
    for (const Draft& draft : drafts) {
      for (const std::string& value : kind.values) {
        Draft next = draft;
        next.layers.settings.push_back(setting_of(kind.key, value, kind.option));
        next.name += (next.name.empty() ? "" : " + ") + value;
        more.push_back(std::move(next));
      }
    }
    drafts = std::move(more);
  }
  std::vector<RunConfig> runs;
  for (const Draft& draft : drafts) {
    auto config = load_config(draft.layers);
    if (!config) return config.error();
    auto complete = complete_config(std::move(*config));
    if (!complete) return complete.error();
    if (const std::string doubt = doubt_about(*complete); !doubt.empty()) note(doubt);
    complete->name = draft.name.empty() ? complete->label() : draft.name;
    complete->output.force = options.output.force;
    complete->output.turns = options.output.turns;
    runs.push_back(std::move(*complete));
  }
  return runs;
}

int compare(const CompareOptions& options) {
  auto runs = runs_of(options);
  if (!runs) return complain(runs.error());
  if (Status known = check_metrics(options.output.metrics); !known) return complain(known.error());
  if (runs->size() < 2) {
    return complain(Error{
        "nothing to compare: give --scheduling (or --placement, --admission, --cluster) more than "
        "once"});
  }
  ComparisonOptions comparison;
  comparison.title = "compare";
  comparison.folder = options.output.folder.empty() ? "results/compare" : options.output.folder;
  if (options.output.no_save) comparison.folder.clear();
  comparison.threads = options.threads;
  comparison.json = options.output.json;
  comparison.quiet = options.output.quiet;
  comparison.metrics = options.output.metrics;
  return compare_runs(std::move(*runs), comparison);
}

}  // namespace

void add_compare_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("compare", "Run one workload under several policies, side by side");
  const auto options = std::make_shared<CompareOptions>();
  add_run_options(*command, options->run, true);
  add_output_options(*command, options->output);
  command
      ->add_option("-j,--jobs", options->threads, "number of parallel runs (default: one per core)")
      ->group("Output");
  command->footer(
      "Examples:\n"
      "  muster compare trace.csv -c 16x8 -s fifo -s las -s srtf\n"
      "  muster compare trace.csv -c 16x8 -s las:service=seconds -s las:service=gpu-seconds\n"
      "  muster compare -g diurnal:jobs=5000 -c 16x8 -s las -p consolidated -p scattered\n"
      "  muster compare trace.csv -c 16x8 -s fifo -s srtf --metrics avg_jct_s,p99_jct_s --json\n"
      "\n"
      "All combinations of options given several times run on the same jobs. The folder gets\n"
      "one result per run and report.html, a page that opens from disk.");
  command->callback([options, &chosen] { chosen.run = [options] { return compare(*options); }; });
}

}  // namespace muster
