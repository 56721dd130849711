#include "workload/doctor.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.h"
#include "model/cluster_state.h"
#include "workload/job_check.h"

namespace muster {
namespace {

// What concerns more than one job; the faults of single jobs are in job_check.h.
enum TraceFault : std::size_t {
  kUnreadable,
  kMissing,
  kTooLarge,
  kUnknownPartition,
  kUnknownType,
  kTooMuchHost,
  kRepeated,
  kSameName,
  kUnsorted,
  kTraceFaults
};

constexpr std::array<Finding, kTraceFaults> kTraceFindings = {{
    {"unreadable", Severity::kError, "the line cannot be read", "the line is dropped", 0, {}},
    {"missing-field",
     Severity::kError,
     "a field that every job needs is empty",
     "the line is dropped",
     0,
     {}},
    {"larger-than-cluster",
     Severity::kError,
     "it asks for more GPUs than its part of the cluster has",
     "the job is dropped",
     0,
     {}},
    {"unknown-partition",
     Severity::kError,
     "the cluster has no partition of the name that it gives",
     "the job is dropped",
     0,
     {}},
    {"unknown-gpu-type",
     Severity::kError,
     "its part of the cluster has no GPUs of the type that it asks for",
     "the job is dropped",
     0,
     {}},
    {"too-much-host",
     Severity::kError,
     "it asks for more CPU cores or memory with its GPUs than the nodes have",
     "the job is dropped",
     0,
     {}},
    {"repeated-job",
     Severity::kWarning,
     "it repeats an earlier job in every field",
     "the repetition is dropped",
     0,
     {}},
    {"same-name",
     Severity::kWarning,
     "it has the name of an earlier, different job",
     "it is given a name of its own: NAME#2",
     0,
     {}},
    {"unsorted",
     Severity::kWarning,
     "it was submitted before the job above it",
     "jobs are sorted by submission, stably",
     0,
     {}},
}};

Finding finding_of(JobFault fault) {
  const JobFaultInfo& info = job_fault_info(fault);
  return {
      info.name, info.fatal ? Severity::kError : Severity::kWarning, info.sentence, info.repair, 0,
      {}};
}

// The cluster that a trace is to run on; empty: not looked at.
std::optional<ClusterState> state_of(const DoctorOptions& options) {
  if (options.cluster == nullptr) return std::nullopt;
  ClusterState state(std::make_shared<const ClusterSpec>(*options.cluster));
  state.count_host(true);
  return state;
}

int fewest_gpus(const JobSpec& job) {
  return job.elastic() && job.min_gpus > 0 ? job.min_gpus : job.gpus;
}

bool never_runs(const ClusterState& cluster, const JobSpec& job) {
  return fewest_gpus(job) > cluster.ever_for(job.partition, job.gpu_type) ||
         !cluster.host_ever_fits(job, fewest_gpus(job));
}

bool same_job(const JobSpec& a, const JobSpec& b) {
  return a.name == b.name && a.submit == b.submit && a.duration == b.duration && a.gpus == b.gpus &&
         a.deadline == b.deadline && a.iterations == b.iterations && a.model == b.model &&
         a.user == b.user && a.partition == b.partition;
}

// For each job, the first job of the same name; itself when it is the first or has no name.
std::vector<std::size_t> first_of_name(const std::vector<JobSpec>& jobs) {
  std::unordered_map<std::string_view, std::size_t> seen;
  seen.reserve(jobs.size());
  std::vector<std::size_t> first(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    first[i] = jobs[i].name.empty() ? i : seen.emplace(jobs[i].name, i).first->second;
  }
  return first;
}

class Examination {
 public:
  Examination(const RawTrace& trace, const DoctorOptions& options)
      : trace_(trace), options_(options) {
    for (std::size_t i = 0; i < kTraceFaults; ++i) trace_findings_[i] = kTraceFindings.at(i);
    for (std::size_t i = 0; i < kJobFaults; ++i)
      job_findings_[i] = finding_of(static_cast<JobFault>(i));
  }

  Diagnosis run() {
    take_bad_lines();
    const std::optional<ClusterState> cluster = state_of(options_);
    const std::vector<std::size_t> first = first_of_name(trace_.jobs);
    for (std::size_t i = 0; i < trace_.jobs.size(); ++i) {
      const JobSpec& job = trace_.jobs[i];
      look_at(job, i);
      if (cluster && never_runs(*cluster, job)) look_for_room(*cluster, job, i);
      if (first[i] != i) {
        const bool repeated = same_job(job, trace_.jobs[first[i]]);
        add(trace_findings_[repeated ? kRepeated : kSameName], i,
            fmt::format("'{}', as on line {}", job.name, trace_.lines[first[i]]));
      }
      if (i > 0 && job.submit < trace_.jobs[i - 1].submit) {
        add(trace_findings_[kUnsorted], i,
            fmt::format("{} s after {} s", exact_text(job.submit),
                        exact_text(trace_.jobs[i - 1].submit)));
      }
    }
    return collect();
  }

