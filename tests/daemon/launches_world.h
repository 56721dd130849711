// A machine's world around the launches of a daemon alone: a daemon that crashes before and after
// commits, a disk that fills up, and a scheduler without wisdom.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "daemon/machine_world.h"
#include "daemon/memory_store.h"

namespace muster {

class LaunchesWorld final : public MachineWorld {
 public:
  LaunchesWorld(std::uint64_t seed, WorldFaults faults);
  // Lets the world go on until all jobs are finished or `limit` is reached.
  void run(Seconds limit) {
    happen(limit, [this] { return all_finished(); });
  }

  bool all_finished() const;
  int crashes() const { return crashes_; }

 private:
  void begin_daemon();
  void second();  // one tick: time passes, the disk is tried, decisions are made
  void decide();
  void settle();  // commits and acts
  void daemon_heard(const RunReport& report, int life) override;
  void daemon_counted(const std::vector<RunReport>& seen, std::uint64_t number) override;

  std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
  std::unique_ptr<MemoryStore> store_;
  std::unique_ptr<Launches> daemon_;
  std::map<JobId, StoredJob> jobs_;  // the daemon's, as committed or about to be
  std::set<JobId> changed_;
  LaunchEffects held_;  // waits for the commit
  std::map<RunId, StoredRun> rows_;
  std::uint64_t census_ = 0;
  int crashes_ = 0;
};

}  // namespace muster
