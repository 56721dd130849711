// Muster's own CSV: every field of a job, by name.
#include "workload/formats/native.h"

#include <array>

#include "workload/formats/formats.h"
#include "workload/table_parser.h"

namespace muster {
namespace {

constexpr std::array<Column, 17> kColumns = {{
    {"job_id", Field::kName, "any text; unique in the trace", true},
    {"submit_s", Field::kSubmit, "seconds, or a wall-clock time in seconds since 1970", true},
    {"duration_s", Field::kDuration,
     "seconds of undisturbed run on `gpus` GPUs of the reference type", true},
    {"gpus", Field::kGpus, "GPUs asked for", true},
    {"min_gpus", Field::kMinGpus, "fewest GPUs an elastic job runs on; empty or 0: exactly `gpus`"},
    {"max_gpus", Field::kMaxGpus, "most GPUs an elastic job runs on; empty or 0: exactly `gpus`"},
    {"deadline_s", Field::kDeadline, "on the clock of `submit_s`; empty: none"},
    {"estimate_s", Field::kEstimate,
     "what its owner believes the duration to be; empty or 0: unknown"},
    {"cpus", Field::kCpus, "CPU cores for the whole job; empty or 0: the fair share of its GPUs"},
    {"memory_gb", Field::kMemory, "memory for the whole job in GiB; empty or 0: the fair share"},
    {"iterations", Field::kIterations, "training steps; empty or 0: unknown"},
    {"batch_size", Field::kBatchSize, "global batch size; empty or 0: unknown"},
    {"priority", Field::kPriority, "larger is more important; empty: 0"},
    {"model", Field::kModel, "the key of performance tables"},
    {"user", Field::kUser, "its owner"},
    {"partition", Field::kPartition, "virtual cluster it must run in; empty: any"},
    {"gpu_type", Field::kGpuType, "GPU type it must run on; empty: any"},
}};

}  // namespace

std::span<const Column> native_columns() { return kColumns; }

bool matches_native(std::string_view head) {
  return header_names(head, ',', {"job_id", "submit_s", "duration_s", "gpus"});
}

ParserResult make_native(const Params&, Symbols& symbols) {
  return std::unique_ptr<TraceParser>(
      std::make_unique<TableParser>(TableSchema{kColumns, ',', true}, symbols));
}

}  // namespace muster
