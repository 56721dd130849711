#include "run/assembly/profiling.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/truth.h"
#include "perf/product.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

Result<PolicySet> fewest_gpus_first() {
  auto admit = make_from("admission policy", plugin_tables().admission, "accept-all", {});
  if (!admit) return admit.error();
  auto order = make_from("scheduling policy", plugin_tables().scheduling, "least-gpus", {});
  if (!order) return order.error();
  auto place = make_from("placement policy", plugin_tables().placement, "whole-nodes", {});
  if (!place) return place.error();
  return PolicySet{std::move(*admit), std::move(*order), std::move(*place)};
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

ClusterSpec profiler_cluster(const ProfilingSettings& settings) {
  ClusterSpec cluster = uniform_cluster(settings.nodes, settings.gpus_per_node);
  if (!settings.borrow) return cluster;
  NodeSpec spare;
  spare.gpus = settings.gpus_per_node;
  spare.spare = true;
  cluster.nodes.push_back(spare);
  return cluster;
}

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

// The jobs that go on, in the order in which their virtual clusters hear of them.
struct Rest {
  std::vector<JobSpec> jobs;
  std::vector<JobId> numbers;  // in the whole list
};

Rest jobs_left(std::span<const JobSpec> jobs, const Profiling& profiling, bool free) {
  const auto arrival = [&](std::size_t i) {
    const Seconds end = profiling.jobs[i].end;
    return free || end == kNever ? jobs[i].arrival : std::max(end, jobs[i].arrival);
  };
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!profiling.jobs[i].finished) places.push_back(i);
  }
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return arrival(a) < arrival(b); });
  Rest rest;
  for (const std::size_t i : places) {
    rest.jobs.push_back(jobs[i]);
    rest.jobs.back().arrival = arrival(i);
    rest.numbers.push_back(JobId{static_cast<std::uint32_t>(i)});
  }
  return rest;
}

// The part of it that the profiler sees: its first seconds, whatever is believed of the rest.
JobSpec as_profiled(const JobSpec& job, Seconds limit) {
  JobSpec part = job;
  part.partition = kNoSymbol;
  part.duration = std::min(true_duration(job), limit);
  part.believed = false;
  part.true_duration = -1;
  return part;
}

}  // namespace

Result<Profiling> run_profiling(std::span<const JobSpec> jobs, const ProfilingSettings& settings,
                                const ApartSettings& run) {
  const int largest = std::min(settings.largest, settings.nodes * settings.gpus_per_node);
  std::vector<JobSpec> small;
  std::vector<JobId> numbers;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].gpus > largest) continue;
    small.push_back(as_profiled(jobs[i], settings.limit));
    numbers.push_back(JobId{static_cast<std::uint32_t>(i)});
  }
  auto policies = fewest_gpus_first();
  if (!policies) return policies.error();
  Profiling outcome;
  ScalingLog log(outcome.events);
  ApartSettings apart;
  apart.apart = false;
  apart.perf = multiply({});
  apart.keep_going = run.keep_going;
  apart.parts = [&](Symbol) {
    const Engine::Parts usual = run.parts(kNoSymbol);
    Engine::Parts parts;
    parts.pacing = usual.pacing->clone();
    parts.policy_sets.push_back(policies->clone());
    if (settings.borrow) parts.scaling = make_profiler_scaling(settings.scaling);
    parts.forecast = usual.forecast;
    parts.observers.push_back(&log);
    return parts;
  };
  auto ran = run_partitions_apart(profiler_cluster(settings), small, apart);
  if (!ran) return ran.error();
  outcome.complete = ran->complete;
  outcome.jobs.resize(jobs.size());
  outcome.log = std::move(ran->pieces.front());
  for (JobId& job : outcome.log.jobs) job = numbers[index(job)];
  for (const JobRecord& record : outcome.log.records()) {
    if (record.status != JobState::kFinished) continue;
    const std::size_t i = index(outcome.log.jobs[index(record.id)]);
    outcome.jobs[i] = {record.start, record.end, true_duration(jobs[i]) <= settings.limit};
  }
  return outcome;
}

Result<ApartOutcome> run_profiled(const ClusterSpec& cluster, std::span<const JobSpec> jobs,
                                  const ProfilingSettings& settings, const ApartSettings& run) {
  auto profiling = run_profiling(jobs, settings, run);
  if (!profiling) return profiling.error();
  const auto left = donate(cluster, settings, profiling->events);
  if (!left) return left.error();
  const Rest rest = jobs_left(jobs, *profiling, settings.free);
  ApartSettings apart = run;
  apart.parts = [&](Symbol partition) {
    Engine::Parts parts = run.parts(partition);
    if (settings.lender != kNoSymbol && partition == settings.lender) {
      parts.scaling = make_donor_scaling(profiling->events);
    }
    return parts;
  };
  auto outcome = run_partitions_apart(*left, rest.jobs, apart);
  if (!outcome) return outcome.error();
  outcome->complete = outcome->complete && profiling->complete;

  const auto profiled = std::make_shared<std::vector<ProfiledJob>>(std::move(profiling->jobs));
  for (PieceLog& piece : outcome->pieces) {
    for (JobId& job : piece.jobs) job = rest.numbers[index(job)];
    if (!settings.free) continue;
    // As published, the wait for the profiler is added to a wait that already contains it.
    piece.amend = [profiled](JobRecord& record) {
      const ProfiledJob& job = (*profiled)[index(record.id)];
      if (job.start != kNever) record.queue += job.start - record.submit;
    };
  }
  PieceLog& profiler = profiling->log;
  for (NodeId& node : profiler.nodes) {
    node = NodeId{static_cast<std::uint32_t>(left->nodes.size() + index(node))};
  }
  std::vector<Symbol> partitions;
  for (const JobSpec& job : jobs) partitions.push_back(job.partition);
  profiler.told = [profiled, numbers = profiler.jobs](JobId job) {
    return (*profiled)[index(numbers[index(job)])].finished;
  };
  profiler.amend = [partitions = std::move(partitions)](JobRecord& record) {
    record.partition = partitions[index(record.id)];
    record.reason = Reason::kProfiled;
  };
  outcome->pieces.push_back(std::move(profiler));
  return outcome;
}

}  // namespace muster
