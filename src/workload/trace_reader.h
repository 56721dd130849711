// Reading traces: as a stream for sorted ones of any length (open_trace), or whole and sorted
// (load_trace).
//
// Both detect the format and decompress gzip and zstd. A record that cannot be read is an error
// with file, line, column, what was found and what was expected; with skip_bad it is counted and
// skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/params.h"
#include "base/result.h"
#include "base/symbols.h"
#include "workload/job_check.h"
#include "workload/records.h"
#include "workload/source.h"
#include "workload/trace_format.h"

namespace muster {

// Whether the first submission becomes time 0. kAuto does so for wall-clock times: those after 10^9
// s (September 2001).
enum class Rebase { kAuto, kYes, kNo };

struct TraceOptions {
  std::string format;      // empty: detected
  ParamTexts settings;     // of the format, see TraceFormat::settings
  bool skip_bad = false;   // pass over bad records; otherwise the first one ends the reading
  bool any_order = false;  // accept jobs that were submitted before the one above
  bool unchecked = false;  // pass on jobs that make no sense: for the doctor
  Rebase rebase = Rebase::kAuto;
  std::vector<std::string>
      statuses;              // keep only jobs that ended so, in the trace's own words; empty: all
  std::size_t examples = 5;  // how many bad records to keep the messages of
  // Asked now and then by load_trace; no ends it with an error.
  std::function<bool()> keep_going = {};
};

// A bad record, kept as an example.
struct BadRecord {
  std::uint64_t line = 0;
  std::string problem;
  bool missing = false;  // a field was absent or empty
};

// What the trace says of how its jobs fared; of those whose start and end it has.
struct RecordedFate {
  std::uint64_t jobs = 0;
  double waited_s = 0;     // from submission to start, all together
  double completed_s = 0;  // from submission to end
  Seconds first_submit = kNever;
  Seconds last_end = -kNever;

  double mean_wait() const { return waited_s / static_cast<double>(jobs); }
  double mean_completion() const { return completed_s / static_cast<double>(jobs); }
  Seconds makespan() const { return last_end - first_submit; }
};

struct TraceStats {
  std::string format;
  std::uint64_t records = 0;  // lines or objects that held something, the header not counted
  std::uint64_t jobs = 0;
  std::uint64_t bad = 0;
  std::uint64_t missing = 0;  // of the bad ones: those with an absent or empty field
  std::vector<BadRecord> bad_examples;
  std::map<std::string, std::uint64_t, std::less<>>
      skipped;  // proper records that are no jobs, by reason
  std::map<std::string, std::uint64_t, std::less<>>
      statuses;  // how the jobs ended, where the trace says
  std::vector<std::string> notes;
  RecordedFate fate;
};

// How the trace was read, for people: conversions, and records that were left out.
std::vector<std::string> notes_of(const TraceStats& stats);

class TraceReader final : public JobSource {
 public:
  // "-" is standard input. The symbol table must outlive the reader.
  static Result<std::unique_ptr<TraceReader>> open(const std::string& path,
                                                   const TraceOptions& options, Symbols& symbols);
  // From any bytes; `name` stands for the file in messages.
  static Result<std::unique_ptr<TraceReader>> read(std::unique_ptr<ByteInput> input,
                                                   std::string name, const TraceOptions& options,
                                                   Symbols& symbols);

  const JobSpec* peek() override;
  void pop() override;
  bool finished() override { return peek() == nullptr; }
  std::optional<Error> error() const override { return error_; }

  // Moves the job that peek() shows out of the reader, and pops it.
  JobSpec take();
  // The line of the job that peek() shows.
  std::uint64_t line() const { return parser_->line(); }
  const TraceStats& stats() const { return stats_; }
  std::vector<std::string> notes() const override { return notes_of(stats_); }
  // Bytes of the file, where that says something about the number of its records; else 0.
  std::size_t size_hint() const { return size_hint_; }

 private:
  TraceReader(std::string name, const TraceOptions& options, std::unique_ptr<RecordReader> records,
              std::unique_ptr<TraceParser> parser, const TraceFormat& format);

  void advance();
  void take_in(Parsed parsed);  // what the parser made of a record
  bool accept();  // the job just parsed; false when it is passed over or ends the reading
  void note_fate();
  void bad_record(std::string problem, bool missing);
  void fail(const std::string& message);
  Error where(const std::string& message) const;

  std::string name_;
  TraceOptions options_;
  std::unique_ptr<RecordReader> records_;
  std::unique_ptr<TraceParser> parser_;
  JobSpec job_;
  bool loaded_ = false;         // job_ is the job that peek() shows
  bool records_ended_ = false;  // what is left are jobs that the parser held back
  bool ended_ = false;
  JobFaults refused_ = 0;
  std::size_t size_hint_ = 0;
  Seconds last_submit_ = -kNever;
  std::optional<Seconds> origin_;  // subtracted from every time
  TraceStats stats_;
  std::optional<Error> error_;
};

// A whole trace in memory, by submission time, jobs of equal time in the order of the file.
struct Trace {
  std::vector<JobSpec> jobs;
  TraceStats stats;
  bool was_sorted = true;
  Seconds origin = 0;  // what was subtracted from the times of the file
};

// Reads and sorts a trace. No jobs at all is an error.
Result<Trace> load_trace(const std::string& path, const TraceOptions& options, Symbols& symbols);

// Streams a trace that is sorted by submission; meeting a line that is not ends the stream with an
// error that names it. No jobs at all is an error here.
Result<std::unique_ptr<JobSource>> open_trace(const std::string& path, const TraceOptions& options,
                                              Symbols& symbols);

}  // namespace muster
