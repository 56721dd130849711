// Slurm's accounting: `sacct --parsable2 -X --duplicates
// --format=JobID,User,Partition,Submit,Start,End,ElapsedRaw,State,ReqTRES,AllocTRES,Timelimit`.
// Columns are found by name; job steps and jobs without GPUs are skipped. Components of a
// heterogeneous job, and the runs of one that was requeued, become one job (sacct_jobs.h).
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"
#include "workload/formats/formats.h"
#include "workload/formats/sacct_jobs.h"
#include "workload/formats/slurm_text.h"
#include "workload/table_parser.h"
#include "workload/timestamp.h"

namespace muster {
namespace {

enum TextSlot : std::size_t {
  kElapsed,
  kRequested,
  kAllocated,
  kPerNode,
  kTimeLimit,
  kTimeLimitMinutes,
  kState,
  kStart,
  kEnd
};
enum NumberSlot : std::size_t { kElapsedRaw, kNodes };

constexpr std::array<TraceColumn, 15> kSacctColumns = {{
    {"JobID", TraceField::kName,
     "12; 12_3 is a task of an array, 12+1 a part of a heterogeneous job; steps such as 12.batch "
     "are skipped",
     true},
    {"User", TraceField::kUser, "its owner"},
    {"Partition", TraceField::kPartition, "partition"},
    {"Submit", TraceField::kSubmitEither, "submission, like 2024-03-01T08:15:00", true},
    {"State", TraceField::kText, "how it ended", true, 1, kState},
    {"Start", TraceField::kText, "when it began to run", false, 1, kStart},
    {"End", TraceField::kText, "when it ended", false, 1, kEnd},
    {"Elapsed", TraceField::kText, "run time as [days-]hours:minutes:seconds", false, 1, kElapsed},
    {"ElapsedRaw", TraceField::kNumber, "run time in seconds; preferred to Elapsed", false, 1,
     kElapsedRaw},
    {"ReqTRES", TraceField::kText,
     "what it asked for: gres/gpu=8 or gres/gpu:a100=8, cpu=, mem=", false, 1, kRequested},
    {"AllocTRES", TraceField::kText, "what it got; counts where ReqTRES names no GPUs", false, 1,
     kAllocated},
    {"ReqGRES|TRES_PER_NODE", TraceField::kText, "what it asked for on each node: gpu:a100:4",
     false, 1, kPerNode},
    {"NNodes|AllocNodes|NODES", TraceField::kNumber, "nodes, for what is per node", false, 1,
     kNodes},
    {"Timelimit|TIME_LIMIT", TraceField::kText,
     "[days-]hours:minutes:seconds, read as the estimate", false, 1, kTimeLimit},
    {"TimelimitRaw", TraceField::kText, "minutes, read as the estimate", false, 1,
     kTimeLimitMinutes},
}};

// Columns in which users write what they like: '|' and line ends, too, and sacct quotes nothing.
constexpr std::array<std::string_view, 9> kFreeTexts = {
    "JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine",
    "WorkDir", "Reason",  "Container",    "Extra"};

// The part of a record before its `count`-th separator, from 0.
std::size_t end_of_cell(std::string_view record, std::size_t count) {
  std::size_t at = record.find('|');
  for (; count > 0 && at != std::string_view::npos; --count) at = record.find('|', at + 1);
  return std::min(at, record.size());
}

class SacctParser final : public TableParser {
 public:
  SacctParser(const Params& settings, Symbols& symbols)
      : TableParser(TableSchema{kSacctColumns, '|', false, false}, symbols),
        jobs_({settings.text("unfinished") == "keep", settings.text("requeues") == "sum"}) {}

