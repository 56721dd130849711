#include "daemon/questions.h"

#include <utility>

namespace muster {
namespace {

constexpr std::size_t kMostWaiting = 100;

}  // namespace

Questions::~Questions() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_all();
  thread_.join();
}

bool Questions::ask(Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMostWaiting) return false;
    waiting_.push_back(std::move(work));
  }
  arrived_.notify_all();
  return true;
}

void Questions::work() {
  while (true) {
    Work next;
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
      if (ending_) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    const auto until = std::chrono::steady_clock::now() + limit_;
    next([this, until] { return !ending_ && std::chrono::steady_clock::now() < until; });
  }
}

}  // namespace muster
