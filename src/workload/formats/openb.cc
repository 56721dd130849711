// Alibaba's GPU cluster of 2023 ("openb"): pods, many of which use a part of one GPU.
#include <array>

#include "workload/formats/formats.h"
#include "workload/table_parser.h"

namespace muster {
namespace {

constexpr std::size_t kShare = 0;
constexpr std::size_t kScheduled = 1;
constexpr std::size_t kDeleted = 2;
constexpr std::size_t kTypes = 0;

constexpr std::array<TraceColumn, 10> kOpenbColumns = {{
    {"name", TraceField::kName, "the pod's name", true},
    {"cpu_milli", TraceField::kCpus, "thousandths of a CPU core", false, 1e-3},
    {"memory_mib", TraceField::kMemory, "MiB", false, 1.0 / 1024},
    {"num_gpu", TraceField::kGpus, "GPUs; pods with 0 are skipped", true},
    {"gpu_milli", TraceField::kNumber, "thousandths of each GPU; a part counts as a whole GPU",
     false, 1, kShare},
    {"gpu_spec", TraceField::kText,
     "GPU types it accepts, '|' between; one becomes its type, several any", false, 1, kTypes},
    {"pod_phase", TraceField::kStatus, "Running, Succeeded, Failed or Pending"},
    {"creation_time", TraceField::kSubmit, "seconds", true},
    {"deletion_time", TraceField::kNumber, "seconds; its end", true, 1, kDeleted},
    {"scheduled_time", TraceField::kNumber, "seconds; its start. Pods without one are skipped",
     false, 1, kScheduled},
}};

class OpenbParser final : public TableParser {
 public:
  explicit OpenbParser(Symbols& symbols) : TableParser(TableSchema{kOpenbColumns}, symbols) {
    notes_.emplace_back("pods that use a part of a GPU are read as using a whole one");
  }

 protected:
  Parsed finish(JobSpec& job) override {
    if (job.gpus == 0) return skip("it uses no GPUs");
    if (!has(kScheduled)) return skip("it was never scheduled");
    job.duration = number(kDeleted) - number(kScheduled);
    if (const std::string& types = text(kTypes);
        !types.empty() && types.find('|') == std::string::npos) {
      job.gpu_type = symbols().intern(types);
    }
    return Parsed::kJob;
  }
};

}  // namespace

bool matches_openb(std::string_view head) {
  return header_names(head, ',',
                      {"name", "num_gpu", "gpu_milli", "creation_time", "deletion_time"});
}

ParserResult make_openb(const Params&, Symbols& symbols) {
  return std::unique_ptr<TraceParser>(std::make_unique<OpenbParser>(symbols));
}

}  // namespace muster
