// Slurm's accounting: `sacct --parsable2 -X
// --format=JobID,JobName,User,Account,Partition,Submit,Start,End,
// ElapsedRaw,State,ReqTRES,AllocTRES,Timelimit`. Columns are found by name; job steps and jobs
// without GPUs are skipped.
#include <array>

#include "base/text.h"
#include "workload/formats/formats.h"
#include "workload/formats/slurm_text.h"
#include "workload/table_parser.h"

namespace muster {
namespace {

enum TextSlot : std::size_t { kElapsed, kRequested, kAllocated, kTimeLimit, kState };
enum NumberSlot : std::size_t { kElapsedRaw, kTimeLimitRaw };

constexpr std::array<TraceColumn, 11> kSacctColumns = {{
    {"JobID", TraceField::kName,
     "12, or 12_3 for a task of an array; steps such as 12.batch are skipped", true},
    {"User", TraceField::kUser, "its owner"},
    {"Partition", TraceField::kPartition, "partition"},
    {"Submit", TraceField::kSubmitClock, "submission, like 2024-03-01T08:15:00", true},
    {"State", TraceField::kText, "how it ended; running and waiting jobs are skipped", true, 1,
     kState},
    {"Elapsed", TraceField::kText, "run time as [days-]hours:minutes:seconds", false, 1, kElapsed},
    {"ElapsedRaw", TraceField::kNumber, "run time in seconds; preferred to Elapsed", false, 1,
     kElapsedRaw},
    {"ReqTRES", TraceField::kText,
     "what it asked for: gres/gpu=8 or gres/gpu:a100=8, cpu=, mem=", false, 1, kRequested},
    {"AllocTRES", TraceField::kText, "what it got; counts where ReqTRES names no GPUs", false, 1,
     kAllocated},
    {"Timelimit", TraceField::kText, "[days-]hours:minutes:seconds, read as the estimate", false, 1,
     kTimeLimit},
    {"TimelimitRaw", TraceField::kNumber, "minutes, read as the estimate", false, 60,
     kTimeLimitRaw},
}};

class SacctParser final : public TableParser {
 public:
  explicit SacctParser(Symbols& symbols) : TableParser(TableSchema{kSacctColumns, '|'}, symbols) {}

  Status header(std::string_view line) override {
    const bool timed = header_names(line, '|', {"Elapsed|ElapsedRaw"});
    const bool counted = header_names(line, '|', {"ReqTRES|AllocTRES"});
    if (!timed) return Error{"the header lacks the column Elapsed or ElapsedRaw"};
    if (!counted) return Error{"the header lacks the column ReqTRES or AllocTRES"};
    return TableParser::header(line);
  }

  Parsed parse(std::string_view record, JobSpec& job) override {
    // A step repeats what its job says, and leaves cells empty that a job must have.
    if (record.substr(0, record.find('|')).find('.') != std::string_view::npos) {
      status_.clear();
      return skip("it is a step of a job");
    }
    return TableParser::parse(record, job);
  }

 protected:
  Parsed finish(JobSpec& job) override {
    // "CANCELLED by 1001" and "RUNNING+" carry more than the state.
    const std::string_view state = std::string_view(text(kState));
    status_ = state.substr(0, state.find_first_of(" +"));
    for (const std::string_view open :
         {"RUNNING", "PENDING", "SUSPENDED", "REQUEUED", "RESIZING", "CONFIGURING", "COMPLETING"}) {
      if (status_ == open) return skip("it had not ended when the log was written");
    }
    TrackableResources wanted;
    if (!read_tres(text(kRequested), wanted)) {
      return bad_cell(TraceField::kText, kRequested, text(kRequested), kTresExpected);
    }
    TrackableResources given;
    if (!read_tres(text(kAllocated), given)) {
      return bad_cell(TraceField::kText, kAllocated, text(kAllocated), kTresExpected);
    }
    const TrackableResources& counted = wanted.gpus > 0 ? wanted : given;
    if (counted.gpus <= 0) return skip("it uses no GPUs");
    job.gpus = counted.gpus;
    job.cpus = counted.cpus;
    job.memory_gb = counted.memory_gb;
    // What it was given says nothing about what it would have accepted.
    if (!wanted.gpu_type.empty()) job.gpu_type = symbols().intern(wanted.gpu_type);

    if (has(kElapsedRaw)) {
      job.duration = number(kElapsedRaw);
    } else if (!read_slurm_duration(text(kElapsed), job.duration)) {
      return bad_cell(TraceField::kText, kElapsed, text(kElapsed), kDurationExpected);
    }
    if (job.duration == 0) return skip("it never ran");
    return estimate(job);
  }

 private:
  static constexpr std::string_view kTresExpected = "resources like cpu=8,mem=64G,gres/gpu=2";
  static constexpr std::string_view kDurationExpected = "[days-]hours:minutes:seconds";

  Parsed estimate(JobSpec& job) {
    if (has(kTimeLimitRaw)) {
      job.estimate = number(kTimeLimitRaw);
      return Parsed::kJob;
    }
    const std::string& limit = text(kTimeLimit);
    if (limit.empty() || limit == "UNLIMITED" || limit == "Partition_Limit") return Parsed::kJob;
    if (!read_slurm_duration(limit, job.estimate)) {
      return bad_cell(TraceField::kText, kTimeLimit, limit, kDurationExpected);
    }
    return Parsed::kJob;
  }
};

}  // namespace

bool matches_sacct(std::string_view head) { return header_names(head, '|', {"JobID", "Submit"}); }

ParserResult make_sacct(const Params&, Symbols& symbols) {
  return std::unique_ptr<TraceParser>(std::make_unique<SacctParser>(symbols));
}

}  // namespace muster
