// SenseTime's Helios clusters, and the form of Lucid's traces, which adds the workload to each job.
#include <array>
#include <string>

#include "perf/workload_name.h"
#include "workload/formats/formats.h"
#include "workload/table_parser.h"

namespace muster {
namespace {

constexpr std::size_t kModel = 0;
constexpr std::size_t kDataset = 1;
constexpr std::size_t kMixedPrecision = 0;

constexpr std::array<TraceColumn, 12> kHeliosColumns = {{
    {"job_id", TraceField::kName, "any text", true},
    {"user", TraceField::kUser, "its owner"},
    {"vc", TraceField::kPartition, "virtual cluster", true},
    {"gpu_num", TraceField::kGpus, "GPUs; jobs with 0 are skipped", true},
    {"cpu_num", TraceField::kCpus, "CPU cores for the whole job"},
    {"state", TraceField::kStatus, "COMPLETED, CANCELLED, FAILED, TIMEOUT or NODE_FAIL"},
    {"submit_time", TraceField::kSubmitEither, "a time like 2020-09-01 00:02:34, or seconds", true},
    {"duration", TraceField::kDuration, "seconds", true},
    {"dataset", TraceField::kText, "Lucid: data set", false, 1, kDataset},
    {"model", TraceField::kText, "Lucid: model", false, 1, kModel},
    {"batchsize", TraceField::kBatchSize, "Lucid: batch size"},
    {"amp", TraceField::kNumber, "Lucid: 1 with mixed precision", false, 1, kMixedPrecision},
}};

class HeliosParser final : public TableParser {
 public:
  explicit HeliosParser(Symbols& symbols) : TableParser(TableSchema{kHeliosColumns}, symbols) {}

 protected:
  Parsed finish(JobSpec& job) override {
    if (job.gpus == 0) return skip("it uses no GPUs");
    if (!text(kModel).empty()) {
      // One key for the tables: these four together decide how fast a job runs.
      const std::string batch = job.batch_size > 0 ? std::to_string(job.batch_size) : "";
      const bool mixed = has(kMixedPrecision) && number(kMixedPrecision) != 0;
      job.model = symbols().intern(workload_name(text(kModel), text(kDataset), batch, mixed));
    }
    return Parsed::kJob;
  }
};

}  // namespace

bool matches_helios(std::string_view head) {
  return header_names(head, ',', {"job_id", "vc", "gpu_num", "submit_time", "duration"});
}

ParserResult make_helios(const Params&, Symbols& symbols) {
  return std::unique_ptr<TraceParser>(std::make_unique<HeliosParser>(symbols));
}

}  // namespace muster
