#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "base/out_file.h"
#include "base/parallel.h"
#include "run/assembly/jobs.h"
#include "run/assembly/simulation.h"
#include "run/sweep/sweep.h"
#include "run/sweep/sweep_journal.h"

namespace muster {
namespace {

// The jobs of all points that run the same workload: made by the first that needs them, let go by
// the last.
class JobsGroup {
 public:
  explicit JobsGroup(WorkloadConfig workload) : workload_(std::move(workload)) {}
  void expect() { ++left_; }
  Result<std::shared_ptr<const SharedJobs>> take(const std::function<bool()>& keep_going) {
    const std::lock_guard lock(mutex_);
    // A generator without end cannot be kept in memory: every run draws for itself.
    if (!workload_.trace.empty() || !endless(workload_)) {
      if (jobs_ == nullptr) {
        auto loaded = load_jobs(workload_, keep_going);
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

// Runs that were saved on their way, one file each, until they end.
class SavedPoints {
 public:
  SavedPoints(const std::string& folder, long long at_job)
      : folder_(folder.empty() ? "" : folder + "/saved"), at_job_(at_job) {}

  // Where it goes on if it was saved before, and where it is saved otherwise.
  SaveOptions of(std::size_t point) const {
    SaveOptions save;
    save.or_ends = true;
    if (folder_.empty()) return save;
    std::error_code code;
    if (std::filesystem::exists(file(point), code)) {
      save.continue_from = file(point);
    } else if (at_job_ >= 0) {
      std::filesystem::create_directories(folder_, code);
      save.at_job = at_job_;
      save.file = file(point);
    }
    return save;
  }
  void remove(std::size_t point) const {
    if (folder_.empty()) return;
    std::error_code code;
    std::filesystem::remove(file(point), code);
    std::filesystem::remove(folder_, code);  // if it is empty
  }

 private:
  std::string file(std::size_t point) const { return fmt::format("{}/{}.run", folder_, point); }

  std::string folder_;  // empty: nothing is kept
  long long at_job_;
};

// What the threads share.
class Work {
 public:
  Work(const SweepConfig& sweep, SweepResult& result, std::optional<SweepJournal>& journal,
       const SweepOptions& options)
      : threshold_(sweep.threshold),
        result_(result),
        journal_(journal),
        options_(options),
        saved_(options.folder, options.save_at) {
    group_.resize(result.points.size());
    std::map<std::string, std::size_t> groups;
    for (std::size_t i = 0; i < result.points.size(); ++i) {
      if (result.states[i] != PointState::kOpen) continue;
      const RunConfig& config = result.points[i].config;
      const auto [found, fresh] = groups.try_emplace(workload_key(config), groups_.size());
      if (fresh) groups_.push_back(std::make_unique<JobsGroup>(config.workload));
      groups_[found->second]->expect();
      group_[i] = found->second;
      queue_.push_back({i});
    }
    if (threshold_ > 0) {
      queue_ = rate_tracks(sweep, result.points);
      return;
    }
    // Points of one workload follow each other, so that few workloads are in memory at once.
    std::stable_sort(queue_.begin(), queue_.end(), [this](const auto& a, const auto& b) {
      return group_[a.front()] < group_[b.front()];
    });
  }

  std::size_t size() const { return queue_.size(); }

  void run(std::size_t place, ProgressTask* task) {
    if (stopped_.load()) return;
    const ProgressTask::Part part(task, name(queue_[place].front()));
    if (threshold_ > 0) {
      search(queue_[place]);
    } else {
      run_one(queue_[place].front());
    }
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  std::string name(std::size_t point) const {
    return fmt::format("{} (seed {})", result_.points[point].config.label(),
                       result_.points[point].seed);
  }

  bool keep_going() const {
    return !stopped_.load(std::memory_order_relaxed) &&
           (!options_.keep_going || options_.keep_going());
  }

  // Halves the row of rates until one is low enough and the next is not. A run that was given up
  // or is beyond a cut-off counts as too high.
  void search(const std::vector<std::size_t>& track) {
    std::size_t low = 0;  // so many at the beginning are low enough
    std::size_t high = track.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      const std::size_t point = track[middle];
      if (result_.states[point] == PointState::kOpen) run_one(point);
      if (result_.states[point] == PointState::kOpen) return;
      const bool fits = result_.states[point] == PointState::kDone &&
                        result_.metrics[point].utilization <= threshold_;
      if (fits) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    for (const std::size_t point : track) {
      if (result_.states[point] == PointState::kOpen) result_.states[point] = PointState::kSkipped;
    }
  }

  void keep_notes(const SharedJobs& jobs) {
    const std::lock_guard lock(mutex_);
    result_.notes.insert(jobs.notes.begin(), jobs.notes.end());
  }

  void keep_warnings(const std::vector<std::string>& warnings) {
    const std::lock_guard lock(mutex_);
    result_.warnings.insert(warnings.begin(), warnings.end());
  }

  void run_one(std::size_t at) {
    const SweepPoint& point = result_.points[at];
    auto jobs = groups_[group_[at]]->take([this] { return keep_going(); });
    if (!keep_going()) return stopped_.store(true);
    if (!jobs) return fail(at, jobs.error());
    if (*jobs != nullptr) keep_notes(**jobs);
    const auto begun = std::chrono::steady_clock::now();
    bool late = false;
    const auto go_on = [&] {
      if (options_.timeout > 0) {
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun;
        late = spent.count() > options_.timeout;
      }
      return !late && keep_going();
    };
    const SaveOptions save = saved_.of(at);
    const bool continued = !save.continue_from.empty();
    std::vector<std::string> warnings;
    const auto summary =
        measure_run(point.config, std::move(*jobs), go_on, nullptr, save, &warnings);
    keep_warnings(warnings);
    if (!summary && continued) {
      return fail(at, Error{fmt::format("{}; remove that file to start the run again",
                                        summary.error().message)});
    }
    if (!summary) return fail(at, summary.error());
    if (!*summary) {
      if (late) {
        result_.states[at] = PointState::kTimedOut;
      } else {
        stopped_.store(true);
      }
      return;
    }
    const std::lock_guard lock(mutex_);
    result_.metrics[at] = (*summary)->metrics;
    result_.states[at] = PointState::kDone;
    result_.continued += continued ? 1 : 0;
    if (!journal_) return;
    if (Status kept = journal_->add(at, (*summary)->metrics); !kept) {
      stopped_.store(true);
      result_.unwritten = kept.error();
      return;
    }
    saved_.remove(at);
  }

  void fail(std::size_t point, const Error& error) {
    const std::lock_guard lock(mutex_);
    stopped_.store(true);
    if (error_) return;
    error_ = Error{fmt::format("{}: {}", name(point), error.message)};
  }

  double threshold_;
  SweepResult& result_;
  std::optional<SweepJournal>& journal_;
  const SweepOptions& options_;
  SavedPoints saved_;
  std::vector<std::unique_ptr<JobsGroup>> groups_;
  std::vector<std::size_t> group_;               // by point
  std::vector<std::vector<std::size_t>> queue_;  // single points, or tracks to be searched
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace

Result<SweepResult> run_sweep(const SweepConfig& sweep, const SweepOptions& options) {
  if (options.save_at >= 0 && options.folder.empty()) {
    return Error{"a sweep saves unfinished runs in its own folder: name one with --output"};
  }
  auto points = sweep_points(sweep);
  if (!points) return points.error();
  SweepResult result;
  result.points = std::move(*points);
  result.metrics.resize(result.points.size());
  result.states.resize(result.points.size(), PointState::kOpen);
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    if (result.points[i].skip) result.states[i] = PointState::kSkipped;
  }
  std::optional<SweepJournal> journal;
  if (!options.folder.empty()) {
    auto opened = SweepJournal::open(options.folder, to_toml(sweep));
    if (!opened) return opened.error();
    journal.emplace(std::move(*opened));
    for (const auto& [point, metrics] : journal->done()) {
      if (point >= result.points.size()) continue;
      result.metrics[point] = metrics;
      result.states[point] = PointState::kDone;
      ++result.resumed;
    }
  }
  Work work(sweep, result, journal, options);
  ProgressTask* task =
      options.progress == nullptr ? nullptr : &options.progress->task("sweep", work.size());
  in_parallel(work.size(), options.threads, [&](std::size_t place) {
    work.run(place, task);
    if (options.on_run_end) options.on_run_end();
    if (task != nullptr) task->advance(1);
  });
  if (task != nullptr) task->finish();
  if (work.error()) return *work.error();
  for (const PointState state : result.states) result.done += state == PointState::kOpen ? 0 : 1;
  return result;
}

}  // namespace muster
