#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "report/out_file.h"
#include "run/jobs.h"
#include "run/parallel.h"
#include "run/simulation.h"
#include "run/sweep.h"
#include "run/sweep_journal.h"

namespace muster {
namespace {

// The jobs of all points that run the same workload: made by the first that needs them, let go by
// the last.
class JobsGroup {
 public:
  explicit JobsGroup(WorkloadConfig workload) : workload_(std::move(workload)) {}
  void expect() { ++left_; }
  Result<std::shared_ptr<const SharedJobs>> take() {
    const std::lock_guard lock(mutex_);
    // A generator without end cannot be kept in memory: every run draws for itself.
    if (!workload_.trace.empty() || !endless(workload_)) {
      if (jobs_ == nullptr) {
        auto loaded = load_jobs(workload_);
        if (!loaded) return loaded.error();
        jobs_ = std::move(*loaded);
      }
    }
    std::shared_ptr<const SharedJobs> mine = jobs_;
    if (--left_ == 0) jobs_.reset();
    return mine;
  }

 private:
  WorkloadConfig workload_;
  std::mutex mutex_;
  std::shared_ptr<const SharedJobs> jobs_;
  std::size_t left_ = 0;
};

std::string workload_key(const RunConfig& config) {
  RunConfig only;
  only.workload = config.workload;
  return to_toml(only);
}

// What the threads share.
class Work {
 public:
  Work(SweepResult& result, std::optional<SweepJournal>& journal, const SweepOptions& options)
      : result_(result), journal_(journal), options_(options) {
    std::map<std::string, std::size_t> groups;
    for (std::size_t i = 0; i < result.points.size(); ++i) {
      if (journal && journal->done().count(i) != 0) continue;
      const RunConfig& config = result.points[i].config;
      const auto [found, fresh] = groups.try_emplace(workload_key(config), groups_.size());
      if (fresh) groups_.push_back(std::make_unique<JobsGroup>(config.workload));
      groups_[found->second]->expect();
      queue_.push_back({i, found->second});
    }
    // Points of one workload follow each other, so that few workloads are in memory at once.
    std::stable_sort(queue_.begin(), queue_.end(),
                     [](const Item& a, const Item& b) { return a.group < b.group; });
  }

  std::size_t size() const { return queue_.size(); }

  void run(std::size_t place) {
    if (!stopped_.load()) run_one(queue_[place]);
  }

  const std::optional<Error>& error() const { return error_; }
  std::size_t done() const { return done_; }

 private:
  struct Item {
    std::size_t point;
    std::size_t group;
  };

  bool keep_going() const {
    return !stopped_.load(std::memory_order_relaxed) &&
           (!options_.keep_going || options_.keep_going());
  }

  void run_one(const Item& item) {
    const SweepPoint& point = result_.points[item.point];
    auto jobs = groups_[item.group]->take();
    if (!jobs) return fail(item.point, jobs.error());
    const auto summary =
        measure_run(point.config, std::move(*jobs), [this] { return keep_going(); });
    if (!summary) return fail(item.point, summary.error());
    if (!*summary) {
      stopped_.store(true);
      return;
    }
    const std::lock_guard lock(mutex_);
    result_.metrics[item.point] = (*summary)->metrics;
    ++done_;
    if (!journal_) return;
    if (Status kept = journal_->add(item.point, (*summary)->metrics); !kept) {
      stopped_.store(true);
      result_.unwritten = kept.error();
    }
  }

  void fail(std::size_t point, const Error& error) {
    const std::lock_guard lock(mutex_);
    stopped_.store(true);
    if (error_) return;
    error_ = Error{fmt::format("{} (seed {}): {}", result_.points[point].config.label(),
                               result_.points[point].seed, error.message)};
  }

  SweepResult& result_;
  std::optional<SweepJournal>& journal_;
  const SweepOptions& options_;
  std::vector<std::unique_ptr<JobsGroup>> groups_;
  std::vector<Item> queue_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::optional<Error> error_;
  std::size_t done_ = 0;
};

}  // namespace

Result<SweepResult> run_sweep(const SweepConfig& sweep, const SweepOptions& options) {
  auto points = sweep_points(sweep);
  if (!points) return points.error();
  SweepResult result;
  result.points = std::move(*points);
  result.metrics.resize(result.points.size());
  std::optional<SweepJournal> journal;
  if (!options.folder.empty()) {
    auto opened = SweepJournal::open(options.folder, to_toml(sweep));
    if (!opened) return opened.error();
    journal.emplace(std::move(*opened));
    for (const auto& [point, metrics] : journal->done()) {
      if (point >= result.points.size()) continue;
      result.metrics[point] = metrics;
      ++result.resumed;
    }
  }
  Work work(result, journal, options);
  ProgressTask* task =
      options.progress == nullptr ? nullptr : &options.progress->task("sweep", work.size());
  in_parallel(work.size(), options.threads, [&](std::size_t place) {
    work.run(place);
    if (task != nullptr) task->advance(1);
  });
  if (task != nullptr) task->finish();
  if (work.error()) return *work.error();
  result.done = result.resumed + work.done();
  return result;
}

}  // namespace muster
