// Muster's own CSV: every field of a job, by name.
#include "workload/formats/native.h"

#include <array>

#include "base/text.h"
#include "workload/formats/formats.h"
#include "workload/table_parser.h"

namespace muster {
namespace {

constexpr std::array<TraceColumn, 19> kNativeColumns = {{
    {"job_id", TraceField::kName, "any text; unique in the trace", true},
    {"submit_s", TraceField::kSubmit, "seconds, or a wall-clock time in seconds since 1970", true},
    {"duration_s", TraceField::kDuration,
     "seconds of undisturbed run on `gpus` GPUs of the reference type", true},
    {"gpus", TraceField::kGpus, "GPUs asked for", true},
    {"min_gpus", TraceField::kMinGpus,
     "fewest GPUs an elastic job runs on; empty or 0: exactly `gpus`"},
    {"max_gpus", TraceField::kMaxGpus,
     "most GPUs an elastic job runs on; empty or 0: exactly `gpus`"},
    {"deadline_s", TraceField::kDeadline, "on the clock of `submit_s`; empty: none"},
    {"value", TraceField::kValue, "what meeting the deadline is worth; empty: 1"},
    {"later", TraceField::kLater,
     "what being late is still worth: TIME:VALUE with ';' between; empty: nothing"},
    {"estimate_s", TraceField::kEstimate, "estimated duration; empty or 0: unknown"},
    {"cpus", TraceField::kCpus,
     "CPU cores for the whole job; empty or 0: the fair share of its GPUs"},
    {"memory_gb", TraceField::kMemory,
     "memory for the whole job in GiB; empty or 0: the fair share"},
    {"iterations", TraceField::kIterations, "training steps; empty or 0: unknown"},
    {"batch_size", TraceField::kBatchSize, "global batch size; empty or 0: unknown"},
    {"priority", TraceField::kPriority, "larger is more important; empty: 0"},
    {"model", TraceField::kModel, "the key of performance tables"},
    {"user", TraceField::kUser, "its owner"},
    {"partition", TraceField::kPartition, "partition it must run in; empty: any"},
    {"gpu_type", TraceField::kGpuType, "GPU type it must run on; empty: any"},
}};

class NativeParser final : public TableParser {
 public:
  explicit NativeParser(Symbols& symbols)
      : TableParser(TableSchema{kNativeColumns, ',', true}, symbols) {}

 protected:
  Parsed finish(JobSpec& job) override {
    if (job.later.empty() || job.later.front().by > job.deadline) return Parsed::kJob;
    return bad_cell(TraceField::kLater, 0, exact_text(job.later.front().by),
                    job.deadline == kNever ? "nothing, as the job has no deadline"
                                           : "times after the deadline");
  }
};

}  // namespace

std::span<const TraceColumn> native_columns() { return kNativeColumns; }

bool matches_native(std::string_view head) {
  return header_names(head, ',', {"job_id", "submit_s", "duration_s", "gpus"});
}

ParserResult make_native(const Params&, Symbols& symbols) {
  return std::unique_ptr<TraceParser>(std::make_unique<NativeParser>(symbols));
}

}  // namespace muster
