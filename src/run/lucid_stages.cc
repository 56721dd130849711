#include "run/lucid_stages.h"

#include <algorithm>

#include <fmt/format.h>

#include "perf/models.h"
#include "policy/table.h"

namespace muster {
namespace {

Result<Combination> combine(std::string_view scheduling, std::string_view placement,
                            const ParamTexts& params) {
  auto admit = make_from("admission policy", admission_table(), "accept-all", {});
  if (!admit) return admit.error();
  auto order = make_from("scheduling policy", scheduling_table(), scheduling, {});
  if (!order) return order.error();
  auto place = make_from("placement policy", placement_table(), placement, params);
  if (!place) return place.error();
  return Combination{std::move(*admit), std::move(*order), std::move(*place)};
}

class ScalingLog final : public Observer {
 public:
  explicit ScalingLog(std::vector<ScalingEvent>& events) : events_(events) {}
  void on_decision(const Decision& decision) override {
    if (decision.reason != Reason::kScaled) return;
    events_.push_back({decision.time, decision.action == Action::kNodeUp});
  }

 private:
  std::vector<ScalingEvent>& events_;
};

// The cluster without the nodes that went to the profiler, and with places for nodes that return.
Result<ClusterSpec> donate(const ClusterSpec& cluster, const ProfilingSettings& settings,
                           const std::vector<ScalingEvent>& events) {
  ClusterSpec left = cluster;
  for (const Symbol donor : settings.donors) {
    const auto last =
        std::find_if(left.nodes.rbegin(), left.nodes.rend(),
                     [donor](const NodeSpec& node) { return node.partition == donor; });
    if (last == left.nodes.rend()) {
      return Error{"profiling: a donor has no node left to give; name another virtual cluster"};
    }
    left.nodes.erase(std::next(last).base());
  }
  if (!left.schedule.empty() && !settings.donors.empty()) {
    return Error{"profiling: donors cannot be combined with a schedule of nodes"};
  }
  if (settings.lender == kNoSymbol) return left;
  for (const ScalingEvent& event : events) {
    if (event.borrowed) continue;
    NodeSpec spare;
    spare.partition = settings.lender;
    spare.gpus = settings.gpus_per_node;
    spare.spare = true;
    left.nodes.push_back(spare);
  }
  return left;
}

JobRecord ended_in_profiling(const JobSpec& job, const ProfiledJob& profiled, std::size_t i) {
  JobRecord record;
  record.id = JobId{static_cast<std::uint32_t>(i)};
  record.name = job.name;
  record.submit = job.submit;
  record.arrival = job.arrival;
  record.start = profiled.start;
  record.end = profiled.end;
  record.queue = profiled.start - job.submit;
  record.gpus = job.gpus;
  record.reason = Reason::kProfiled;
  record.duration = job.duration;
  record.gpu_seconds = job.duration * job.gpus;
  record.user = job.user;
  record.partition = job.partition;
  record.model = job.model;
  return record;
}

}  // namespace

Result<Profiling> run_profiling(std::span<const JobSpec> jobs, const ProfilingSettings& settings,
                                std::shared_ptr<const Forecast> forecast) {
  if (settings.nodes < 1 || settings.limit <= 0) {
    return Error{
        fmt::format("profiling: {} nodes for {} s; at least one node and a positive limit "
                    "are needed",
                    settings.nodes, settings.limit)};
  }
  ClusterSpec cluster = uniform_cluster(settings.nodes, settings.gpus_per_node);
  if (settings.scaling) {
    NodeSpec spare;
    spare.gpus = settings.gpus_per_node;
    spare.spare = true;
    cluster.nodes.push_back(spare);
  }
  const int largest = std::min(settings.largest, settings.nodes * settings.gpus_per_node);
  std::vector<JobSpec> small;
  std::vector<std::size_t> position;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].gpus > largest) continue;
    small.push_back(jobs[i]);
    small.back().partition = kNoSymbol;
    small.back().duration = std::min(jobs[i].duration, settings.limit);
    position.push_back(i);
  }
  auto policies = combine("least-gpus", "whole-nodes", {});
  if (!policies) return policies.error();
  Profiling outcome;
  ScalingLog log(outcome.events);
  ApartSettings apart;
  apart.policies = [&policies](Symbol) { return policies->clone(); };
  if (settings.scaling) {
    apart.scaling = [&settings](Symbol) { return make_profiler_scaling(settings.scaling_rule); };
  }
  apart.observers = [&log](Symbol) { return std::vector<Observer*>{&log}; };
  apart.perf = multiply({});
  apart.forecast = std::move(forecast);
  const auto records = run_partitions_apart(cluster, small, apart);
  if (!records) return records.error();
  outcome.jobs.resize(jobs.size());
  for (std::size_t i = 0; i < small.size(); ++i) {
    const JobRecord& record = (*records)[i];
    if (record.status != JobState::kFinished) continue;
    outcome.jobs[position[i]] = {record.start, record.end,
                                 jobs[position[i]].duration <= settings.limit};
  }
  return outcome;
}

Result<LucidOutcome> run_lucid(const ClusterSpec& cluster, std::span<const JobSpec> jobs,
                               LucidSettings settings) {
  auto profiling = run_profiling(jobs, settings.profiling, settings.apart.forecast);
  if (!profiling) return profiling.error();
  LucidOutcome outcome;
  outcome.profiling = std::move(*profiling);
  const auto left = donate(cluster, settings.profiling, outcome.profiling.events);
  if (!left) return left.error();

  outcome.records.resize(jobs.size());
  std::vector<JobSpec> longer;
  std::vector<std::size_t> position;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const ProfiledJob& profiled = outcome.profiling.jobs[i];
    if (profiled.finished) {
      outcome.records[i] = ended_in_profiling(jobs[i], profiled, i);
      continue;
    }
    position.push_back(i);
  }
  const bool paid = !settings.profiling.free;
  const auto arrival = [&](std::size_t i) {
    const Seconds end = outcome.profiling.jobs[i].end;
    return paid && end != kNever ? std::max(end, jobs[i].arrival) : jobs[i].arrival;
  };
  std::stable_sort(position.begin(), position.end(),
                   [&](std::size_t a, std::size_t b) { return arrival(a) < arrival(b); });
  for (const std::size_t i : position) {
    longer.push_back(jobs[i]);
    longer.back().arrival = arrival(i);
  }
  auto policies = combine("lucid", "with-share", settings.placement);
  if (!policies) return policies.error();
  ApartSettings apart = settings.apart;
  apart.policies = [&policies](Symbol) { return policies->clone(); };
  const Symbol lender = settings.profiling.lender;
  apart.scaling = [&outcome, lender](Symbol partition) -> std::unique_ptr<ScalingPolicy> {
    if (lender == kNoSymbol || partition != lender) return nullptr;
    return make_donor_scaling(outcome.profiling.events);
  };
  auto records = run_partitions_apart(*left, longer, apart);
  if (!records) return records.error();
  for (std::size_t k = 0; k < longer.size(); ++k) {
    const std::size_t i = position[k];
    JobRecord& record = outcome.records[i];
    record = std::move((*records)[k]);
    record.id = JobId{static_cast<std::uint32_t>(i)};
    const ProfiledJob& profiled = outcome.profiling.jobs[i];
    // As published, the wait for the profiler is added to a wait that already contains it.
    if (!paid && profiled.start != kNever) record.queue += profiled.start - jobs[i].submit;
  }
  return outcome;
}

}  // namespace muster
