// Where executors put their reports and the engine's thread finds them, in order of arrival.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/live/executor.h"

namespace muster {

class Mailbox {
 public:
  // From any thread.
  void post(Report report) {
    {
      const std::lock_guard lock(mutex_);
      reports_.push_back(std::move(report));
    }
    arrived_.notify_one();
  }

  // Ends a wait of take() although there is nothing to report.
  void wake() {
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    arrived_.notify_one();
  }

  // All reports there are; waits for the first until `until`.
  std::vector<Report> take(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    arrived_.wait_until(lock, until, [&] { return woken_ || !reports_.empty(); });
    woken_ = false;
    return std::exchange(reports_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Report> reports_;
  bool woken_ = false;
};

}  // namespace muster
