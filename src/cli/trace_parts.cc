#include "cli/trace_parts.h"

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/interrupt.h"

namespace muster {

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
  note(fmt::format("{} bad lines were skipped, the first:", stats.bad));
  for (const BadRecord& bad : stats.bad_examples)
    note(fmt::format("  line {}: {}", bad.line, bad.problem));
}

void tell_losses(const TraceWriter& writer, const std::string& format) {
  for (const Loss& loss : writer.losses()) {
    note(fmt::format("{} jobs: the format {} does not carry {}", loss.jobs, format, loss.what));
  }
}

JobSteps::JobSteps(const TraceCommandOptions& options, const std::string& title)
    : progress_({.title = title, .unit = "jobs", .quiet = options.quiet}),
      task_(progress_.task(shown_name(options.file), 0)) {
  watch_interrupts();
}

bool JobSteps::step() {
  constexpr std::uint64_t kEvery = 4096;
  if (++jobs_ % kEvery != 0) return true;
  task_.set(jobs_);
  return !interrupted();
}

}  // namespace muster
