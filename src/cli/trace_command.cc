// `muster trace info | check | convert | head | formats`; `generate` has a file of its own.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/trace_parts.h"
#include "workload/trace_format.h"

namespace muster {
namespace {

constexpr const char* kClusterHelp = "a cluster, as 16x8 or a file; see `muster simulate --help`";

using TraceAction = int (*)(const TraceCommandOptions&);

CLI::App* add_part(CLI::App& trace, Chosen& chosen,
                   const std::shared_ptr<TraceCommandOptions>& options, const std::string& name,
                   const std::string& sentence, TraceAction run) {
  CLI::App* part = trace.add_subcommand(name, sentence);
  part->callback(
      [options, run, &chosen] { chosen.run = [options, run] { return run(*options); }; });
  return part;
}

// How the trace is read.
void add_reading(CLI::App& part, TraceCommandOptions& options, bool decides_about_bad_lines) {
  part.add_option("FILE", options.file, "the trace, plain or compressed; - reads standard input")
      ->required();
  part.add_option(
      "--format", options.format,
      fmt::format("its format, if detection fails: {}", fmt::join(trace_format_names(), ", ")));
  part.add_option(
      "--set", options.settings,
      "a setting of the format, NAME=VALUE; see `muster trace formats`; may be repeated");
  part.add_option("--status", options.statuses,
                  "keep only jobs with this status, as the trace names it")
      ->delimiter(',');
  part.add_flag("-q,--quiet", options.quiet, "no progress");
  if (!decides_about_bad_lines) return;
  CLI::Option* skip = part.add_flag("--skip-bad", options.skip_bad,
                                    "skip bad lines, count them and show the first");
  part.add_flag("--strict", options.strict, "stop at the first bad line (the default)")
      ->excludes(skip);
}

void add_info(CLI::App& trace, Chosen& chosen,
              const std::shared_ptr<TraceCommandOptions>& options) {
  CLI::App* part = add_part(
      trace, chosen, options, "info",
      "Show count, span, sizes, durations, GPU hours, load, users and partitions", trace_info);
  add_reading(*part, *options, true);
  part->add_option("-c,--cluster", options->cluster,
                   std::string("show the load on ") + kClusterHelp);
  part->add_flag("--json", options->json, "as JSON");
}

void add_check(CLI::App& trace, Chosen& chosen,
               const std::shared_ptr<TraceCommandOptions>& options) {
  CLI::App* part = add_part(trace, chosen, options, "check",
                            "Find problems in a trace, and repair them", trace_check);
  add_reading(*part, *options, false);
  part->add_option("-c,--cluster", options->cluster,
                   std::string("also find jobs too large for ") + kClusterHelp);
  part->add_option("--repair", options->repaired, "write the repaired trace to this file");
  part->add_option("--to", options->to, "format of the repaired trace")->capture_default_str();
  part->add_option("--examples", options->examples, "number of example lines per finding")
      ->capture_default_str();
  part->add_flag("--json", options->json, "as JSON");
  part->footer(
      "Exit status: 0 if there are no errors or all were repaired; 1 if there are errors; 2 if "
      "the\n"
      "trace cannot be read.");
}

void add_convert(CLI::App& trace, Chosen& chosen,
                 const std::shared_ptr<TraceCommandOptions>& options) {
  CLI::App* part = add_part(trace, chosen, options, "convert",
                            "Sort a trace and write it in another format", trace_convert);
  add_reading(*part, *options, true);
  part->add_option("OUTPUT", options->output,
                   "file to write (compressed if it ends in .gz or .zst), or -")
      ->required();
  std::vector<std::string_view> names;
  for (const WritableFormat& format : writable_formats()) names.push_back(format.name);
  part->add_option("--to", options->to, fmt::format("format to write: {}", fmt::join(names, ", ")))
      ->capture_default_str();
  CLI::Option* rebase =
      part->add_flag("--rebase", options->rebase, "make the first submission time 0");
  part->add_flag("--keep-times", options->keep_times, "keep wall-clock times as seconds since 1970")
      ->excludes(rebase);
  CLI::Option* stream = part->add_flag("--stream", options->stream,
                                       "convert in little memory; the trace must be sorted");
  part->add_option("--after", options->after,
                   "write the jobs that are left according to this log of Gavel's scheduler")
      ->type_name("LOG")
      ->excludes(stream);
}

void add_head(CLI::App& trace, Chosen& chosen,
              const std::shared_ptr<TraceCommandOptions>& options) {
  CLI::App* part = add_part(trace, chosen, options, "head",
                            "Show the first jobs as Muster reads them", trace_head);
  add_reading(*part, *options, true);
  part->add_option("-n,--jobs", options->jobs, "how many")->capture_default_str();
  part->add_flag("--json", options->json, "as JSON");
}

void add_formats(CLI::App& trace, Chosen& chosen,
                 const std::shared_ptr<TraceCommandOptions>& options) {
  CLI::App* part = add_part(trace, chosen, options, "formats",
                            "List the formats and their settings", trace_formats_list);
  part->add_flag("--json", options->json, "as JSON");
}

}  // namespace

void add_trace_command(CLI::App& app, Chosen& chosen) {
  CLI::App* trace = app.add_subcommand("trace", "Inspect, check, convert and generate traces");
  trace->require_subcommand(1);
  const auto options = std::make_shared<TraceCommandOptions>();
  add_info(*trace, chosen, options);
  add_check(*trace, chosen, options);
  add_convert(*trace, chosen, options);
  add_head(*trace, chosen, options);
  add_formats(*trace, chosen, options);
  add_trace_generate(*trace, chosen);
  trace->footer(
      "Examples:\n"
      "  muster trace info philly.csv --cluster 64x8\n"
      "  muster trace check slurm.txt --cluster 16x4 --repair jobs.csv\n"
      "  muster trace convert philly.csv jobs.swf --to swf\n"
      "  muster trace convert gavel.trace rest.trace --to gavel --after scheduler.log\n"
      "  muster trace head helios.csv -n 5\n"
      "  muster trace generate poisson -p load=0.8 -p cluster_gpus=128 -p jobs=5000 -o jobs.csv");
}

}  // namespace muster