  Status header(std::string_view line) override {
    const bool timed = header_names(line, '|', {"Elapsed|ElapsedRaw"});
    const bool counted = header_names(line, '|', {"ReqTRES|AllocTRES|ReqGRES|TRES_PER_NODE"});
    if (!timed) return Error{"the header lacks the column Elapsed or ElapsedRaw"};
    if (!counted) return Error{"the header lacks the column ReqTRES or AllocTRES"};
    const std::vector<std::string> names = split_cells(line, '|');
    columns_ = names.size();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == "JobID") id_ = i;
      if (std::find(kFreeTexts.begin(), kFreeTexts.end(), names[i]) == kFreeTexts.end()) continue;
      ++free_texts_;
      free_text_ = i;
    }
    return TableParser::header(line);
  }

  Parsed parse(std::string_view record, JobSpec& job) override {
    recorded_ = {};
    const std::string_view fitted = fit(record);
    const std::size_t begin = id_ == 0 ? 0 : end_of_cell(fitted, id_ - 1) + 1;
    const std::size_t end = end_of_cell(fitted, id_);
    // A step repeats what its job says, and leaves cells empty that a job must have.
    if (begin < end && fitted.substr(begin, end - begin).find('.') != std::string_view::npos) {
      status_.clear();
      return skip("it is a step of a job");
    }
    part_ = {};
    if (const Parsed read = TableParser::parse(fitted, job); read != Parsed::kJob) return read;
    part_.job = job;
    part_.line = line();
    if (jobs_.hold(part_)) return Parsed::kHeld;
    return finished(jobs_.complete(part_), job);
  }

  Parsed rest(JobSpec& job) override {
    SacctOutcome outcome;
    if (jobs_.next(outcome)) return finished(outcome, job);
    notes_ = jobs_.notes();
    return Parsed::kNothing;
  }

 protected:
  Parsed finish(JobSpec& job) override {
    // "CANCELLED by 1001" and "RUNNING+" carry more than the state.
    const std::string_view state = std::string_view(text(kState));
    part_.state = state.substr(0, state.find_first_of(" +"));
    if (const Parsed read = resources(job); read != Parsed::kJob) return read;
    if (has(kElapsedRaw)) {
      part_.elapsed = number(kElapsedRaw);
    } else if (!is_slurm_nothing(text(kElapsed)) &&
               !read_slurm_duration(text(kElapsed), part_.elapsed)) {
      return bad_cell(TraceField::kText, kElapsed, text(kElapsed), kDurationExpected);
    }
    for (const auto& [slot, time] :
         {std::pair(kStart, &part_.run.start), std::pair(kEnd, &part_.run.end)}) {
      if (is_slurm_nothing(text(slot))) continue;
      if (!read_timestamp(text(slot), *time) && !read_seconds(text(slot), *time)) {
        return bad_cell(TraceField::kText, slot, text(slot),
                        field_expectation(TraceField::kSubmitEither));
      }
    }
    return limit();
  }

 private:
  static constexpr std::string_view kTresExpected = "resources like cpu=8,mem=64G,gres/gpu=2";
  static constexpr std::string_view kDurationExpected = "[days-]hours:minutes:seconds";

  // Separators that are too many belong to the one free text, where there is one.
  std::string_view fit(std::string_view record) {
    const auto separators = static_cast<std::size_t>(std::count(record.begin(), record.end(), '|'));
    if (free_texts_ != 1 || separators < columns_) return record;
    fitted_.assign(record);
    std::size_t at = free_text_ == 0 ? 0 : end_of_cell(record, free_text_ - 1) + 1;
    for (std::size_t extra = separators + 1 - columns_; extra > 0; --extra) {
      at = fitted_.find('|', at);
      fitted_[at] = ' ';
    }
    return fitted_;
  }

  static bool read_seconds(std::string_view text, Seconds& time) {
    const auto value = parse_real(text);
    if (value) time = *value;
    return value.has_value();
  }

