// `muster serve --executor slurm --shadow`: beside Slurm's own scheduler, says what we would do and
// what that would gain, and touches nothing (shadow_book.h).
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backend/live/mailbox.h"
#include "backend/slurm/shadow_book.h"
#include "backend/slurm/slurm_executor.h"

namespace muster {

class SlurmShadow final : public Executor {
 public:
  SlurmShadow(SlurmAccess access, Mailbox& mailbox, std::function<void(const std::string&)> say);
  ~SlurmShadow() override;

  Abilities abilities() const override;
  void prepare(const RunOrder& order) override;
  void go(RunId run) override;
  void stop(RunId run, Grace grace) override;
  void census(std::uint64_t number) override;
  void acknowledge(RunId run) override;

 private:
  void later(std::function<void()> work);
  void work();
  void look();

  std::unique_ptr<SlurmControl> control_;
  std::function<void(const std::string&)> say_;
  ShadowBook book_;  // of the thread alone
  std::string trouble_;
  std::string told_gain_;
  double look_at_ = 0;
  double tell_at_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::function<void()>> todo_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace muster
