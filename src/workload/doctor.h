// The trace doctor: finds what real traces get wrong, says what a repair would do about it, and
// does it.
//
// It reads without the usual refusals (read_raw), so that one look shows everything that is wrong,
// with the lines of the first examples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/symbols.h"
#include "model/cluster_spec.h"
#include "model/job_spec.h"
#include "workload/trace_reader.h"

namespace muster {

enum class Severity {
  kError,    // readers refuse it, or a simulation would be wrong
  kWarning,  // it can be simulated, but is probably not what was meant
};

struct FindingExample {
  std::uint64_t line = 0;
  std::string what;
};

struct Finding {
  std::string_view name;  // for scripts
  Severity severity = Severity::kWarning;
  std::string_view sentence;  // what is wrong
  std::string_view repair;    // what a repair does
  std::uint64_t count = 0;    // jobs or lines it concerns
  std::vector<FindingExample> examples;
};

// Jobs as they stand in the file, in its order and on its clock.
struct RawTrace {
  std::vector<JobSpec> jobs;
  std::vector<std::uint64_t> lines;  // of each job
  TraceStats stats;
};

struct DoctorOptions {
  const ClusterSpec* cluster = nullptr;  // to find jobs that can never fit; null: not looked for
  const Symbols* symbols = nullptr;      // of the trace and the cluster; needed with a cluster
  std::size_t examples = 3;              // to keep per finding
};

struct Diagnosis {
  std::vector<Finding> findings;  // errors first; empty: nothing is wrong

  bool has_errors() const {
    return !findings.empty() && findings.front().severity == Severity::kError;
  }
};

// Reads everything that can be read, sensible or not.
Result<RawTrace> read_raw(const std::string& path, const TraceOptions& options, Symbols& symbols);

Diagnosis examine(const RawTrace& trace, const DoctorOptions& options);

struct RepairSummary {
  std::uint64_t dropped = 0;
  std::uint64_t changed = 0;
  bool sorted = false;
  Seconds moved = 0;  // subtracted from all times
};

// Applies the repair of every finding; afterwards examine() finds nothing, unreadable lines aside.
RepairSummary repair(RawTrace& trace, const DoctorOptions& options);

// Every finding the doctor can make, for documentation: name, severity, sentence and repair.
std::vector<Finding> possible_findings();

}  // namespace muster