  Parsed resources(JobSpec& job) {
    TrackableResources wanted;
    TrackableResources given;
    TrackableResources per_node;
    for (const auto& [slot, list] : {std::pair(kRequested, &wanted), std::pair(kAllocated, &given),
                                     std::pair(kPerNode, &per_node)}) {
      if (!read_tres(text(slot), *list)) {
        return bad_cell(TraceField::kText, slot, text(slot), kTresExpected);
      }
    }
    if (wanted.gpus == 0 && given.gpus == 0 && per_node.gpus > 0) {
      const double nodes = has(kNodes) ? std::max(1.0, number(kNodes)) : 1;
      wanted.gpus = static_cast<int>(std::min(per_node.gpus * nodes, double{1 << 30}));
      wanted.gpu_type = per_node.gpu_type;
    }
    const TrackableResources& counted = wanted.gpus > 0 ? wanted : given;
    job.gpus = counted.gpus;
    job.cpus = counted.cpus;
    // Where memory is not shared out, a job that did not ask for any is said to want all of it.
    if (is_slurm_nothing(text(kAllocated)) || given.has_memory) job.memory_gb = counted.memory_gb;
    // What it was given says nothing about what it would have accepted.
    if (!wanted.gpu_type.empty()) job.gpu_type = symbols().intern(wanted.gpu_type);
    // Of several partitions it runs in the first that has GPUs for it.
    const std::string& partitions = symbols().text(job.partition);
    if (const std::size_t comma = partitions.find(','); comma != std::string::npos) {
      job.partition = symbols().intern(partitions.substr(0, comma));
    }
    part_.shards = std::max({wanted.shards, given.shards, per_node.shards}) > 0;
    return Parsed::kJob;
  }

  Parsed limit() {
    const std::string& minutes = text(kTimeLimitMinutes);
    if (!is_slurm_nothing(minutes)) {
      if (!read_seconds(minutes, part_.limit)) {
        return bad_cell(TraceField::kText, kTimeLimitMinutes, minutes, "minutes, or UNLIMITED");
      }
      part_.limit *= 60;
      return Parsed::kJob;
    }
    const std::string& limit = text(kTimeLimit);
    if (!is_slurm_nothing(limit) && !read_slurm_duration(limit, part_.limit)) {
      return bad_cell(TraceField::kText, kTimeLimit, limit, kDurationExpected);
    }
    return Parsed::kJob;
  }

  Parsed finished(const SacctOutcome& outcome, JobSpec& job) {
    status_ = outcome.state;
    recorded_ = outcome.run;
    at_line(outcome.line);
    if (!outcome.skipped.empty()) return skip(outcome.skipped);
    job = outcome.job;
    return Parsed::kJob;
  }

  std::size_t columns_ = 0;
  std::size_t id_ = 0;
  std::size_t free_texts_ = 0;  // how many of the columns, and the last of them
  std::size_t free_text_ = 0;
  std::string fitted_;
  SacctPart part_;
  SacctJobs jobs_;
};

}  // namespace

bool matches_sacct(std::string_view head) { return header_names(head, '|', {"JobID", "Submit"}); }

bool begins_sacct(std::string_view header, std::string_view line) {
  if (header.substr(0, header.find('|')) != "JobID") return true;
  const std::size_t end = line.find('|');
  if (end == std::string_view::npos || end == 0 || line.front() < '0' || line.front() > '9') {
    return false;
  }
  return std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(end), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_+.[]-,%:").find(c) != std::string_view::npos;
  });
}

ParamList sacct_settings() {
  return {{.name = "unfinished",
           .kind = ParamKind::kText,
           .initial = "skip",
           .sentence = "jobs that run or wait: skip them, or keep them with their time limit as "
                       "their duration",
           .choices = {"skip", "keep"}},
          {.name = "requeues",
           .kind = ParamKind::kText,
           .initial = "last",
           .sentence = "how long a requeued job runs: its last run (it began anew), or the sum of "
                       "its runs (it had saved its work)",
           .choices = {"last", "sum"}}};
}

ParserResult make_sacct(const Params& settings, Symbols& symbols) {
  return std::unique_ptr<TraceParser>(std::make_unique<SacctParser>(settings, symbols));
}

}  // namespace muster
