// The ten MSR ITP clusters of 2021, as released (raw), and as the ElasticFlow artifact feeds them
// to its scheduler, with model, iterations and deadline.
#include <array>

#include "workload/elastic_range.h"
#include "workload/formats/formats.h"
#include "workload/table_parser.h"

namespace muster {
namespace {

constexpr std::array<TraceColumn, 4> kRawColumns = {{
    {"job_id", TraceField::kName, "any text", true},
    {"submission_time|submit_time", TraceField::kSubmit, "seconds after the collection began",
     true},
    {"duration", TraceField::kDuration, "seconds on `num_gpu` GPUs", true},
    {"num_gpu", TraceField::kGpus, "GPUs", true},
}};

constexpr std::size_t kBestEffort = 0;

constexpr std::array<TraceColumn, 9> kColumns = {{
    {"job_id", TraceField::kName, "any text", true},
    {"submission_time|submit_time", TraceField::kSubmit, "seconds", true},
    {"num_iteration|iteration", TraceField::kIterations, "training steps", true},
    {"model_name", TraceField::kModel, "model", true},
    {"deadline|ddl", TraceField::kDeadline, "seconds, on the clock of the submission", true},
    {"batch_size", TraceField::kBatchSize, "global batch size"},
    {"num_gpu", TraceField::kGpus, "GPUs", true},
    {"duration", TraceField::kDuration, "seconds on `num_gpu` GPUs", true},
    {"best_effort", TraceField::kNumber, "1: a job without deadline", false, 1, kBestEffort},
}};

class ElasticFlowParser final : public TableParser {
 public:
  explicit ElasticFlowParser(Symbols& symbols) : TableParser(TableSchema{kColumns}, symbols) {}

 protected:
  Parsed finish(JobSpec& job) override {
    // The artifact marks jobs without deadline by a flag, and keeps 2^63-1 for them in its own
    // files.
    constexpr Seconds kNoDeadline = 1e15;
    if (job.deadline >= kNoDeadline || (has(kBestEffort) && number(kBestEffort) != 0)) {
      job.deadline = kNever;
    }
    set_elastic_range(job);
    return Parsed::kJob;
  }
};

}  // namespace

bool matches_itp(std::string_view head) {
  return header_names(head, ',', {"job_id", "submission_time", "duration", "num_gpu"});
}

ParserResult make_itp(const Params&, Symbols& symbols) {
  return std::unique_ptr<TraceParser>(
      std::make_unique<TableParser>(TableSchema{kRawColumns}, symbols));
}

bool matches_elasticflow(std::string_view head) {
  return header_names(head, ',',
                      {"job_id", "submission_time|submit_time", "num_iteration|iteration",
                       "model_name", "deadline|ddl", "num_gpu", "duration"});
}

ParserResult make_elasticflow(const Params&, Symbols& symbols) {
  return std::unique_ptr<TraceParser>(std::make_unique<ElasticFlowParser>(symbols));
}

}  // namespace muster
