// The contract between a trace format and the reader around it: a parser turns one record into one
// job.
//
// A parser only understands the format. Whether the values make sense (workload/job_check.h),
// whether the trace is sorted, and what happens to a bad record is decided outside, once for all
// formats.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/params.h"
#include "base/result.h"
#include "base/symbols.h"
#include "model/job_spec.h"

namespace muster {

enum class Parsed {
  kJob,      // `job` was filled
  kSkipped,  // a proper record that is no job for us; skip_reason() says why
  kBad,      // problem() says what is wrong
  kNothing,  // not a record at all: a comment, a header
  kHeld,     // part of a job that is complete only at the end of the trace: see rest()
};

// What is wrong with a record.
struct Problem {
  int column = 0;     // from 1; 0: the record as a whole
  std::string field;  // the column's name
  std::string found;
  std::string expected;
  bool missing = false;  // the field is absent or empty
};

// "column 3 (num_gpus): found 'x', expected a whole number"
std::string problem_text(const Problem& problem);

// When a job really ran; negative where the trace does not say.
struct PastRun {
  Seconds start = -1;
  Seconds end = -1;
};

class TraceParser {
 public:
  virtual ~TraceParser() = default;

  // Formats with a header line get it here, before any record.
  virtual Status header(std::string_view) { return Done{}; }
  // `job` comes with default values.
  virtual Parsed parse(std::string_view record, JobSpec& job) = 0;
  // After the last record, again and again until it answers kNothing: the jobs that were held back.
  virtual Parsed rest(JobSpec&) { return Parsed::kNothing; }

  const Problem& problem() const { return problem_; }
  std::string_view skip_reason() const { return skip_reason_; }
  // How the job of the last record ended, in the trace's own word; empty where the format does not
  // say.
  std::string_view status() const { return status_; }
  // When the job of the last record really ran.
  const PastRun& recorded() const { return recorded_; }
  // The line of the record at hand, from 1; a job that was held back has that of its first record.
  void at_line(std::uint64_t line) { line_ = line; }
  std::uint64_t line() const { return line_; }
  // What a user should know about how this trace is being read.
  const std::vector<std::string>& notes() const { return notes_; }

 protected:
  Parsed bad(int column, std::string_view field, std::string_view found, std::string_view expected);
  Parsed missing(int column, std::string_view field, std::string_view expected);
  Parsed skip(std::string_view reason) {  // a literal: it is not copied
    skip_reason_ = reason;
    return Parsed::kSkipped;
  }

  std::string status_;
  PastRun recorded_;
  std::vector<std::string> notes_;
  std::uint64_t line_ = 0;

 private:
  Problem problem_;
  std::string_view skip_reason_;
};

}  // namespace muster
