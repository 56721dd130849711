// Slurm through its own programs: squeue, sinfo, sbatch, scancel and scontrol, the last of which is
// kept. Nothing is linked against, so any release from 21.08 on will do; what this one cannot do
// is found when it is opened.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/slurm/command.h"
#include "backend/slurm/scontrol_line.h"
#include "backend/slurm/slurm_control.h"

namespace muster {

class SlurmCommands final : public SlurmControl {
 public:
  // Asks once for everything that is needed. `notes`: what an operator should know of this release.
  static Result<std::unique_ptr<SlurmCommands>> open(CommandLimits limits,
                                                     std::vector<std::string>& notes);

  Result<SlurmRows<SlurmJob>> jobs() override;
  Result<SlurmRows<SlurmNode>> nodes() override;
  std::vector<Result<std::uint32_t>> submit(
      const std::vector<SlurmSubmission>& submissions) override;
  Status place(std::uint32_t job, const SlurmPlacement& placement) override;
  Status mark(std::uint32_t job, const std::string& text) override;
  Status shrink(std::uint32_t job, const std::vector<std::string>& nodes,
                const std::string& mark) override;
  Status release(std::uint32_t job) override;
  Status hold(std::uint32_t job) override;
  Status requeue_and_hold(std::uint32_t job) override;
  Status signal(std::uint32_t job, const std::string& name) override;
  Status cancel(std::uint32_t job) override;
  Result<double> up_since() override;
  Result<std::vector<SlurmJob>> accounts(std::uint32_t job) override;

 private:
  explicit SlurmCommands(CommandLimits limits) : limits_(limits), line_(limits.seconds) {}
  Result<std::uint32_t> submit_one(const SlurmSubmission& submission) const;
  // Through the scontrol that is kept where the words allow it.
  Status control(const std::vector<std::string>& words);

  CommandLimits limits_;
  ScontrolLine line_;
  bool has_accounts_ = false;
  bool nodes_by_scontrol_ = false;  // later releases: `scontrol --json show nodes`
};

}  // namespace muster
