// The table of built-in policies: one row each, with name, sentence, source and described
// parameters. The command line, TOML files, Python and the docs read this and nothing else.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/params.h"
#include "base/table_lookup.h"
#include "perf/perf_model.h"
#include "policy/admission.h"
#include "policy/placement.h"
#include "policy/scaling.h"
#include "policy/scheduling.h"
#include "policy/selection.h"

namespace muster {

template <typename Policy>
struct PolicyInfo {
  std::string_view name;
  std::string_view sentence;
  std::string_view source;  // paper or system, year
  ParamList params;
  std::unique_ptr<Policy> (*make)(const Params&);
  // Of policies that exist in several forms: the system that they are all called after, and whose
  // form of it this is.
  std::string_view system = {};
  std::string_view form = {};
};

const std::vector<PolicyInfo<AdmissionPolicy>>& admission_table();
const std::vector<PolicyInfo<SchedulingPolicy>>& scheduling_table();
const std::vector<PolicyInfo<PlacementPolicy>>& placement_table();
const std::vector<PolicyInfo<Selector>>& selector_table();
const std::vector<PolicyInfo<ScalingPolicy>>& scaling_table();

}  // namespace muster
