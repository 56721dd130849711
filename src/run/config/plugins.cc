#include "run/config/plugins.h"

#include <cassert>

#include "base/table_lookup.h"
#include "engine/pacing.h"
#include "run/config/plugin_tables.h"
#include "workload/generate/generators.h"
#include "workload/perf/models.h"

namespace muster {
namespace {

template <typename Row>
std::string_view source_of(const Row& row) {
  if constexpr (requires { row.source; }) {
    return row.source;
  } else {
    return {};
  }
}

template <typename Table>
std::vector<PluginRow> rows_of(const Table& table) {
  std::vector<PluginRow> rows;
  rows.reserve(table.size());
  for (const auto& row : table) {
    PluginRow& plugin = rows.emplace_back();
    plugin = {row.name, row.sentence, source_of(row), &row.params};
    if constexpr (requires { row.system; }) {
      plugin.system = row.system;
      plugin.form = row.form;
    }
  }
  return rows;
}

std::vector<PluginRow> generator_rows() {
  static const std::vector<ParamList> kParams = [] {
    std::vector<ParamList> lists;
    for (const Generator& generator : generators()) lists.push_back(generator.params());
    return lists;
  }();
  std::vector<PluginRow> rows;
  for (const Generator& generator : generators()) {
    const ParamList& params = kParams[rows.size()];
    rows.push_back({generator.name, generator.sentence, generator.origin, &params});
  }
  return rows;
}

}  // namespace

const std::vector<PluginKind>& plugin_kinds() {
  static const std::vector<PluginKind> kKinds = {
      {"admission", "admission policy", "Admission policies",
       "Answer a new job: accept it, hold it outside the queue, or refuse it.", "--admission",
       rows_of(plugin_tables().admission)},
      {"scheduling", "scheduling policy", "Scheduling policies",
       "Decide which jobs should run, in order of precedence.", "--scheduling",
       rows_of(plugin_tables().scheduling)},
      {"placement", "placement policy", "Placement policies",
       "Decide on which GPUs they run, and which jobs have to stop for that.", "--placement",
       rows_of(plugin_tables().placement)},
      {"selector", "selector", "Selectors", "Switch between policy sets while the cluster runs.",
       "--selector", rows_of(plugin_tables().selector)},
      {"scaling", "scaling policy", "Scaling policies",
       "Decide which nodes are powered; without one, all are.", "--scaling",
       rows_of(plugin_tables().scaling)},
      {"pacing", "pacing", "Pacings",
       "Decide when turns come, and at which second a completion is booked.", "--pacing",
       rows_of(plugin_tables().pacing)},
      {"progress", "progress model", "Progress models",
       "Say how simulated jobs get their work done between turns. Where a run names none, its "
       "pacing "
       "does.",
       "--set progress=NAME", rows_of(plugin_tables().progress)},
      {"accounting", "accounting", "Accounting rules",
       "Say what counts as a preemption, when a deadline counts as met, and what is booked of "
       "profiling.",
       "--set accounting=NAME", rows_of(plugin_tables().accounting)},
      {"execution", "execution", "Executions", "Say how a run is carried out.",
       "--set execution=NAME", rows_of(plugin_tables().execution)},
      {"perf", "performance model", "Performance models",
       "Say how fast a job runs where. Several can be given: their rates multiply.", "--perf",
       rows_of(plugin_tables().perf)},
      {"errors", "error model", "Error models of estimates",
       "Say how wrong the estimates of run times are, where `durations` is estimate.",
       "--set errors=NAME", rows_of(plugin_tables().errors)},
      {"generator", "generator", "Generators of workloads",
       "Draw the jobs of a run from a seed, instead of reading them from a trace.", "--generate",
       generator_rows()},
  };
  return kKinds;
}

const PluginKind& plugin_kind(std::string_view key) {
  for (const PluginKind& kind : plugin_kinds()) {
    if (kind.key == key) return kind;
  }
  assert(false && "no plug-in kind of that key");
  return plugin_kinds().front();
}

Result<const PluginRow*> find_plugin(const PluginKind& kind, std::string_view name) {
  return find_row(kind.noun, kind.rows, name);
}

}  // namespace muster
