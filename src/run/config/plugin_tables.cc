#include "run/config/plugin_tables.h"

#include <iterator>

#include "artifacts/rows.h"
#include "run/config/policy_plugins.h"

namespace muster {
namespace {

template <typename Row>
std::vector<Row> merged(std::vector<Row> general, std::vector<Row> artifacts) {
  general.insert(general.end(), std::make_move_iterator(artifacts.begin()),
                 std::make_move_iterator(artifacts.end()));
  return general;
}

}  // namespace

PluginTables present_tables() {
  const PolicyPlugin& plugin = loaded_policies();
  return {
      .admission = merged(admission_table(), plugin.admission),
      .scheduling =
          merged(merged(scheduling_table(), artifact_scheduling_rows()), plugin.scheduling),
      .placement = merged(merged(placement_table(), artifact_placement_rows()), plugin.placement),
      .selector = merged(selector_table(), plugin.selector),
      .scaling = merged(scaling_table(), plugin.scaling),
      .pacing = merged(pacing_table(), artifact_pacing_rows()),
      .progress = merged(progress_table(), artifact_progress_rows()),
      .accounting = merged(accounting_table(), artifact_accounting_rows()),
      .execution = merged(execution_table(), artifact_execution_rows()),
      .perf = merged(perf_table(), artifact_perf_rows()),
      .errors = error_model_table(),
  };
}

const PluginTables& plugin_tables() {
  static const PluginTables kTables = present_tables();
  return kTables;
}

}  // namespace muster
