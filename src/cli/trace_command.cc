// `muster trace info | check | convert | head | formats`; `generate` has a file of its own.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/trace_info.h"
#include "report/json.h"
#include "report/progress.h"
#include "report/table.h"
#include "report/units.h"
#include "workload/cluster_file.h"
#include "workload/doctor.h"
#include "workload/gavel_log.h"
#include "workload/timestamp.h"
#include "workload/trace_format.h"
#include "workload/trace_reader.h"
#include "workload/trace_writer.h"

namespace muster {
namespace {

struct TraceCommandOptions {
  std::string file;
  std::string output;
  std::string format;
  std::vector<std::string> settings;
  std::vector<std::string> statuses;
  bool skip_bad = false;
  bool strict = false;  // the default said aloud
  bool rebase = false;
  bool keep_times = false;
  bool json = false;
  bool quiet = false;
  bool stream = false;
  std::string cluster;
  std::string to = "muster";
  std::string after;
  std::string repaired;
  std::size_t jobs = 10;
  std::size_t examples = 3;
};

Result<TraceOptions> reading_of(const TraceCommandOptions& options) {
  TraceOptions reading;
  reading.format = options.format;
  reading.skip_bad = options.skip_bad;
  reading.statuses = options.statuses;
  reading.examples = options.examples;
  reading.rebase = options.rebase ? Rebase::kYes : options.keep_times ? Rebase::kNo : Rebase::kAuto;
  for (const std::string& setting : options.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{fmt::format("--set {}: expected NAME=VALUE", setting)};
    }
    reading.settings[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return reading;
}

std::string shown_name(const std::string& file) { return file == "-" ? "standard input" : file; }

void tell_notes(const TraceStats& stats) {
  for (const std::string& text : stats.notes) note(text);
  if (stats.bad == 0) return;
  note(fmt::format("{} bad lines were passed over, the first:", stats.bad));
  for (const BadRecord& bad : stats.bad_examples)
    note(fmt::format("  line {}: {}", bad.line, bad.problem));
}

// Counts for the progress line, and looks for Ctrl-C, every few thousand jobs.
class Steps {
 public:
  Steps(const TraceCommandOptions& options, const std::string& title)
      : progress_({.title = title, .unit = "jobs", .quiet = options.quiet}),
        task_(progress_.task(shown_name(options.file), 0)) {
    watch_interrupts();
  }
  // False when the user wants to stop.
  bool step() {
    constexpr std::uint64_t kEvery = 4096;
    if (++jobs_ % kEvery != 0) return true;
    task_.set(jobs_);
    return !interrupted();
  }
  void stop() { progress_.stop(); }

 private:
  Progress progress_;
  ProgressTask& task_;
  std::uint64_t jobs_ = 0;
};

int info(const TraceCommandOptions& options) {
  auto reading = reading_of(options);
  if (!reading) return complain(reading.error());
  reading->any_order = true;
  Symbols symbols;
  std::optional<ClusterSpec> cluster;
  if (!options.cluster.empty()) {
    auto read = read_cluster(options.cluster, symbols);
    if (!read) return complain(read.error());
    cluster = std::move(*read);
  }
  auto reader = TraceReader::open(options.file, *reading, symbols);
  if (!reader) return complain(reader.error());
  TraceInfo gathered;
  Steps steps(options, "info");
  for (; (*reader)->peek() != nullptr; (*reader)->pop()) {
    gathered.add(*(*reader)->peek());
    if (!steps.step()) return kExitInterrupted;
  }
  steps.stop();
  if (const auto error = (*reader)->error()) return complain(*error);
  const TraceStats& stats = (*reader)->stats();
  if (!options.json) tell_notes(stats);
  const ClusterSpec* shape = cluster ? &*cluster : nullptr;
  const std::string name = shown_name(options.file);
  fmt::print("{}", options.json ? gathered.json(name, stats, symbols, shape)
                                : gathered.text(name, stats, symbols, shape, options.cluster));
  return kExitOk;
}

std::string_view severity_text(Severity severity) {
  return severity == Severity::kError ? "error" : "warning";
}

void print_diagnosis(const std::string& name, const RawTrace& trace, const Diagnosis& diagnosis) {
  fmt::print("{}: {} jobs in {} records of the format {}\n", name,
             count_text(static_cast<double>(trace.jobs.size())),
             count_text(static_cast<double>(trace.stats.records)), trace.stats.format);
  for (const auto& [reason, count] : trace.stats.skipped) {
    fmt::print("  {} skipped: {}\n", count_text(static_cast<double>(count)), reason);
  }
  for (const Finding& finding : diagnosis.findings) {
    fmt::print("\n{}: {} ({} {})\n", severity_text(finding.severity), finding.name,
               count_text(static_cast<double>(finding.count)),
               finding.count == 1 ? "time" : "times");
    fmt::print("  {}\n", finding.sentence);
    for (const FindingExample& example : finding.examples) {
      fmt::print("    line {}: {}\n", example.line, example.what);
    }
    fmt::print("  repair: {}\n", finding.repair);
  }
  if (diagnosis.findings.empty()) fmt::print("nothing wrong\n");
}

void print_diagnosis_json(const std::string& name, const RawTrace& trace,
                          const Diagnosis& diagnosis) {
  JsonWriter json(2);
  json.begin_object().member("trace", name).member("format", trace.stats.format);
  json.member("jobs", static_cast<double>(trace.jobs.size()));
  json.member("records", static_cast<double>(trace.stats.records));
  json.member("healthy", diagnosis.findings.empty()).key("findings").begin_array();
  for (const Finding& finding : diagnosis.findings) {
    json.begin_object()
        .member("name", finding.name)
        .member("severity", severity_text(finding.severity));
    json.member("count", static_cast<double>(finding.count)).member("sentence", finding.sentence);
    json.member("repair", finding.repair).key("examples").begin_array();
    for (const FindingExample& example : finding.examples) {
      json.begin_object()
          .member("line", static_cast<double>(example.line))
          .member("what", example.what)
          .end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
  fmt::print("{}\n", json.text());
}

void tell_losses(const TraceWriter& writer, const std::string& format) {
  for (const Loss& loss : writer.losses()) {
    note(fmt::format("{} jobs: the format {} does not carry {}", loss.jobs, format, loss.what));
  }
}

// Repairs the trace and writes it to options.repaired.
int write_repaired(const TraceCommandOptions& options, const Symbols& symbols,
                   const DoctorOptions& doctor, RawTrace& trace) {
  const RepairSummary done = repair(trace, doctor);
  if (trace.jobs.empty())
    return complain(Error{"a repair would leave no jobs: nothing was written"}, kExitFailed);
  auto writer = create_trace(options.repaired, options.to, symbols);
  if (!writer) return complain(writer.error());
  for (const JobSpec& job : trace.jobs) {
    if (const Status written = (*writer)->write(job); !written)
      return complain(written.error(), kExitFailed);
  }
  if (const Status finished = (*writer)->finish(); !finished)
    return complain(finished.error(), kExitFailed);
  tell_losses(**writer, options.to);
  std::string also;
  if (done.sorted) also += ", jobs sorted";
  if (done.moved != 0) also += fmt::format(", all times moved by {} s", exact_text(-done.moved));
  fmt::print(
      stderr, "wrote {} jobs to {}: {} dropped, {} changed, {} unreadable lines left out{}\n",
      trace.jobs.size(), options.repaired, done.dropped, done.changed, trace.stats.bad, also);
  return kExitOk;
}

int check(const TraceCommandOptions& options) {
  const auto reading = reading_of(options);
  if (!reading) return complain(reading.error());
  Symbols symbols;
  std::optional<ClusterSpec> cluster;
  DoctorOptions doctor;
  doctor.examples = options.examples;
  if (!options.cluster.empty()) {
    auto read = read_cluster(options.cluster, symbols);
    if (!read) return complain(read.error());
    cluster = std::move(*read);
    doctor.cluster = &*cluster;
    doctor.symbols = &symbols;
  }
  auto trace = read_raw(options.file, *reading, symbols);
  if (!trace) return complain(trace.error());
  const Diagnosis diagnosis = examine(*trace, doctor);
  if (options.json) {
    print_diagnosis_json(shown_name(options.file), *trace, diagnosis);
  } else {
    for (const std::string& text : trace->stats.notes) note(text);
    print_diagnosis(shown_name(options.file), *trace, diagnosis);
  }
  if (!options.repaired.empty()) return write_repaired(options, symbols, doctor, *trace);
  return diagnosis.has_errors() ? kExitFailed : kExitOk;
}

int convert(const TraceCommandOptions& options) {
  const auto reading = reading_of(options);
  if (!reading) return complain(reading.error());
  Symbols symbols;
  std::unique_ptr<JobSource> source;
  Trace trace;
  TraceReader* reader = nullptr;
  if (options.stream) {
    auto opened = TraceReader::open(options.file, *reading, symbols);
    if (!opened) return complain(opened.error());
    reader = opened->get();
    source = std::move(*opened);
  } else {
    auto loaded = load_trace(options.file, *reading, symbols);
    if (!loaded) return complain(loaded.error());
    trace = std::move(*loaded);
    if (!options.after.empty()) {
      const auto log = GavelLog::load(options.after);
      if (!log) return complain(log.error());
      auto left = log->remaining(trace.jobs);
      if (!left) return complain(left.error());
      trace.jobs = std::move(*left);
      note(fmt::format("{} s have passed; {} jobs are left", log->elapsed(), trace.jobs.size()));
    }
    source = std::make_unique<ListSource>(trace.jobs);
  }
  auto writer = create_trace(options.output, options.to, symbols);
  if (!writer) return complain(writer.error());
  Steps steps(options, "convert");
  for (; source->peek() != nullptr; source->pop()) {
    if (const Status written = (*writer)->write(*source->peek()); !written) {
      return complain(written.error(), kExitFailed);
    }
    if (!steps.step()) return kExitInterrupted;
  }
  steps.stop();
  if (const auto error = source->error()) return complain(*error);
  if (const Status finished = (*writer)->finish(); !finished)
    return complain(finished.error(), kExitFailed);
  tell_notes(reader != nullptr ? reader->stats() : trace.stats);
  if (!trace.was_sorted) note("the jobs were sorted by submission");
  if (trace.origin != 0)
    note(fmt::format("the first submission, {}, became time 0", timestamp_text(trace.origin)));
  tell_losses(**writer, options.to);
  if (options.output != "-" && !options.quiet) {
    fmt::print(stderr, "wrote {} jobs to {}\n", (*writer)->jobs(), options.output);
  }
  return kExitOk;
}

void append_json(const JobSpec& job, std::uint64_t line, const Symbols& symbols, JsonWriter& json) {
  json.begin_object().member("line", static_cast<double>(line)).member("job_id", job.name);
  json.member("submit_s", job.submit)
      .member("duration_s", job.duration)
      .member("gpus", static_cast<double>(job.gpus));
  const auto number = [&json](std::string_view key, double value) {
    if (value != 0) json.member(key, value);
  };
  number("min_gpus", job.min_gpus);
  number("max_gpus", job.max_gpus);
  if (job.deadline != kNever) json.member("deadline_s", job.deadline);
  number("estimate_s", job.estimate);
  number("cpus", job.cpus);
  number("memory_gb", job.memory_gb);
  number("iterations", job.iterations);
  number("batch_size", job.batch_size);
  number("priority", job.priority);
  for (const auto& [key, symbol] :
       {std::pair("model", job.model), std::pair("user", job.user),
        std::pair("partition", job.partition), std::pair("gpu_type", job.gpu_type)}) {
    if (symbol != kNoSymbol) json.member(key, symbols.text(symbol));
  }
  json.end_object();
}

int head(const TraceCommandOptions& options) {
  auto reading = reading_of(options);
  if (!reading) return complain(reading.error());
  reading->any_order = true;
  Symbols symbols;
  auto reader = TraceReader::open(options.file, *reading, symbols);
  if (!reader) return complain(reader.error());
  JsonWriter json(2);
  json.begin_array();
  Table table({{"line", "line", Unit::kCount, Better::kNeither},
               {"job_id", "job", Unit::kCount, Better::kNeither},
               {"submit", "submitted", Unit::kCount, Better::kNeither},
               {"duration", "duration", Unit::kSeconds, Better::kNeither},
               {"gpus", "GPUs", Unit::kCount, Better::kNeither},
               {"deadline", "deadline", Unit::kCount, Better::kNeither},
               {"partition", "partition", Unit::kCount, Better::kNeither},
               {"user", "user", Unit::kCount, Better::kNeither},
               {"model", "model", Unit::kCount, Better::kNeither}});
  constexpr Seconds kWallClock = 1e9;
  const auto time = [](Seconds when) -> Cell {
    if (when == kNever) return {};
    return when >= kWallClock ? timestamp_text(when) : exact_text(when) + " s";
  };
  for (std::size_t i = 0; i < options.jobs && (*reader)->peek() != nullptr; ++i, (*reader)->pop()) {
    const JobSpec& job = *(*reader)->peek();
    append_json(job, (*reader)->line(), symbols, json);
    table.add_row({static_cast<double>((*reader)->line()), job.name, time(job.submit), job.duration,
                   static_cast<double>(job.gpus), time(job.deadline), symbols.text(job.partition),
                   symbols.text(job.user), symbols.text(job.model)});
  }
  if (const auto error = (*reader)->error()) return complain(*error);
  json.end_array();
  fmt::print("{}", options.json ? json.take() + "\n" : table.text({}));
  return kExitOk;
}

bool writable(std::string_view name) {
  const auto& formats = writable_formats();
  return std::any_of(formats.begin(), formats.end(),
                     [name](const WritableFormat& format) { return format.name == name; });
}

int formats(const TraceCommandOptions& options) {
  if (options.json) {
    JsonWriter json(2);
    json.begin_array();
    for (const TraceFormat& format : trace_formats()) {
      json.begin_object().member("name", format.name).member("sentence", format.sentence);
      json.member("source", format.source).member("writable", writable(format.name));
      json.key("settings").begin_array();
      for (const ParamInfo& setting : format.settings()) {
        json.begin_object().member("name", setting.name).member("default", setting.initial);
        json.member("sentence", setting.sentence).end_object();
      }
      json.end_array().end_object();
    }
    json.end_array();
    fmt::print("{}\n", json.text());
    return kExitOk;
  }
  for (const TraceFormat& format : trace_formats()) {
    fmt::print("{:<12} {}{}\n{:<12} from {}\n", format.name, format.sentence,
               writable(format.name) ? "; can be written" : "", "", format.source);
    for (const ParamInfo& setting : format.settings()) {
      fmt::print("{:<12} --set {}={}: {}\n", "", setting.name, setting.initial, setting.sentence);
    }
  }
  return kExitOk;
}

using Action = int (*)(const TraceCommandOptions&);

CLI::App* add_part(CLI::App& trace, Chosen& chosen,
                   const std::shared_ptr<TraceCommandOptions>& options, const std::string& name,
                   const std::string& sentence, Action run) {
  CLI::App* part = trace.add_subcommand(name, sentence);
  part->callback(
      [options, run, &chosen] { chosen.run = [options, run] { return run(*options); }; });
  return part;
}

// How the trace is read.
void add_reading(CLI::App& part, TraceCommandOptions& options, bool decides_about_bad_lines) {
  part.add_option("FILE", options.file, "the trace, plain or packed; - reads standard input")
      ->required();
  part.add_option(
      "--format", options.format,
      fmt::format("its format, if detection fails: {}", fmt::join(trace_format_names(), ", ")));
  part.add_option(
      "--set", options.settings,
      "a setting of the format, NAME=VALUE; see `muster trace formats`; may be repeated");
  part.add_option("--status", options.statuses,
                  "keep only jobs that ended so, in the trace's own words")
      ->delimiter(',');
  part.add_flag("-q,--quiet", options.quiet, "no progress");
  if (!decides_about_bad_lines) return;
  CLI::Option* skip = part.add_flag("--skip-bad", options.skip_bad,
                                    "pass over bad lines, count them and show the first");
  part.add_flag("--strict", options.strict, "stop at the first bad line (the default)")
      ->excludes(skip);
}

}  // namespace

void add_trace_command(CLI::App& app, Chosen& chosen) {
  CLI::App* trace = app.add_subcommand("trace", "Look at, check, convert and generate traces");
  trace->require_subcommand(1);
  const auto options = std::make_shared<TraceCommandOptions>();
  const std::string cluster_help = "a cluster, as 16x8 or a file; see `muster simulate --help`";

  CLI::App* part =
      add_part(*trace, chosen, options, "info",
               "Count, span, sizes, durations, GPU hours, load, users and partitions", info);
  add_reading(*part, *options, true);
  part->add_option("-c,--cluster", options->cluster, "tell the load on " + cluster_help);
  part->add_flag("--json", options->json, "as JSON");

  part = add_part(*trace, chosen, options, "check",
                  "Find what is wrong with a trace, and repair it", check);
  add_reading(*part, *options, false);
  part->add_option("-c,--cluster", options->cluster,
                   "also find jobs too large for " + cluster_help);
  part->add_option("--repair", options->repaired, "write the repaired trace to this file");
  part->add_option("--to", options->to, "format of the repaired trace")->capture_default_str();
  part->add_option("--examples", options->examples, "lines to show per finding")
      ->capture_default_str();
  part->add_flag("--json", options->json, "as JSON");
  part->footer(
      "Exit status: 0 nothing worse than warnings, or repaired; 1 errors; 2 it cannot be read.");

  part = add_part(*trace, chosen, options, "convert", "Sort a trace and write it in another format",
                  convert);
  add_reading(*part, *options, true);
  part->add_option("OUTPUT", options->output, "the file to write (.gz and .zst are packed), or -")
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
                                       "any length in little memory; the trace must be sorted");
  part->add_option("--after", options->after,
                   "write what this log of Gavel's scheduler says is left, as of its last line")
      ->type_name("LOG")
      ->excludes(stream);

  part =
      add_part(*trace, chosen, options, "head", "Show the first jobs as Muster reads them", head);
  add_reading(*part, *options, true);
  part->add_option("-n,--jobs", options->jobs, "how many")->capture_default_str();
  part->add_flag("--json", options->json, "as JSON");

  part =
      add_part(*trace, chosen, options, "formats", "List the formats and their settings", formats);
  part->add_flag("--json", options->json, "as JSON");

  add_trace_generate(*trace, chosen);
  trace->footer(
      "Examples:\n"
      "  muster trace info philly.csv --cluster 64x8\n"
      "  muster trace check slurm.txt --cluster 16x4 --repair jobs.csv\n"
      "  muster trace convert itp.csv.gz jobs.swf --to swf\n"
      "  muster trace convert gavel.trace rest.trace --to gavel --after scheduler.log\n"
      "  muster trace head helios.csv -n 5\n"
      "  muster trace generate poisson -p load=0.8 -p cluster_gpus=128 -p jobs=5000 -o jobs.csv");
}

}  // namespace muster
