// `muster serve --executor slurm --shadow`: beside Slurm's own scheduler, says what we would do and
// what that would gain, and touches nothing (shadow_book.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
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
  void look();

  std::unique_ptr<SlurmControl> control_;
  std::function<void(const std::string&)> say_;
  ShadowBook book_;  // of the thread alone
  std::string trouble_;
  std::string told_gain_;
  double look_at_ = 0;
  double tell_at_ = 0;
  SlurmThread thread_;
};

}  // namespace muster
