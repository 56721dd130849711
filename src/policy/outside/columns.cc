#include "policy/outside/columns.h"

#include <algorithm>
#include <limits>

#include "policy/gavel/problem.h"

namespace muster {
namespace {

constexpr JobColumn kJobColumns[] = {
    {"id", "i8", "", "the job's number, in order of arrival",
     [](const Job& job, Seconds) { return static_cast<double>(index(job.spec.id)); }},
    {"submit", "f8", "", "when it was submitted",
     [](const Job& job, Seconds) { return job.spec.submit; }},
    {"gpus", "i8", "", "GPUs asked for",
     [](const Job& job, Seconds) { return static_cast<double>(job.spec.gpus); }},
    {"min_gpus", "i8", "", "fewest GPUs it runs on",
     [](const Job& job, Seconds) {
       return static_cast<double>(job.spec.elastic() ? std::max(1, job.spec.min_gpus)
                                                     : job.spec.gpus);
     }},
    {"max_gpus", "i8", "", "most GPUs it runs on",
     [](const Job& job, Seconds) { return static_cast<double>(job.spec.most_gpus()); }},
    {"priority", "i8", "", "larger is more important",
     [](const Job& job, Seconds) { return static_cast<double>(job.spec.priority); }},
    {"running", "?", "", "whether it holds GPUs",
     [](const Job& job, Seconds) { return job.running() ? 1.0 : 0.0; }},
    {"held", "i8", "", "GPUs that it holds now",
     [](const Job& job, Seconds) { return static_cast<double>(job.gpus.gpus()); }},
    {"attained", "f8", "", "seconds for which it has held GPUs",
     [](const Job& job, Seconds now) { return job.attained_at(now); }},
    {"gpu_seconds", "f8", "", "GPU-seconds that it has held",
     [](const Job& job, Seconds now) { return job.gpu_seconds_at(now); }},
    {"waiting", "f8", "", "seconds of its present wait; 0 while it runs",
     [](const Job& job, Seconds now) { return job.running() ? 0.0 : now - job.waiting_since; }},
    {"queueing", "f8", "", "seconds without GPUs, all its waits together",
     [](const Job& job, Seconds now) {
       return job.waited_before + (job.running() ? 0.0 : now - job.waiting_since);
     }},
    {"age", "f8", "", "seconds since it was submitted",
     [](const Job& job, Seconds now) { return now - job.spec.submit; }},
    {"admitted", "f8", "", "when it was admitted",
     [](const Job& job, Seconds) { return job.admitted; }},
    {"first_start", "f8", "", "when it first ran; inf if it never did",
     [](const Job& job, Seconds) { return job.first_start; }},
    {"preemptions", "i8", "", "times it lost its GPUs to another job",
     [](const Job& job, Seconds) { return static_cast<double>(job.preemptions); }},
    {"done", "f8", "", "seconds of undisturbed run that it has done",
     [](const Job& job, Seconds now) { return job.work_at(now); }},
    {"deadline", "f8", "", "when it should be done; inf: whenever",
     [](const Job& job, Seconds) { return job.spec.deadline; }},
    {"value", "f8", "", "what meeting the deadline is worth",
     [](const Job& job, Seconds) { return job.spec.value; }},
    {"cpus", "f8", "", "CPU cores for the whole job; 0: the fair share",
     [](const Job& job, Seconds) { return job.spec.cpus; }},
    {"memory_gb", "f8", "", "memory for the whole job; 0: the fair share",
     [](const Job& job, Seconds) { return job.spec.memory_gb; }},
    {"iterations", "f8", "", "training steps; 0: unknown",
     [](const Job& job, Seconds) { return job.spec.iterations; }},
    {"estimate", "f8", "estimate", "the believed duration; 0: unknown",
     [](const Job& job, Seconds) { return job.spec.estimate; }},
    {"duration", "f8", "duration", "the true duration, undisturbed and as asked for",
     [](const Job& job, Seconds) { return job.total_work; }},
    {"remaining", "f8", "duration", "seconds of undisturbed run that are left",
     [](const Job& job, Seconds now) { return job.remaining_at(now); }},
    {"steps_left", "f8", "duration", "training steps that are left",
     [](const Job& job, Seconds now) { return steps_left(job, now); }},
};

constexpr JobText kJobTexts[] = {
    {"user", &JobSpec::user},
    {"model", &JobSpec::model},
    {"partition", &JobSpec::partition},
    {"gpu_type", &JobSpec::gpu_type},
};

constexpr NodeColumn kNodeColumns[] = {
    {"free", "i8", [](const ClusterState& c, NodeId n) { return double(c.free_on(n)); }},
    {"usable", "i8", [](const ClusterState& c, NodeId n) { return double(c.usable_on(n)); }},
    {"gpus", "i8", [](const ClusterState& c, NodeId n) { return double(c.node(n).gpus); }},
    {"up", "?", [](const ClusterState& c, NodeId n) { return c.up(n) ? 1.0 : 0.0; }},
    {"rack", "i8", [](const ClusterState& c, NodeId n) { return double(c.node(n).rack); }},
    {"free_cpus", "f8", [](const ClusterState& c, NodeId n) { return c.free_cpus(n); }},
    {"free_memory_gb", "f8", [](const ClusterState& c, NodeId n) { return c.free_memory(n); }},
};
constexpr NodeText kNodeTexts[] = {
    {"name", &NodeSpec::name},
    {"gpu_type", &NodeSpec::gpu_type},
    {"partition", &NodeSpec::partition},
};

}  // namespace

std::span<const JobColumn> job_columns() { return kJobColumns; }
std::span<const JobText> job_texts() { return kJobTexts; }
std::span<const NodeColumn> node_columns() { return kNodeColumns; }
std::span<const NodeText> node_texts() { return kNodeTexts; }

std::vector<Symbol> types_of(const ClusterState& cluster) {
  std::vector<Symbol> types = type_columns(cluster);
  std::reverse(types.begin(), types.end());
  return types;
}

std::vector<std::int64_t> usable_by_type(const ClusterState& cluster) {
  const std::vector<Symbol> types = types_of(cluster);
  std::vector<std::int64_t> usable(types.size(), 0);
  for (const Pool& pool : cluster.pools()) {
    const auto at = std::find(types.begin(), types.end(), pool.gpu_type) - types.begin();
    usable[static_cast<std::size_t>(at)] += pool.usable;
  }
  return usable;
}

std::vector<double> speeds_of(const View& view, const std::vector<Slot>& slots) {
  const std::vector<Symbol> types = types_of(view.cluster);
  std::vector<double> speeds;
  speeds.reserve(slots.size() * types.size());
  for (const Slot slot : slots) {
    for (const Symbol type : types) {
      speeds.push_back(rate_on(view.perf, view.jobs[slot].spec, type, nullptr));
    }
  }
  return speeds;
}

std::vector<double> metric_of(const View& view, const std::vector<Slot>& slots,
                              std::string_view name) {
  std::vector<double> values(slots.size(), std::numeric_limits<double>::quiet_NaN());
  if (view.metrics == nullptr) return values;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    values[i] = view.metrics->of(slots[i], name).value_or(values[i]);
  }
  return values;
}

ProblemColumns::ProblemColumns(const AllocationProblem& problem)
    : rates(problem.rates),
      capacity(problem.capacity.begin(), problem.capacity.end()),
      price(problem.price) {
  // Its columns are the cluster's types from the last to the first.
  const auto width = static_cast<std::ptrdiff_t>(problem.types);
  for (std::vector<double>* rows : {&rates, &capacity, &price}) {
    for (auto row = rows->begin(); row != rows->end(); row += width) {
      std::reverse(row, row + width);
    }
  }
  jobs.reserve(6 * problem.jobs.size());
  for (const AllocationJob& job : problem.jobs) {
    jobs.insert(jobs.end(), {static_cast<double>(index(job.id)), static_cast<double>(job.gpus),
                             job.weight, job.steps_left, job.age, job.deadline_in});
  }
}

}  // namespace muster
