// A policy in a file outside of Muster: end the file with
//
//   MUSTER_PLUGIN(my_row());          // any number of rows, of any kind of policy
//
// then `muster build-policy my.cc` makes my.so of it, and `--plugin my.so` adds its rows to the
// tables. docs/policies.md is the guide.
//
// The library shares C++ types with the command, so both must be built from the same headers. The
// command that builds it writes a fingerprint of its headers into it, and a command with others
// refuses to load it.
#pragma once

#include "policy/table.h"

namespace muster {

struct PolicyPlugin {
  std::vector<PolicyInfo<AdmissionPolicy>> admission;
  std::vector<PolicyInfo<SchedulingPolicy>> scheduling;
  std::vector<PolicyInfo<PlacementPolicy>> placement;
  std::vector<PolicyInfo<Selector>> selector;
  std::vector<PolicyInfo<ScalingPolicy>> scaling;

  void add(const PolicyInfo<AdmissionPolicy>& row) { admission.push_back(row); }
  void add(const PolicyInfo<SchedulingPolicy>& row) { scheduling.push_back(row); }
  void add(const PolicyInfo<PlacementPolicy>& row) { placement.push_back(row); }
  void add(const PolicyInfo<Selector>& row) { selector.push_back(row); }
  void add(const PolicyInfo<ScalingPolicy>& row) { scaling.push_back(row); }
  template <typename... Rows>
  void add_all(const Rows&... rows) {
    (add(rows), ...);
  }
};

}  // namespace muster

// `muster build-policy` defines MUSTER_PLUGIN_FINGERPRINT.
#define MUSTER_PLUGIN(...)                                         \
  extern "C" const char* muster_plugin_fingerprint() {             \
    return MUSTER_PLUGIN_FINGERPRINT;                              \
  }                                                                \
  extern "C" void muster_plugin_rows(muster::PolicyPlugin& rows) { \
    rows.add_all(__VA_ARGS__);                                     \
  }                                                                \
  static_assert(true, "so that a semicolon may follow")
