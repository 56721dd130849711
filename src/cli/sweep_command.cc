#include <algorithm>
#include <filesystem>
#include <memory>
#include <tuple>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/out_file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/run_options.h"
#include "cli/sweep_tables.h"
#include "report/refusals.h"
#include "run/sweep/sweep.h"
#include "run/sweep/sweep_journal.h"

namespace muster {
namespace {

struct SweepCommandOptions {
  RunOptions run;
  std::vector<std::string> loads;
  std::string seeds;
  std::string rates;
  std::string counts;
  std::string cutoffs;
  double threshold = 0;
  double timeout = 0;
  long long save_at = -1;
  std::vector<std::string> vary;
  std::string baseline;
  double confidence = 0;
  std::string folder;  // empty: results/sweep, or one like it
  bool no_save = false;
  std::vector<std::string> metrics;
  unsigned threads = 0;
  bool json = false;
  bool quiet = false;
};

// The run description of the file, and its table [sweep].
Result<SweepConfig> read_file_part(const SweepCommandOptions& options) {
  SweepConfig sweep;
  auto layers = layers_of(options.run);
  if (!layers) return layers.error();
  TomlNode document;
  if (!layers->file.empty()) {
    auto read = read_toml(layers->file);
    if (!read) return read.error();
    document = std::move(*read);
  }
  TomlNode run;
  const TomlNode* table = document.find("sweep");
  for (const auto& member : document.members) {
    if (member.name != "sweep") run.members.push_back(member);
  }
  auto base = load_config(run, layers->file,
                          std::filesystem::path(layers->file).parent_path().string(), *layers);
  if (!base) return base.error();
  sweep.base = std::move(*base);
  if (table != nullptr) {
    if (Status applied = apply_sweep_toml(sweep, *table, layers->file); !applied) {
      return applied.error();
    }
  }
  return sweep;
}

Result<SweepConfig> described(const SweepCommandOptions& options) {
  auto sweep = read_file_part(options);
  if (!sweep) return sweep;
  struct Axis {
    std::string_view name;
    const std::vector<std::string>& values;
    bool alone;  // an axis even with a single value
  };
  const Axis axes[] = {
      {"cluster", options.run.clusters, false},      {"load", options.loads, true},
      {"scheduling", options.run.schedulings, true}, {"placement", options.run.placements, false},
      {"admission", options.run.admissions, false},
  };
  for (const Axis& axis : axes) {
    if (axis.values.empty() || (axis.values.size() == 1 && !axis.alone)) continue;
    if (Status set = set_axis(*sweep, axis.name, axis.values); !set) return set.error();
  }
  for (const std::string& text : options.vary) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{fmt::format(
          "--vary {}: expected KEY=VALUE,VALUE, as in --vary restart.restart=0,30,60", text)};
    }
    std::vector<std::string> values;
    for (const std::string_view value : split(std::string_view(text).substr(equals + 1), ',')) {
      values.emplace_back(trim(value));
    }
    if (Status set = set_axis(*sweep, trim(text.substr(0, equals)), std::move(values)); !set) {
      return set.error();
    }
  }
  const std::tuple<std::string_view, std::string_view, const std::string&> rows[] = {
      {"--rates", "rate", options.rates}, {"--job-counts", "jobs", options.counts}};
  for (const auto& [option, axis, text] : rows) {
    if (text.empty()) continue;
    auto points = parse_points(text, axis == "jobs");
    if (!points) return Error{fmt::format("{} {}", option, points.error().message)};
    if (Status set = set_axis(*sweep, axis, std::move(*points)); !set) return set.error();
  }
  if (!options.cutoffs.empty()) sweep->cutoffs = options.cutoffs;
  if (options.threshold > 0) sweep->threshold = options.threshold;
  if (!options.seeds.empty()) {
    auto seeds = parse_seeds(options.seeds);
    if (!seeds) return seeds.error();
    sweep->seeds = std::move(*seeds);
  }
  if (!options.baseline.empty()) sweep->baseline = options.baseline;
  if (options.confidence > 0) sweep->confidence = options.confidence;
  return sweep;
}

