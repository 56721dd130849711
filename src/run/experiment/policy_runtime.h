// How long one allocation of time takes, by policy and number of jobs: Gavel's figure 12.
//
// Jobs are drawn as Gavel's simulator draws them, the cluster has a quarter as many GPUs of each
// type. Pairs grow with the square of the jobs, so policies with pairs are measured with up to
// 4,096 jobs, and least makespan, for which no two jobs are equal, with up to 512. With several
// parts the jobs and GPUs are split, each part is solved on its own (POP, SOSP'21), and the loss is
// told beside the time; what would have too many pairs as a whole is then measured in parts alone.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace muster {

struct PolicyRuntimeOptions {
  std::string throughputs;            // Gavel's table
  std::vector<std::string> policies;  // names of scheduling policies
  std::vector<long long> jobs = {32, 128, 512, 2048, 16384};
  int trials = 3;
  bool multi_gpu = false;
  int parts = 1;
  bool check = false;  // compare with the general solver
};

struct PolicyRuntime {
  std::string policy;
  long long jobs = 0;
  std::vector<double> seconds;  // of the processor, by trial; with parts, of the slowest part
  double average = 0;
  bool too_many_pairs = false;  // not measured
  // With parts: mean throughput, as a part of what one program gives; kNoFigure where that has too
  // many pairs.
  double share_kept = 1;
  // With parts: what the policy raises, as a part of what one program reaches, at worst; none where
  // that is not a single figure.
  std::optional<double> goal_kept;
  // With `check`: how far what the policy raises is below what the general solver reaches,
  // relative.
  double off_general = 0;
};

// The policies whose programs the figure is about.
std::vector<std::string> policy_runtime_families();

// Calls `done` after each row; stops, with what there is, when that says no.
Result<std::vector<PolicyRuntime>> measure_policy_runtimes(
    const PolicyRuntimeOptions& options,
    const std::function<bool(const PolicyRuntime&)>& done = {});

}  // namespace muster
