// The parts of `muster trace`, and what they share: how the trace is read, and progress.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/progress.h"
#include "workload/trace_reader.h"
#include "workload/trace_writer.h"

namespace muster {

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

int trace_info(const TraceCommandOptions& options);
int trace_check(const TraceCommandOptions& options);
int trace_convert(const TraceCommandOptions& options);
int trace_head(const TraceCommandOptions& options);
int trace_formats_list(const TraceCommandOptions& options);

Result<TraceOptions> reading_of(const TraceCommandOptions& options);
// The name of the file for people.
std::string shown_name(const std::string& file);
// What the reader noticed, on standard error.
void tell_notes(const TraceStats& stats);
// What the written format does not carry, on standard error.
void tell_losses(const TraceWriter& writer, const std::string& format);

// Counts for the progress line, and looks for Ctrl-C, every few thousand jobs.
class JobSteps {
 public:
  JobSteps(const TraceCommandOptions& options, const std::string& title);
  // False when the user wants to stop.
  bool step();
  void stop() { progress_.stop(); }

 private:
  Progress progress_;
  ProgressTask& task_;
  std::uint64_t jobs_ = 0;
};

}  // namespace muster
