#include "run/assembly/online_profiling.h"

#include <algorithm>
#include <numeric>

#include "model/truth.h"
#include "perf/product.h"
#include "run/assembly/profiler_parts.h"

namespace muster {
namespace {

std::vector<NodeId> numbered_from(std::size_t first, std::size_t count) {
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    nodes.push_back(NodeId{static_cast<std::uint32_t>(first + i)});
  }
  return nodes;
}

int usable_gpus(const ClusterSpec& cluster) {
  return std::accumulate(
      cluster.nodes.begin(), cluster.nodes.end(), 0,
      [](int sum, const NodeSpec& node) { return sum + (node.spare ? 0 : node.gpus); });
}

}  // namespace

OnlineProfiler::OnlineProfiler(JobSource& jobs, const ProfilingSettings& settings)
    : jobs_(jobs), settings_(settings), largest_(largest_profiled(settings)), feed_(*this) {}

Result<std::unique_ptr<OnlineProfiler>> OnlineProfiler::make(JobSource& jobs,
                                                             const ProfilingSettings& settings,
                                                             const ApartSettings& run) {
  std::unique_ptr<OnlineProfiler> made(new OnlineProfiler(jobs, settings));
  OnlineProfiler& self = *made;
  auto parts = profiler_parts(settings, run.parts(kNoSymbol));
  if (!parts) return parts.error();
  self.cluster_ = std::make_shared<const ClusterSpec>(profiler_cluster(settings));
  const std::shared_ptr<const PerfModel> as_recorded = multiply({});
  self.backend_ =
      std::make_unique<SimBackend>(SimParts{.cluster = self.cluster_, .perf = as_recorded});
  self.log_.gpus = usable_gpus(*self.cluster_);
  parts->cluster = self.cluster_;
  parts->perf = as_recorded;
  parts->backend = self.backend_.get();
  parts->source = &self.feed_;
  parts->observers.push_back(&self.log_);
  parts->observers.push_back(&self);
  self.engine_ = std::make_unique<Engine>(std::move(*parts));
  return made;
}

const JobSpec* OnlineProfiler::Feed::peek() {
  if (ready_) return &part_;
  while (const JobSpec* next = profiler_.jobs_.peek()) {
    if (next->gpus <= profiler_.largest_) {
      part_ = as_profiled(*next, profiler_.settings_.limit);
      ready_ = true;
      return &part_;
    }
    profiler_.pass(*next, profiler_.number(*next), next->arrival);
    profiler_.jobs_.pop();
  }
  return nullptr;
}

void OnlineProfiler::Feed::pop() {
  ready_ = false;
  profiler_.entries_.push_back({*profiler_.jobs_.peek(), false});
  profiler_.log_.jobs.push_back(profiler_.number(*profiler_.jobs_.peek()));
  profiler_.jobs_.pop();
}

void OnlineProfiler::on_job_end(const JobRecord& record) {
  Entry& entry = entries_[index(record.id)];
  const JobId number = log_.jobs[index(record.id)];
  const bool profiled = record.status == JobState::kFinished;
  entry.ended = profiled && true_duration(entry.job) <= settings_.limit;
  if (entry.ended) return;
  const Seconds arrival = profiled ? std::max(record.end, entry.job.arrival) : entry.job.arrival;
  pass(std::move(entry.job), number, arrival);
}

JobId OnlineProfiler::number(const JobSpec& job) {
  partitions_.push_back(job.partition);
  return JobId{static_cast<std::uint32_t>(partitions_.size() - 1)};
}

void OnlineProfiler::pass(JobSpec job, JobId number, Seconds arrival) {
  job.arrival = arrival;
  ready_.push({arrival, number, std::move(job)});
}

// A job that has not left the profiler by its present time leaves later than that.
const JobSpec* OnlineProfiler::peek() {
  while (!over_ && (!begun_ || ready_.empty() || ready_.top().arrival > engine_->now())) {
    over_ = !engine_->turn();
    begun_ = true;
  }
  return ready_.empty() ? nullptr : &ready_.top().job;
}

void OnlineProfiler::pop() {
  passed_on_.push_back(ready_.top().number);
  ready_.pop();
}

Result<ApartOutcome> run_profiled_online(const ClusterSpec& cluster, JobSource& jobs,
                                         const ProfilingSettings& settings,
                                         const ApartSettings& run) {
  auto profiler = OnlineProfiler::make(jobs, settings, run);
  if (!profiler) return profiler.error();
  auto left = without_profiler(cluster, settings, {});
  if (!left) return left.error();
  const auto spec = std::make_shared<const ClusterSpec>(std::move(*left));
  SimParts sim{.cluster = spec, .perf = run.perf, .cost = run.cost, .failures = run.failures};
  const std::unique_ptr<Backend> backend =
      run.backend ? run.backend(std::move(sim)) : std::make_unique<SimBackend>(std::move(sim));
  ApartOutcome outcome;
  PieceLog& log = outcome.pieces.emplace_back();
  log.gpus = usable_gpus(*spec);
  log.nodes = numbered_from(0, spec->nodes.size());
  Engine::Parts parts = run.parts(kNoSymbol);
  parts.cluster = spec;
  parts.perf = run.perf;
  parts.backend = backend.get();
  parts.source = profiler->get();
  parts.observers.push_back(&log);
  parts.options = run.options;
  Engine engine(std::move(parts));
  const Status status = engine.run([&] {
    outcome.complete = !run.keep_going || run.keep_going();
    return outcome.complete;
  });
  if (!status) return status.error();
  log.jobs = (*profiler)->passed_on();

  const std::shared_ptr<OnlineProfiler> kept = std::move(*profiler);
  PieceLog story = std::move(kept->log());
  const std::size_t behind = spec->nodes.size();
  story.nodes = numbered_from(behind, static_cast<std::size_t>(settings.nodes) + 1);
  story.told = [kept](JobId job) { return kept->ended_here(job); };
  story.amend = [kept](JobRecord& record) {
    record.partition = kept->partition_of(record.id);
    record.reason = Reason::kProfiled;
  };
  outcome.pieces.push_back(std::move(story));
  return outcome;
}

}  // namespace muster
