#include "backend/slurm/slurm_thread.h"

#include <chrono>
#include <utility>

namespace muster {

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void SlurmThread::begin(std::function<double()> wait, std::function<void(bool)> between) {
  wait_ = std::move(wait);
  between_ = std::move(between);
  thread_ = std::thread([this] { work(); });
}

void SlurmThread::later(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    todo_.push_back(std::move(work));
  }
  wake_.notify_one();
}

void SlurmThread::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void SlurmThread::work() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const std::chrono::duration<double> wait(wait_());
    wake_.wait_for(lock, wait, [this] { return ending_ || !todo_.empty(); });
    const std::vector<std::function<void()>> todo = std::exchange(todo_, {});
    const bool ending = ending_;
    lock.unlock();
    for (const std::function<void()>& one : todo) one();
    between_(ending);
    lock.lock();
  }
}

}  // namespace muster
