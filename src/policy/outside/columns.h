// The columns over jobs and nodes that a policy from outside the tree looks at: one list for all
// places such a policy may live in.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/symbols.h"
#include "model/job.h"
#include "policy/view.h"

namespace muster {

struct AllocationProblem;

struct JobColumn {
  const char* name;
  const char* type;   // as NumPy names it: "f8", "i8" or "?"
  const char* needs;  // what a policy must declare that reads it; empty: nothing
  const char* sentence;
  double (*get)(const Job&, Seconds now);
};
struct JobText {
  const char* name;
  Symbol JobSpec::*symbol;
};
struct NodeColumn {
  const char* name;
  const char* type;
  double (*get)(const ClusterState&, NodeId);
};
struct NodeText {
  const char* name;
  Symbol NodeSpec::*symbol;
};

std::span<const JobColumn> job_columns();
std::span<const JobText> job_texts();
std::span<const NodeColumn> node_columns();
std::span<const NodeText> node_texts();

// The GPU types of a cluster in the order in which it names them, and the usable GPUs of each.
std::vector<Symbol> types_of(const ClusterState& cluster);
std::vector<std::int64_t> usable_by_type(const ClusterState& cluster);
// Steps per second of each job on GPUs of each type, job by job.
std::vector<double> speeds_of(const View& view, const std::vector<Slot>& slots);

// What each job last reported under that name; not a number where it has not.
std::vector<double> metric_of(const View& view, const std::vector<Slot>& slots,
                              std::string_view name);

// What an allocation problem holds, with the GPU types in that order, too.
struct ProblemColumns {
  explicit ProblemColumns(const AllocationProblem& problem);
  std::vector<double> rates;     // a row per job
  std::vector<double> jobs;      // rows of six: id, GPUs, weight, steps left, age, deadline in
  std::vector<double> capacity;  // by type
  std::vector<double> price;     // by type; empty: all cost the same
};

}  // namespace muster
