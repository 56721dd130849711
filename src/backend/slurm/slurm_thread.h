// The thread that talks to Slurm: it does what it is told in order, and looks at Slurm when that is
// due. Nobody else waits for Slurm's commands.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace muster {

double wall_clock();  // seconds since 1970

class SlurmThread {
 public:
  SlurmThread() = default;
  ~SlurmThread() { end(); }

  // Both are called on the thread alone: `wait` says for how many seconds nothing is due, and
  // `between(ending)` does what is, after the work that has come in.
  void begin(std::function<double()> wait, std::function<void(bool)> between);
  // Has the thread do it.
  void later(std::function<void()> work);
  // What has come in is done first.
  void end();

 private:
  void work();

  std::function<double()> wait_;
  std::function<void(bool)> between_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::function<void()>> todo_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace muster
