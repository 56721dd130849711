// Launches as jobs of a Slurm cluster: Slurm launches, accounts and notices failures; we say what
// runs where. One thread asks and tells it everything (slurm_desk.h).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "backend/live/mailbox.h"
#include "backend/slurm/slurm_desk.h"
#include "backend/slurm/slurm_thread.h"

namespace muster {

// Slurm as it was found when the daemon began.
struct SlurmAccess {
  std::unique_ptr<SlurmControl> control;
  SlurmCluster cluster;
  std::vector<std::string> partitions;
};
// Finds the programs, what they can do, and the nodes of the partitions. `notes` are for an
// operator.
Result<SlurmAccess> find_slurm(const std::vector<std::string>& partitions,
                               std::vector<std::string>& notes);

// Its end leaves everything running.
class SlurmExecutor final : public Executor {
 public:
  // `state` is the daemon's folder. Asks Slurm once before it returns, so that nodes that are down
  // are known before anything is decided.
  static Result<std::unique_ptr<SlurmExecutor>> make(SlurmAccess access,
                                                     const std::filesystem::path& state,
                                                     Mailbox& mailbox,
                                                     std::function<void(const std::string&)> say);

  Abilities abilities() const override;
  void prepare(const RunOrder& order) override;
  void go(RunId run) override;
  void stop(RunId run, Grace grace) override;
  void shrink(RunId run, Grace grace, const RunOrder& next) override;
  void census(std::uint64_t number) override;
  void acknowledge(RunId run) override;
  void over(JobId job, const std::string& origin, bool taken_back) override;

 private:
  SlurmExecutor(SlurmAccess access, SlurmSettings settings, Mailbox& mailbox);
  std::unique_ptr<SlurmControl> control_;
  SlurmDesk desk_;
  SlurmThread thread_;  // last: it ends before what it uses
};

}  // namespace muster
