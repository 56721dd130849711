// The traces of Tiresias and of Muri, which grew out of its simulator. They share most column
// names, but Tiresias counts seconds and Muri milliseconds; only Muri's have an iteration time.
#include <array>

#include "workload/formats/formats.h"
#include "workload/table_parser.h"

namespace muster {
namespace {

constexpr double kMillisecond = 1e-3;

constexpr std::array<TraceColumn, 6> kTiresiasColumns = {{
    {"job_id", TraceField::kName, "any text", true},
    {"num_gpu", TraceField::kGpus, "GPUs", true},
    {"submit_time", TraceField::kSubmit, "seconds", true},
    {"iterations", TraceField::kIterations, "training steps"},
    {"model_name", TraceField::kModel, "model"},
    {"duration", TraceField::kDuration, "seconds", true},
}};

constexpr std::array<TraceColumn, 8> kMuriColumns = {{
    {"job_id", TraceField::kName, "any text", true},
    {"num_gpu", TraceField::kGpus, "GPUs", true},
    {"submit_time", TraceField::kSubmit, "milliseconds", true, kMillisecond},
    {"iterations", TraceField::kIterations, "training steps"},
    {"model_name", TraceField::kModel, "model"},
    {"batch_size", TraceField::kBatchSize, "batch size"},
    {"duration", TraceField::kDuration, "milliseconds", true, kMillisecond},
    {"priority", TraceField::kPriority, "0: resources are guaranteed; 1: opportunistic"},
}};

class MuriParser final : public TableParser {
 public:
  explicit MuriParser(Symbols& symbols) : TableParser(TableSchema{kMuriColumns}, symbols) {}

 protected:
  Parsed finish(JobSpec& job) override {
    // There a larger number is the lesser job; ours is the other way round.
    job.priority = -job.priority;
    return Parsed::kJob;
  }
};

}  // namespace

bool matches_muri(std::string_view head) {
  return header_names(head, ',',
                      {"job_id", "num_gpu", "submit_time", "duration", "iteration_time"});
}

ParserResult make_muri(const Params&, Symbols& symbols) {
  return std::unique_ptr<TraceParser>(std::make_unique<MuriParser>(symbols));
}

bool matches_tiresias(std::string_view head) {
  return header_names(head, ',', {"job_id", "num_gpu", "submit_time", "duration"});
}

ParserResult make_tiresias(const Params&, Symbols& symbols) {
  return std::unique_ptr<TraceParser>(
      std::make_unique<TableParser>(TableSchema{kTiresiasColumns}, symbols));
}

}  // namespace muster
