// Statistics of a trace, gathered in one pass and bounded memory: sizes, durations, GPU hours,
// load.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/symbols.h"
#include "model/cluster_spec.h"
#include "model/job_spec.h"
#include "report/quantiles.h"
#include "workload/trace_reader.h"

namespace muster {

class TraceInfo {
 public:
  void add(const JobSpec& job);

  // `cluster` may be null; `name` is the trace's, `cluster_name` the cluster's as the user wrote
  // it.
  std::string text(const std::string& name, const TraceStats& stats, const Symbols& symbols,
                   const ClusterSpec* cluster, const std::string& cluster_name) const;
  std::string json(const std::string& name, const TraceStats& stats, const Symbols& symbols,
                   const ClusterSpec* cluster) const;

  // Requested over existing GPU-seconds while jobs are submitted; NaN without a span.
  double load_on(const ClusterSpec& cluster) const;

 private:
  struct Group {
    std::uint64_t jobs = 0;
    Sum gpu_seconds;
  };

  std::string duration_table() const;
  std::string group_tables(const Symbols& symbols) const;
  Seconds span() const { return jobs_ == 0 ? 0 : last_submit_ - first_submit_; }

  std::uint64_t jobs_ = 0;
  std::uint64_t unsorted_ = 0;
  std::uint64_t with_deadline_ = 0;
  std::uint64_t elastic_ = 0;
  Seconds first_submit_ = kNever;
  Seconds last_submit_ = -kNever;
  Seconds previous_submit_ = -kNever;
  Sum gpu_seconds_;
  Quantiles durations_;
  std::map<int, Group> by_gpus_;
  std::map<Symbol, Group> by_partition_;
  std::map<Symbol, Group> by_user_;
  std::map<Symbol, Group> by_model_;
};

}  // namespace muster
