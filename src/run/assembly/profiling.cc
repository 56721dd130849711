#include "run/assembly/profiling.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/truth.h"
#include "perf/product.h"
#include "run/assembly/profiler_parts.h"

namespace muster {
namespace {

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

}  // namespace

Result<Profiling> run_profiling(std::span<const JobSpec> jobs, const ProfilingSettings& settings,
                                const ApartSettings& run) {
  const int largest = largest_profiled(settings);
  std::vector<JobSpec> small;
  std::vector<JobId> numbers;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].gpus > largest) continue;
    small.push_back(as_profiled(jobs[i], settings.limit));
    numbers.push_back(JobId{static_cast<std::uint32_t>(i)});
  }
  auto profiler = profiler_parts(settings, run.parts(kNoSymbol));
  if (!profiler) return profiler.error();
  Profiling outcome;
  ScalingLog log(outcome.events);
  ApartSettings apart;
  apart.apart = false;
  apart.perf = multiply({});
  apart.keep_going = run.keep_going;
  apart.parts = [&](Symbol) {
    profiler->observers.push_back(&log);
    return std::move(*profiler);  // there is one piece, and it asks once
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
  const auto left = without_profiler(cluster, settings, profiling->events);
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
    if (settings.book == nullptr) continue;
    piece.amend = [profiled, book = settings.book](JobRecord& record) {
      const Seconds began = (*profiled)[index(record.id)].start;
      if (began != kNever) book(record, began);
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
