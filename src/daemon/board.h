// What readers see: the committed rows of all jobs, their runs and the nodes, with the latest
// reports of running jobs. The engine's thread and submissions write; any thread reads, and no
// reader waits for a turn.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "daemon/job_request.h"
#include "daemon/store.h"

namespace muster {

// What a running job said last.
struct JobNews {
  double step = -1;
  double total = 0;
  double saved_step = -1;
  Seconds heard = kNever;
  double steps_per_second = 0;
  std::map<std::string, double> metrics;
};

struct BoardJob {
  std::shared_ptr<const StoredJob> row;  // without the description, which is `request`
  std::shared_ptr<const JobRequest> request;
  std::map<std::uint32_t, std::shared_ptr<const StoredRun>> runs;  // by launch
  JobNews news;

  // The latest launch; null before the first.
  const StoredRun* last_run() const { return runs.empty() ? nullptr : runs.rbegin()->second.get(); }
  // The GPUs it is on or promised, nothing where it waits.
  GpuSet gpus() const;
};

bool over(const StoredJob& job);

class Board {
 public:
  // A job of the store, or one that was just committed.
  void add(const StoredJob& row, std::shared_ptr<const JobRequest> request);
  // What was committed: rows of jobs that are on the board, runs and nodes.
  void put(const Batch& batch);
  void put_news(JobId job, const JobNews& news);
  // What it asks for now.
  void put_request(JobId job, std::shared_ptr<const JobRequest> request);

  std::optional<BoardJob> job(JobId id) const;
  // In order of ids, those that `wanted` accepts; the last `most` of them.
  std::vector<BoardJob> jobs(const std::function<bool(const BoardJob&)>& wanted,
                             std::size_t most) const;
  std::vector<StoredNode> nodes() const;
  // Jobs of the owner that are not over.
  std::size_t active_of(const std::string& owner) const;
  // The job that this owner submitted with this request id.
  std::optional<JobId> by_request(const std::string& owner, const std::string& request) const;

  struct Counts {
    std::map<std::string, std::size_t> jobs;  // by state
    int gpus = 0;
    int gpus_in_use = 0;
  };
  Counts counts() const;

 private:
  void count(const StoredJob* before, const StoredJob& now);

  mutable std::shared_mutex mutex_;
  std::map<JobId, BoardJob> jobs_;
  std::map<NodeId, StoredNode> nodes_;
  std::map<std::pair<std::string, std::string>, JobId> requests_;
  std::unordered_map<std::string, std::size_t> active_;
  std::map<std::string, std::size_t> states_;
};

}  // namespace muster
