// The tables of built-in policies, made of the rows that rows.inc names.
#include "policy/table.h"

namespace muster {

#define ADMISSION(row) PolicyInfo<AdmissionPolicy> row();
#define SCHEDULING(row) PolicyInfo<SchedulingPolicy> row();
#define PLACEMENT(row) PolicyInfo<PlacementPolicy> row();
#define SELECTOR(row) PolicyInfo<Selector> row();
#define SCALING(row) PolicyInfo<ScalingPolicy> row();
#define SCHEDULING_SYSTEM(rows) std::vector<PolicyInfo<SchedulingPolicy>> rows();
#include "policy/rows.inc"

namespace {

struct Tables {
  std::vector<PolicyInfo<AdmissionPolicy>> admission;
  std::vector<PolicyInfo<SchedulingPolicy>> scheduling;
  std::vector<PolicyInfo<PlacementPolicy>> placement;
  std::vector<PolicyInfo<Selector>> selector;
  std::vector<PolicyInfo<ScalingPolicy>> scaling;
};

Tables make_tables() {
  Tables tables;
#define ADMISSION(row) tables.admission.push_back(row());
#define SCHEDULING(row) tables.scheduling.push_back(row());
#define PLACEMENT(row) tables.placement.push_back(row());
#define SELECTOR(row) tables.selector.push_back(row());
#define SCALING(row) tables.scaling.push_back(row());
#define SCHEDULING_SYSTEM(rows) \
  for (PolicyInfo<SchedulingPolicy> & row : rows()) tables.scheduling.push_back(std::move(row));
#include "policy/rows.inc"
  return tables;
}

const Tables& tables() {
  static const Tables kTables = make_tables();
  return kTables;
}

}  // namespace

const std::vector<PolicyInfo<AdmissionPolicy>>& admission_table() { return tables().admission; }
const std::vector<PolicyInfo<SchedulingPolicy>>& scheduling_table() { return tables().scheduling; }
const std::vector<PolicyInfo<PlacementPolicy>>& placement_table() { return tables().placement; }
const std::vector<PolicyInfo<Selector>>& selector_table() { return tables().selector; }
const std::vector<PolicyInfo<ScalingPolicy>>& scaling_table() { return tables().scaling; }

}  // namespace muster
