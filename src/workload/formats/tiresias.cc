// The traces of Tiresias and of Muri, which grew out of its simulator. They share most column
// names, but Tiresias counts seconds and Muri milliseconds; only Muri's have an iteration time.
#include <array>
#include <cmath>

#include "base/text.h"
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

constexpr std::size_t kStepSlot = 0;
constexpr std::size_t kResourceSlot = 1;  // and the three after it

constexpr std::array<TraceColumn, 13> kMuriColumns = {{
    {"job_id", TraceField::kName, "any text", true},
    {"num_gpu", TraceField::kGpus, "GPUs", true},
    {"submit_time", TraceField::kSubmit, "milliseconds", true, kMillisecond},
    {"iterations", TraceField::kIterations, "training steps"},
    {"model_name", TraceField::kModel, "model"},
    {"batch_size", TraceField::kBatchSize, "batch size"},
    {"duration", TraceField::kDuration, "milliseconds", true, kMillisecond},
    {"priority", TraceField::kPriority, "0: resources are guaranteed; 1: opportunistic"},
    {"iteration_time", TraceField::kNumber, "milliseconds of one step, alone", true, 1, kStepSlot},
    {"resource_time_0", TraceField::kNumber,
     "milliseconds of storage, with the CPU's if there are three", false, 1, kResourceSlot},
    {"resource_time_1", TraceField::kNumber,
     "milliseconds of the GPU, or of the CPU if there are four", false, 1, kResourceSlot + 1},
    {"resource_time_2", TraceField::kNumber, "milliseconds of the network, or of the GPU", false, 1,
     kResourceSlot + 2},
    {"resource_time_3", TraceField::kNumber, "milliseconds of the network, if there are four",
     false, 1, kResourceSlot + 3},
}};

class MuriParser final : public TableParser {
 public:
  explicit MuriParser(Symbols& symbols) : TableParser(TableSchema{kMuriColumns}, symbols) {}

 protected:
  Parsed finish(JobSpec& job) override {
    // There a larger number is the lesser job; ours is the other way round.
    job.priority = -job.priority;
    // Whole seconds, as its simulator counts them.
    job.duration = std::floor(job.duration);
    if (!(number(kStepSlot) > 0)) {
      return bad_cell(TraceField::kNumber, kStepSlot, exact_text(number(kStepSlot)),
                      "milliseconds above 0 for one step");
    }
    job.step_ms = number(kStepSlot);
    return stages(job);
  }

 private:
  Parsed stages(JobSpec& job) {
    bool any = false;
    for (std::size_t i = 0; i < kStages; ++i) {
      if (!has(kResourceSlot + i)) continue;
      const double ms = number(kResourceSlot + i);
      if (!(ms >= 0)) {
        return bad_cell(TraceField::kNumber, kResourceSlot + i, exact_text(ms),
                        "the milliseconds of a stage, 0 or more");
      }
      any = any || ms > 0;
    }
    const bool four = has(kResourceSlot + 3);
    if (!has(kResourceSlot) && !four) {
      if (notes_.empty()) {
        notes_.emplace_back(
            "no stage durations (resource_time_0 ...): these jobs are never grouped");
      }
      return Parsed::kJob;
    }
    for (std::size_t i = 0; i < (four ? 4U : 3U); ++i) {
      if (has(kResourceSlot + i)) continue;
      return bad_cell(TraceField::kNumber, kResourceSlot + i, "nothing",
                      "the milliseconds of a stage: all of them, or none");
    }
    if (!any) {
      return bad_cell(TraceField::kNumber, kResourceSlot, "stages that all last 0 ms",
                      "at least one stage above 0");
    }
    // Three columns: storage and CPU are one.
    job.stage_ms[0] = number(kResourceSlot);
    job.stage_ms[1] = four ? number(kResourceSlot + 1) : 0;
    job.stage_ms[2] = number(kResourceSlot + (four ? 2 : 1));
    job.stage_ms[3] = number(kResourceSlot + (four ? 3 : 2));
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
