// The ten MSR ITP clusters of 2021, as released (raw), and as the ElasticFlow artifact feeds them
// to its scheduler, with model, iterations and deadline.
#include <array>
#include <cmath>

#include "workload/elastic_range.h"
#include "workload/elasticflow_draw.h"
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

constexpr std::size_t kElasticFlowBestEffort = 0;

constexpr std::array<TraceColumn, 9> kElasticFlowColumns = {{
    {"job_id", TraceField::kName, "any text", true},
    {"submission_time|submit_time", TraceField::kSubmit, "seconds", true},
    {"num_iteration|iteration", TraceField::kIterations, "training steps", true},
    {"model_name", TraceField::kModel, "model", true},
    {"deadline|ddl", TraceField::kDeadline, "seconds, on the clock of the submission", true},
    {"batch_size", TraceField::kBatchSize, "global batch size"},
    {"num_gpu", TraceField::kGpus, "GPUs", true},
    {"duration", TraceField::kDuration, "seconds on `num_gpu` GPUs", true},
    {"best_effort", TraceField::kNumber, "1: a job without deadline", false, 1,
     kElasticFlowBestEffort},
}};

class ElasticFlowParser final : public TableParser {
 public:
  explicit ElasticFlowParser(Symbols& symbols)
      : TableParser(TableSchema{kElasticFlowColumns}, symbols) {}

 protected:
  Parsed finish(JobSpec& job) override {
    // The artifact marks jobs without deadline by a flag, and keeps 2^63-1 for them in its own
    // files.
    constexpr Seconds kNoDeadline = 1e15;
    if (job.deadline >= kNoDeadline ||
        (has(kElasticFlowBestEffort) && number(kElasticFlowBestEffort) != 0)) {
      job.deadline = kNever;
    }
    set_elastic_range(job);
    return Parsed::kJob;
  }
};

// The raw trace with models, iterations and deadlines: the conversion that the artifact promises
// and that does not run there.
class DrawingParser final : public TableParser {
 public:
  DrawingParser(ElasticFlowDraw draw, Symbols& symbols)
      : TableParser(TableSchema{kRawColumns}, symbols), draw_(std::move(draw)) {}

 protected:
  Parsed finish(JobSpec& job) override {
    constexpr Seconds kShort = 600;
    constexpr int kLarge = 64;
    if (job.gpus == 3 || (job.gpus > 4 && job.gpus < 8))
      return skip("it asks for 3, 5, 6 or 7 GPUs");
    if (job.duration < kShort) return skip("it ran for less than 600 s");
    if (job.gpus > kLarge) return skip("it asks for more than 64 GPUs");
    draw_.model(job, true);
    job.iterations = std::trunc(draw_.iterations(job, job.duration));
    if (job.iterations <= 0) return skip("its model was not measured on so many GPUs");
    job.deadline = draw_.deadline(job.submit, job.duration);
    set_elastic_range(job);
    return Parsed::kJob;
  }

 private:
  ElasticFlowDraw draw_;
};

}  // namespace

bool matches_itp(std::string_view head) {
  return header_names(head, ',', {"job_id", "submission_time", "duration", "num_gpu"});
}

ParamList itp_settings() { return elasticflow_draw_params(); }

ParserResult make_itp(const Params& settings, Symbols& symbols) {
  if (settings.text("throughputs").empty()) {
    return std::unique_ptr<TraceParser>(
        std::make_unique<TableParser>(TableSchema{kRawColumns}, symbols));
  }
  auto draw = ElasticFlowDraw::make(settings, symbols);
  if (!draw) return draw.error();
  return std::unique_ptr<TraceParser>(std::make_unique<DrawingParser>(std::move(*draw), symbols));
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
