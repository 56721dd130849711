// Chronus: Philly jobs with deadlines. All times are minutes. A job has a list of completion times,
// counted from its submission, and what meeting each is worth; the first is worth most.
#include <array>

#include "workload/formats/formats.h"
#include "workload/numbers.h"
#include "workload/table_parser.h"

namespace muster {
namespace {

constexpr double kMinute = 60;
constexpr std::size_t kExpected = 0;
constexpr std::size_t kBestEffort = 0;

constexpr std::array<TraceColumn, 9> kColumns = {{
    {"job_id", TraceField::kName, "any text", true},
    {"user", TraceField::kUser, "its owner; in the released files the virtual cluster"},
    {"num_gpu", TraceField::kGpus, "GPUs; jobs with 0 are skipped", true},
    {"submit_time", TraceField::kSubmit, "minutes", true, kMinute},
    {"iterations", TraceField::kIterations, "training steps"},
    {"model_name", TraceField::kModel, "model"},
    {"duration", TraceField::kDuration, "minutes", true, kMinute},
    {"expect_time_list", TraceField::kText,
     "minutes after submission, '-' between; the first is the deadline", true, 1, kExpected},
    {"best_effort", TraceField::kNumber, "1: a job without deadline", false, 1, kBestEffort},
}};

class ChronusParser final : public TableParser {
 public:
  explicit ChronusParser(Symbols& symbols) : TableParser(TableSchema{kColumns}, symbols) {}

 protected:
  Parsed finish(JobSpec& job) override {
    if (job.gpus == 0) return skip("it uses no GPUs");
    if (has(kBestEffort) && number(kBestEffort) != 0) return Parsed::kJob;
    const std::string& list = text(kExpected);
    double minutes = 0;
    if (!read_real(std::string_view(list).substr(0, list.find('-')), minutes)) {
      return bad_cell(TraceField::kText, kExpected, list,
                      "minutes with '-' between, as 159-189-229");
    }
    job.deadline = job.submit + minutes * kMinute;
    return Parsed::kJob;
  }
};

}  // namespace

bool matches_chronus(std::string_view head) {
  return header_names(head, ',',
                      {"job_id", "num_gpu", "submit_time", "duration", "expect_time_list"});
}

ParserResult make_chronus(const Params&, Symbols& symbols) {
  return std::unique_ptr<TraceParser>(std::make_unique<ChronusParser>(symbols));
}

}  // namespace muster