// Seeds in whose runs nothing draws would only repeat them.
Status drop_idle_seeds(SweepConfig& config) {
  if (config.seeds.size() <= 1) return Done{};
  const auto matter = seeds_matter(config);
  if (!matter) return matter.error();
  if (*matter) return Done{};
  note(fmt::format(
      "nothing in these runs is random: {} seeds would repeat each of them, so each runs once",
      config.seeds.size()));
  config.seeds.resize(1);
  return Done{};
}

// What was there before this sweep began.
void tell_start(const SweepResult& result, const std::string& folder) {
  for (const std::string& text : result.notes) note(text);
  for (const std::string& text : result.warnings) warn(text);
  if (result.resumed > 0) {
    note(fmt::format("{} of {} runs were already done in {}", result.resumed, result.points.size(),
                     folder));
  }
  if (result.continued > 0) {
    note(fmt::format("{} runs continued from where they had been saved", result.continued));
  }
}

// What is odd about the runs.
void tell_troubles(const SweepResult& result, double timeout) {
  const auto late = std::count(result.states.begin(), result.states.end(), PointState::kTimedOut);
  if (late > 0) {
    note(fmt::format("{} of {} runs took longer than {} s and were given up", late,
                     result.points.size(), timeout));
  }
  const auto refusing = std::count_if(result.metrics.begin(), result.metrics.end(), many_refused);
  if (refusing > 0) {
    warn(fmt::format(
        "{} of {} runs refused more than a few of their jobs, and their averages are over the "
        "others; add --metrics refused, or simulate one of them to see why",
        refusing, result.points.size()));
  }
}

int sweep(const SweepCommandOptions& options) {
  auto config = described(options);
  if (!config) return complain(config.error());
  if (Status done = drop_idle_seeds(*config); !done) return complain(done.error());
  if (options.save_at >= 0 && options.no_save) {
    return complain(Error{"--save-at saves runs in the folder of the sweep: leave out --no-save"});
  }
  if (Status known = check_metrics(options.metrics); !known) return complain(known.error());
  std::vector<std::string> metrics = options.metrics;
  if (metrics.empty()) metrics = {"avg_jct_s", "p99_jct_s", "avg_queue_s", "utilization"};
  std::string folder = options.folder;
  if (folder.empty()) folder = folder_for_sweep("results/sweep", to_toml(*config));
  if (options.no_save) folder.clear();

  watch_interrupts();
  Progress progress({.title = "sweep", .unit = "runs", .quiet = options.quiet});
  const auto result = run_sweep(*config, {.folder = folder,
                                          .threads = options.threads,
                                          .timeout = options.timeout,
                                          .save_at = options.save_at,
                                          .keep_going = [] { return !interrupted(); },
                                          .progress = &progress});
  progress.stop();
  if (!result) return complain(result.error());
  if (result->unwritten) return complain(*result->unwritten, kExitFailed);
  tell_start(*result, folder);
  if (!result->complete()) {
    fmt::print(stderr, "muster: interrupted; {} of {} runs are done{}\n", result->done,
               result->points.size(),
               folder.empty() ? "" : "; run the same command again to continue");
    return kExitInterrupted;
  }
  const std::vector<SweepCell> cells = summarise(*config, *result, metrics);
  if (options.json) {
    fmt::print("{}", cells_json(*config, cells, metrics));
  } else if (config->threshold > 0) {
    print_found_rates(*config, *result);
  } else {
    print_cells(*config, cells, metrics);
  }
  tell_troubles(*result, options.timeout);
  if (folder.empty()) return kExitOk;
  if (Status kept = replace_file(folder + "/points.csv", points_csv(*config, *result)); !kept) {
    return complain(kept.error(), kExitFailed);
  }
  if (Status kept = replace_file(folder + "/cells.json", cells_json(*config, cells, metrics));
      !kept) {
    return complain(kept.error(), kExitFailed);
  }
  if (!options.json) fmt::print("\nresults: {0}: points.csv, cells.json, sweep.toml\n", folder);
  return kExitOk;
}

constexpr const char* kSweep = "Sweep";
constexpr const char* kSweepOutput = "Output";