 private:
  void take_bad_lines() {
    trace_findings_[kMissing].count = trace_.stats.missing;
    trace_findings_[kUnreadable].count = trace_.stats.bad - trace_.stats.missing;
    for (const BadRecord& bad : trace_.stats.bad_examples) {
      Finding& finding = trace_findings_[bad.missing ? kMissing : kUnreadable];
      if (finding.examples.size() < options_.examples)
        finding.examples.push_back({bad.line, bad.problem});
    }
  }
  void look_at(const JobSpec& job, std::size_t i) {
    const JobFaults faults = find_faults(job);
    if (faults == 0) return;
    for (std::size_t f = 0; f < kJobFaults; ++f) {
      const JobFaults bit = fault_bit(static_cast<JobFault>(f));
      if ((faults & bit) != 0) add(job_findings_[f], i, fault_text(job, bit));
    }
  }
  void look_for_room(const ClusterState& cluster, const JobSpec& job, std::size_t i) {
    const ClusterSpec& spec = cluster.spec();
    switch (cluster.why_never(job)) {
      case Reason::kNoPartition:
        return add_unknown(kUnknownPartition, i, job.partition, spec.partition_names());
      case Reason::kNoGpuType:
        return add_unknown(kUnknownType, i, job.gpu_type, spec.gpu_types());
      case Reason::kNotEnoughCpu:
        return add(trace_findings_[kTooMuchHost], i,
                   fmt::format("{} cores and {} GiB for {} GPUs", exact_text(job.cpus),
                               exact_text(job.memory_gb), job.gpus));
      default:
        add(trace_findings_[kTooLarge], i,
            fmt::format("{} GPUs, of {}", fewest_gpus(job),
                        cluster.ever_for(job.partition, job.gpu_type)));
    }
  }
  void add_unknown(TraceFault fault, std::size_t i, Symbol wrong,
                   const std::vector<Symbol>& known) {
    Finding& finding = trace_findings_[fault];
    std::string what;
    // Looking for the nearest name takes time, and a wrong cluster makes every job a finding.
    if (finding.examples.size() < options_.examples) {
      std::vector<std::string_view> names;
      names.reserve(known.size());
      for (const Symbol symbol : known) names.push_back(options_.symbols->text(symbol));
      what = unknown_name(fault == kUnknownType ? "GPU type" : "partition",
                          options_.symbols->text(wrong), names);
    }
    add(finding, i, std::move(what));
  }
  void add(Finding& finding, std::size_t i, std::string what) {
    ++finding.count;
    if (finding.examples.size() < options_.examples) {
      finding.examples.push_back({trace_.lines[i], std::move(what)});
    }
  }
  Diagnosis collect() {
    Diagnosis diagnosis;
    for (const Severity severity : {Severity::kError, Severity::kWarning}) {
      for (Finding& finding : trace_findings_) {
        if (finding.count > 0 && finding.severity == severity)
          diagnosis.findings.push_back(std::move(finding));
      }
      for (Finding& finding : job_findings_) {
        if (finding.count > 0 && finding.severity == severity)
          diagnosis.findings.push_back(std::move(finding));
      }
    }
    return diagnosis;
  }

