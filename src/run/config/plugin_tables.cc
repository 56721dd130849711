#include "run/config/plugin_tables.h"

#include <iterator>

#include "artifacts/rows.h"

namespace muster {
namespace {

template <typename Row>
std::vector<Row> merged(std::vector<Row> general, std::vector<Row> artifacts) {
  general.insert(general.end(), std::make_move_iterator(artifacts.begin()),
                 std::make_move_iterator(artifacts.end()));
  return general;
}

}  // namespace

const PluginTables& plugin_tables() {
  static const PluginTables kTables = {
      .admission = admission_table(),
      .scheduling = merged(scheduling_table(), artifact_scheduling_rows()),
      .placement = merged(placement_table(), artifact_placement_rows()),
      .selector = selector_table(),
      .scaling = scaling_table(),
      .pacing = merged(pacing_table(), artifact_pacing_rows()),
      .progress = merged(progress_table(), artifact_progress_rows()),
      .accounting = merged(accounting_table(), artifact_accounting_rows()),
      .execution = merged(execution_table(), artifact_execution_rows()),
      .perf = merged(perf_table(), artifact_perf_rows()),
  };
  return kTables;
}

}  // namespace muster
