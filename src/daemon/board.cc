#include "daemon/board.h"

#include <algorithm>

namespace muster {

bool over(const StoredJob& job) {
  return job.state == "finished" || job.state == "failed" || job.state == "refused" ||
         job.state == "cancelled";
}

GpuSet BoardJob::gpus() const {
  const StoredRun* run = last_run();
  return run == nullptr || over(run->state) ? GpuSet{} : run->gpus;
}

void Board::count(const StoredJob* before, const StoredJob& now) {
  if (before != nullptr) {
    --states_[before->state];
    if (!over(*before)) --active_[before->owner];
  }
  ++states_[now.state];
  if (!over(now)) ++active_[now.owner];
}

void Board::add(const StoredJob& row, std::shared_ptr<const JobRequest> request) {
  auto kept = std::make_shared<StoredJob>(row);
  kept->description.clear();
  const std::unique_lock lock(mutex_);
  BoardJob& job = jobs_[row.id];
  count(job.row.get(), row);
  job.row = std::move(kept);
  job.request = std::move(request);
  if (!row.request.empty()) requests_[{row.owner, row.request}] = row.id;
}

void Board::put(const Batch& batch) {
  const std::unique_lock lock(mutex_);
  for (const StoredJob& row : batch.jobs) {
    const auto found = jobs_.find(row.id);
    if (found == jobs_.end()) continue;
    auto kept = std::make_shared<StoredJob>(row);
    kept->description.clear();
    count(found->second.row.get(), row);
    found->second.row = std::move(kept);
  }
  for (const StoredRun& row : batch.runs) {
    const auto found = jobs_.find(row.run.job);
    if (found == jobs_.end()) continue;
    found->second.runs[row.run.launch] = std::make_shared<StoredRun>(row);
  }
  for (const StoredNode& row : batch.nodes) nodes_[row.id] = row;
  for (const JobId job : batch.forgotten_jobs) {
    const auto found = jobs_.find(job);
    if (found == jobs_.end()) continue;
    --states_[found->second.row->state];
    requests_.erase({found->second.row->owner, found->second.row->request});
    jobs_.erase(found);
  }
}

void Board::put_news(JobId job, const JobNews& news) {
  const std::unique_lock lock(mutex_);
  if (const auto found = jobs_.find(job); found != jobs_.end()) found->second.news = news;
}

void Board::put_request(JobId job, std::shared_ptr<const JobRequest> request) {
  const std::unique_lock lock(mutex_);
  if (const auto found = jobs_.find(job); found != jobs_.end()) {
    found->second.request = std::move(request);
  }
}

std::optional<BoardJob> Board::job(JobId id) const {
  const std::shared_lock lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return std::nullopt;
  return found->second;
}

std::vector<BoardJob> Board::jobs(const std::function<bool(const BoardJob&)>& wanted,
                                  std::size_t most) const {
  std::vector<BoardJob> found;
  {
    const std::shared_lock lock(mutex_);
    for (auto it = jobs_.rbegin(); it != jobs_.rend() && found.size() < most; ++it) {
      if (wanted(it->second)) found.push_back(it->second);
    }
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::vector<StoredNode> Board::nodes() const {
  const std::shared_lock lock(mutex_);
  std::vector<StoredNode> rows;
  for (const auto& [id, node] : nodes_) rows.push_back(node);
  return rows;
}

std::size_t Board::active_of(const std::string& owner) const {
  const std::shared_lock lock(mutex_);
  const auto found = active_.find(owner);
  return found == active_.end() ? 0 : found->second;
}

std::optional<JobId> Board::by_request(const std::string& owner, const std::string& request) const {
  const std::shared_lock lock(mutex_);
  const auto found = requests_.find({owner, request});
  if (found == requests_.end()) return std::nullopt;
  return found->second;
}

Board::Counts Board::counts() const {
  const std::shared_lock lock(mutex_);
  Counts counts;
  counts.jobs = states_;
  for (const auto& [id, node] : nodes_) counts.gpus += static_cast<int>(node.gpus);
  for (const auto& [id, job] : jobs_) {
    if (job.row->state == "running" || job.row->state == "preempted") {
      counts.gpus_in_use += job.gpus().gpus();
    }
  }
  return counts;
}

}  // namespace muster