// What is run.
void add_points(CLI::App& command, SweepCommandOptions& options) {
  command
      .add_option("--load", options.loads,
                  "loads of the generator, or speed-ups of the trace's arrivals, as in 0.8,1,1.2")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST")
      ->group(kSweep);
  command
      .add_option("--seeds", options.seeds, "number of seeds, as in 10, or a list, as in 1,3,8-10")
      ->type_name("LIST")
      ->group(kSweep);
  command
      .add_option("--vary", options.vary,
                  "KEY=VALUE,VALUE varies any key of a file, as in restart.restart=0,30,60")
      ->allow_extra_args(false)
      ->type_name("KEY=LIST")
      ->group(kSweep);
  command
      .add_option("--rates", options.rates,
                  "jobs per hour of the generator: a list, or FIRST:LAST:COUNT, as in 0.4:6.4:16")
      ->type_name("LIST")
      ->group(kSweep);
  command
      .add_option(
          "--job-counts", options.counts,
          "numbers of jobs, submitted at once if the generator can; a list, or FIRST:LAST:COUNT")
      ->type_name("LIST")
      ->group(kSweep);
}

// How it is run and compared.
void add_running(CLI::App& command, SweepCommandOptions& options) {
  command
      .add_option("--cutoffs", options.cutoffs,
                  "JSON file with the rate, by cluster and policy, from which a policy is not run")
      ->type_name("FILE")
      ->group(kSweep);
  command
      .add_option("--utilization-threshold,--utilisation-threshold", options.threshold,
                  "find the highest rate with at most this utilisation, as in 0.9")
      ->type_name("PART")
      ->group(kSweep);
  command.add_option("--timeout", options.timeout, "stop a run after this many seconds")
      ->type_name("SECONDS")
      ->group(kSweep);
  command
      .add_option("--save-at", options.save_at,
                  "save every run when the job with this number arrives; an interrupted sweep "
                  "continues from there")
      ->type_name("JOB")
      ->check(CLI::NonNegativeNumber)
      ->group(kSweep);
  command.add_option("--baseline", options.baseline, "policy that the others are compared with")
      ->type_name("NAME")
      ->group(kSweep);
  command
      .add_option("--confidence", options.confidence,
                  "confidence level of the intervals (default 0.95)")
      ->group(kSweep);
  command
      .add_option("-j,--jobs", options.threads, "number of parallel runs (default: one per core)")
      ->group(kSweep);
}

void add_output(CLI::App& command, SweepCommandOptions& options) {
  command
      .add_option("-o,--output", options.folder,
                  "folder for the journal and the results (default results/sweep, or "
                  "results/sweep-2 and so on where that holds another sweep)")
      ->type_name("FOLDER")
      ->group(kSweepOutput);
  command.add_flag("--no-save", options.no_save, "print the table and write nothing")
      ->group(kSweepOutput);
  command.add_option("--metrics", options.metrics, "figures to show, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST")
      ->group(kSweepOutput);
  command.add_flag("--json", options.json, "print the table as JSON")->group(kSweepOutput);
  command.add_flag("-q,--quiet", options.quiet, "show no progress on standard error")
      ->group(kSweepOutput);
}

}  // namespace

void add_sweep_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("sweep", "Run loads x policies x seeds x clusters in parallel");
  const auto options = std::make_shared<SweepCommandOptions>();
  add_run_options(*command, options->run, true);
  add_points(*command, *options);
  add_running(*command, *options);
  add_output(*command, *options);
  command->footer(
      "Examples:\n"
      "  muster sweep -g poisson:jobs=2000 -c 16x8 --load 0.7,0.8,0.9 -s fifo -s las -s srtf "
      "--seeds 10\n"
      "  muster sweep trace.csv -c 8x8 -c 16x8 -s las --vary scheduling.quantum=60,300,900\n"
      "  muster sweep --config sweep.toml -j 2\n"
      "  muster sweep --preset gavel -g gavel:throughputs=T.json --perf throughputs:file=T.json "
      "\\\n"
      "      -s gavel-as-coded:policy=isolated -s gavel-as-coded:policy=allox --rates 1:3:3 \\\n"
      "      --seeds 0-1 --measure 400-499\n"
      "\n"
      "Every policy sees the same jobs and failures for a seed, so differences from the baseline\n"
      "(the first policy) are taken pair by pair; intervals are Student's t over the seeds.\n"
      "Ctrl-C keeps finished runs: the same command continues from there.");
  command->callback([options, &chosen] { chosen.run = [options] { return sweep(*options); }; });
}

}  // namespace muster
