// Launches as jobs of a Slurm cluster: Slurm launches, accounts and notices failures; we say what
// runs where. One thread asks and tells it everything (slurm_desk.h).
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/live/mailbox.h"
#include "backend/slurm/slurm_desk.h"

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

class SlurmExecutor final : public Executor {
 public:
  // `state` is the daemon's folder. Asks Slurm once before it returns, so that nodes that are down
  // are known before anything is decided.
  static Result<std::unique_ptr<SlurmExecutor>> make(SlurmAccess access,
                                                     const std::filesystem::path& state,
                                                     Mailbox& mailbox,
                                                     std::function<void(const std::string&)> say);
  // Leaves everything running.
  ~SlurmExecutor() override;

  Abilities abilities() const override;
  void prepare(const RunOrder& order) override;
  void go(RunId run) override;
  void stop(RunId run, Grace grace) override;
  void census(std::uint64_t number) override;
  void acknowledge(RunId run) override;
  void over(JobId job, const std::string& origin, bool taken_back) override;

 private:
  SlurmExecutor(SlurmAccess access, SlurmSettings settings, Mailbox& mailbox);
  // Has the thread do it.
  void later(std::function<void()> work);
  void work();

  std::unique_ptr<SlurmControl> control_;
  SlurmDesk desk_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::function<void()>> todo_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace muster
