// Answers questions that take longer than a request may: one thread works through them, so that
// neither decisions nor submissions wait.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace muster {

class Questions {
 public:
  // Says whether there is still time for the answer.
  using KeepGoing = std::function<bool()>;
  using Work = std::function<void(const KeepGoing& keep_going)>;

  explicit Questions(std::chrono::milliseconds limit)
      : limit_(limit), thread_([this] { work(); }) {}
  // Drops those that wait.
  ~Questions();
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;

  // From any thread; the limit counts from when it is taken up. False: too many wait already.
  bool ask(Work work);

 private:
  void work();

  const std::chrono::milliseconds limit_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Work> waiting_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace muster
