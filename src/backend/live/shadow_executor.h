// Simulated launches: each is reported to start at once and to run for its believed duration. A
// daemon with this executor decides, says what it would have done, and changes nothing.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "backend/live/mailbox.h"

namespace muster {

class ShadowExecutor final : public Executor {
 public:
  // `say` is called with what would have been done.
  ShadowExecutor(Mailbox& mailbox, std::function<void(const std::string&)> say);
  ~ShadowExecutor() override;

  Abilities abilities() const override { return {}; }
  void prepare(const RunOrder& order) override;
  void go(RunId run) override;
  void stop(RunId run, Grace grace) override;
  void census(std::uint64_t number) override;
  void acknowledge(RunId run) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Pretended {
    double seconds = 0;
    Clock::time_point ends = Clock::time_point::max();
    bool started = false;
  };

  void tell(RunId run, RunEvent event, RunOutcome outcome = RunOutcome::kStopped);
  void work();

  Mailbox& mailbox_;
  std::function<void(const std::string&)> say_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<RunId, Pretended> runs_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace muster
