// Jobs of Slurm's accounting that stand in several records: the parts of a heterogeneous job, and
// the runs of a job that was requeued or resized. They are held back until the end of the trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/job_spec.h"
#include "workload/trace_parser.h"

namespace muster {

// One record.
struct SacctPart {
  JobSpec job;        // its name is the JobID; it has no duration and no estimate yet
  std::string state;  // COMPLETED, RUNNING, ...
  Seconds elapsed = 0;
  Seconds limit = 0;  // 0: none
  PastRun run;
  bool shards = false;  // parts of GPUs are among its resources
  std::uint64_t line = 0;
};

// What a job became.
struct SacctOutcome {
  JobSpec job;
  std::string_view skipped;  // why it is no job for us; empty: it is one
  std::string state;
  PastRun run;
  std::uint64_t line = 0;
};

class SacctJobs {
 public:
  struct Settings {
    bool keep_unfinished = false;
    bool sum_runs = false;
  };
  explicit SacctJobs(Settings settings) : settings_(settings) {}

  // Whether the record is, or may be, only a part of its job; then it is kept.
  bool hold(const SacctPart& part);
  // The job of a record that was not held.
  SacctOutcome complete(const SacctPart& part) { return complete(std::vector<SacctPart>{part}); }

  // At the end: the next of the jobs that were held back, false when there is none.
  bool next(SacctOutcome& outcome);
  std::vector<std::string> notes() const;

 private:
  struct Held {
    std::vector<SacctPart> parts;
    std::vector<std::string> names;  // of the parts
  };

  SacctOutcome complete(const std::vector<SacctPart>& parts);
  void add_run(SacctPart& known, const SacctPart& part);
  void spread_array(SacctOutcome& outcome);

  Settings settings_;
  std::vector<Held> held_;                                     // in order of appearance
  std::map<std::string, std::size_t, std::less<>> positions_;  // in held_, by the job's name
  std::size_t taken_ = 0;                                      // of held_
  std::vector<SacctOutcome> tasks_;                            // of arrays, the last first
  std::uint64_t requeued_ = 0;
  std::uint64_t heterogeneous_ = 0;
};

}  // namespace muster
