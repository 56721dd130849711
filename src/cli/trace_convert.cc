// `muster trace convert`: the same jobs in another format.
#include <memory>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/trace_parts.h"
#include "workload/gavel_log.h"
#include "workload/timestamp.h"

namespace muster {

int trace_convert(const TraceCommandOptions& options) {
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
  JobSteps steps(options, "convert");
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

}  // namespace muster
