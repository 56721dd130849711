// Submitted jobs that the engine has not seen yet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "workload/source.h"

namespace muster {

class LiveInbox final : public JobSource {
 public:
  void add(JobSpec job) {
    jobs_.push_back(std::move(job));
    ++added_;
  }
  bool empty() const { return jobs_.empty(); }
  const std::deque<JobSpec>& jobs() const { return jobs_; }
  // How many have ever been added; a change between two calls means that a job arrived meanwhile.
  std::uint64_t added() const { return added_; }
  // A job that the engine has not seen; null if it is not there.
  JobSpec* find(JobId id) {
    const auto found =
        std::find_if(jobs_.begin(), jobs_.end(), [id](const JobSpec& job) { return job.id == id; });
    return found == jobs_.end() ? nullptr : &*found;
  }
  // Takes a job back that the engine has not seen; nothing if it is not there.
  std::optional<JobSpec> take_back(JobId id) {
    const auto found =
        std::find_if(jobs_.begin(), jobs_.end(), [id](const JobSpec& job) { return job.id == id; });
    if (found == jobs_.end()) return std::nullopt;
    std::optional<JobSpec> job = std::move(*found);
    jobs_.erase(found);
    return job;
  }

  const JobSpec* peek() override { return jobs_.empty() ? nullptr : &jobs_.front(); }
  void pop() override { jobs_.pop_front(); }
  bool finished() override { return false; }
  bool numbers_jobs() const override { return true; }

 private:
  std::deque<JobSpec> jobs_;
  std::uint64_t added_ = 0;
};

}  // namespace muster
