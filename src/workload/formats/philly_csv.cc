// The trimmed Philly trace: one line per job of Microsoft's Philly cluster, 2017.
#include <array>

#include "workload/formats/formats.h"
#include "workload/table_parser.h"

namespace muster {
namespace {

constexpr std::array<TraceColumn, 4> kPhillyColumns = {{
    {"timestamp", TraceField::kSubmitClock, "submission, local time of the cluster", true},
    {"duration", TraceField::kDuration, "seconds", true},
    {"num_gpus", TraceField::kGpus, "GPUs", true},
    {"cluster", TraceField::kPartition, "virtual cluster"},
}};

}  // namespace

bool matches_philly_csv(std::string_view head) {
  return header_names(head, ',', {"timestamp", "duration", "num_gpus"});
}

ParserResult make_philly_csv(const Params&, Symbols& symbols) {
  return std::unique_ptr<TraceParser>(
      std::make_unique<TableParser>(TableSchema{kPhillyColumns}, symbols));
}

}  // namespace muster