  const RawTrace& trace_;
  const DoctorOptions& options_;
  std::array<Finding, kTraceFaults> trace_findings_;
  std::array<Finding, kJobFaults> job_findings_;
};

constexpr JobFaults kDropped = fault_bit(JobFault::kNotFinite) | fault_bit(JobFault::kOverflow) |
                               fault_bit(JobFault::kNegativeDuration) |
                               fault_bit(JobFault::kNegativeGpus) | fault_bit(JobFault::kNoGpus) |
                               fault_bit(JobFault::kTooManyGpus) |
                               fault_bit(JobFault::kZeroDuration) | fault_bit(JobFault::kLateTime);

// Applies the repairs that change a job; true if one did.
bool mend(JobSpec& job, JobFaults faults) {
  bool changed = false;
  if ((faults & fault_bit(JobFault::kEarlyDeadline)) != 0) {
    job.deadline = kNever;
    changed = true;
  }
  if ((faults & fault_bit(JobFault::kElasticRange)) != 0) {
    job.min_gpus = 0;
    job.max_gpus = 0;
    changed = true;
  }
  if ((faults & fault_bit(JobFault::kNegativeAmount)) != 0) {
    for (double* amount : {&job.estimate, &job.cpus, &job.memory_gb, &job.iterations}) {
      *amount = std::max(*amount, 0.0);
    }
    job.batch_size = std::max(job.batch_size, 0);
    changed = true;
  }
  return changed;
}

// A name that no job has, made of the job's own.
std::string new_name(const std::string& name, std::unordered_map<std::string, std::size_t>& taken) {
  std::size_t& next = taken[name];
  while (true) {
    std::string candidate = fmt::format("{}#{}", name, ++next);
    if (next > 1 && taken.emplace(candidate, 1).second) return candidate;
  }
}

// Puts the jobs that are kept back into the trace, in order of submission. Tells whether they were
// out of it.
bool put_in_order(RawTrace& kept, RawTrace& trace) {
  const auto earlier = [&kept](std::size_t a, std::size_t b) {
    return kept.jobs[a].submit < kept.jobs[b].submit;
  };
  std::vector<std::size_t> order(kept.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool unsorted = !std::is_sorted(order.begin(), order.end(), earlier);
  std::stable_sort(order.begin(), order.end(), earlier);
  trace.jobs.clear();
  trace.lines.clear();
  for (const std::size_t i : order) {
    trace.jobs.push_back(std::move(kept.jobs[i]));
    trace.lines.push_back(kept.lines[i]);
  }
  return unsorted;
}

// A clock that begins before zero is moved.
void move_to_zero(RawTrace& trace, RepairSummary& summary) {
  if (trace.jobs.empty() || !(trace.jobs.front().submit < 0)) return;
  summary.moved = trace.jobs.front().submit;
  for (JobSpec& job : trace.jobs) {
    job.submit -= summary.moved;
    job.deadline -= summary.moved;
  }
  // The clock runs on from its new beginning; the last jobs may be late only now.
  while (!trace.jobs.empty() && (find_faults(trace.jobs.back()) & kDropped) != 0) {
    trace.jobs.pop_back();
    trace.lines.pop_back();
    ++summary.dropped;
  }
}

}  // namespace

Result<RawTrace> read_raw(const std::string& path, const TraceOptions& options, Symbols& symbols) {
  TraceOptions raw = options;
  raw.skip_bad = true;
  raw.any_order = true;
  raw.unchecked = true;
  auto opened = TraceReader::open(path, raw, symbols);
  if (!opened) return opened.error();
  TraceReader& reader = **opened;
  RawTrace trace;
  while (reader.peek() != nullptr) {
    trace.lines.push_back(reader.line());
    trace.jobs.push_back(reader.take());
  }
  if (const auto error = reader.error()) return *error;
  trace.stats = reader.stats();
  return trace;
}

Diagnosis examine(const RawTrace& trace, const DoctorOptions& options) {
  return Examination(trace, options).run();
}

RepairSummary repair(RawTrace& trace, const DoctorOptions& options) {
  RepairSummary summary;
  const std::optional<ClusterState> cluster = state_of(options);
  const std::vector<std::size_t> first = first_of_name(trace.jobs);
  std::unordered_map<std::string, std::size_t> taken;
  for (const JobSpec& job : trace.jobs) {
    if (!job.name.empty()) taken.emplace(job.name, 1);
  }

  // Names are looked up in the trace as it was, so what stays is copied aside.
  RawTrace kept;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const JobSpec& job = trace.jobs[i];
    const JobFaults faults = find_faults(job);
    const bool too_large = cluster && never_runs(*cluster, job);
    const bool repeated = first[i] != i && same_job(job, trace.jobs[first[i]]);
    if ((faults & kDropped) != 0 || too_large || repeated) {
      ++summary.dropped;
      continue;
    }
    JobSpec mended = job;
    bool changed = mend(mended, faults);
    if (first[i] != i) {
      mended.name = new_name(job.name, taken);
      changed = true;
    }
    if (changed) ++summary.changed;
    kept.jobs.push_back(std::move(mended));
    kept.lines.push_back(trace.lines[i]);
  }

  summary.sorted = put_in_order(kept, trace);
  move_to_zero(trace, summary);
  for (JobSpec& job : trace.jobs) job.arrival = job.submit;
  return summary;
}

std::vector<Finding> possible_findings() {
  std::vector<Finding> findings(kTraceFindings.begin(), kTraceFindings.end());
  for (std::size_t i = 0; i < kJobFaults; ++i)
    findings.push_back(finding_of(static_cast<JobFault>(i)));
  return findings;
}

}  // namespace muster
