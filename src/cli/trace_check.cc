// `muster trace check`: what is wrong with a trace, and a repaired copy of it.
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/show.h"
#include "cli/trace_parts.h"
#include "report/json.h"
#include "report/units.h"
#include "workload/cluster_file.h"
#include "workload/doctor.h"

namespace muster {
namespace {

std::string_view severity_text(Severity severity) {
  return severity == Severity::kError ? "error" : "warning";
}

void print_diagnosis(const std::string& name, const RawTrace& trace, const Diagnosis& diagnosis) {
  show("{}: {} jobs in {} records of the format {}\n", name,
       count_text(static_cast<double>(trace.jobs.size())),
       count_text(static_cast<double>(trace.stats.records)), trace.stats.format);
  for (const auto& [reason, count] : trace.stats.skipped) {
    show("  {} skipped: {}\n", count_text(static_cast<double>(count)), reason);
  }
  for (const Finding& finding : diagnosis.findings) {
    show("\n{}: {} ({} {})\n", severity_text(finding.severity), finding.name,
         count_text(static_cast<double>(finding.count)), finding.count == 1 ? "time" : "times");
    show("  {}\n", finding.sentence);
    for (const FindingExample& example : finding.examples) {
      show("    line {}: {}\n", example.line, example.what);
    }
    show("  repair: {}\n", finding.repair);
  }
  if (diagnosis.findings.empty()) show("nothing wrong\n");
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

}  // namespace

int trace_check(const TraceCommandOptions& options) {
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

}  // namespace muster
