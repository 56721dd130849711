#include "policy/gavel/problem.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace muster {

std::vector<Symbol> type_columns(const ClusterState& cluster) {
  std::vector<Symbol> types;
  for (const Pool& pool : cluster.pools()) {
    if (std::find(types.begin(), types.end(), pool.gpu_type) == types.end()) {
      types.push_back(pool.gpu_type);
    }
  }
  // Among equally good vertices and in random draws the order of columns matters, so it is that of
  // Gavel's matrices.
  std::reverse(types.begin(), types.end());
  return types;
}

double rate_on(const PerfModel& perf, const JobSpec& job, Symbol type, const JobSpec* co_located) {
  if (job.gpu_type != kNoSymbol && job.gpu_type != type) return 0;
  // On one node, by default: fractions of time know no placement.
  RunContext context;
  // T of the paper: steps per second by job and type, measured with all GPUs of the gang.
  context.gpus = job.gpus;
  context.gpu_type = type;
  const std::array<const JobSpec*, 1> neighbours = {co_located};
  if (co_located != nullptr) context.neighbours = neighbours;
  return perf.step_rate(job, context);
}

// Whole steps, as Gavel's scheduler counts them. A job that does not count in steps has its work in
// seconds instead.
double steps_left(const Job& job, Seconds now) {
  const double done = job.work_at(now);
  if (!(job.spec.iterations > 0)) return std::max(0.0, job.total_work - done);
  return std::max(0.0,
                  job.spec.iterations - std::round(done * job.spec.iterations / job.total_work));
}

AllocationJob allocation_job(const JobSpec& job, double steps_left, Seconds now) {
  AllocationJob asked;
  asked.id = job.id;
  asked.gpus = job.gpus;
  // Weighted fairness: a job of weight p should get p times the normalised throughput.
  asked.weight = job.priority > 0 ? job.priority : 1;
  asked.steps_left = steps_left;
  asked.age = now - job.submit;
  asked.deadline_in = job.deadline - now;
  return asked;
}

}  // namespace muster
