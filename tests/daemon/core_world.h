// A machine's world around the very core of the daemon: the engine with a real policy, launches and
// accounts. People submit, cancel, hold and release; the daemon crashes before and after any
// commit; the disk fills up.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "daemon/core.h"
#include "daemon/machine_world.h"
#include "daemon/memory_store.h"

namespace muster {

struct CoreWorldPlan {
  std::string scheduling = "fifo";
  std::string placement = "consolidated";
  std::string pacing = "events";
  int nodes = 2;
  int gpus = 4;
  int jobs = 10;
  bool changes = true;  // people change their minds
  int profiled = 0;     // GPUs of the last node that are a profiler's
  int least_priority = 0;
};

class CoreWorld final : public MachineWorld {
 public:
  CoreWorld(std::uint64_t seed, WorldFaults faults, CoreWorldPlan plan);
  void run(Seconds limit) {
    happen(limit, [this] { return all_left(); });
  }
  // All that were accepted have left, and nothing runs.
  bool all_left() const;
  int crashes() const { return crashes_; }
  // What of the jobs is not as it should be; empty: nothing.
  std::string complaint() const;

 private:
  LivePlan make_plan() const;
  void begin_daemon();
  void crash();
  void second();
  void submit();
  void change();
  void revise(JobId job);
  void check_size(const StoredRun& row);
  void step();
  // False: the daemon has crashed; true with nothing held: it is on the disk.
  void settle();
  Status commit(const Batch& batch);
  void daemon_heard(const RunReport& report, int life) override;
  void daemon_counted(const std::vector<RunReport>& seen, std::uint64_t number) override;

  CoreWorldPlan plan_;
  std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
  std::unique_ptr<MemoryStore> store_;
  std::unique_ptr<Core> core_;
  CoreEffects held_;  // waits for the commit
  bool waiting_ = false;
  std::map<RunId, StoredRun> rows_;
  std::set<JobId> accepted_;
  std::set<JobId> taken_back_;
  std::uint64_t census_ = 0;
  std::uint32_t next_ = 1;
  int crashes_ = 0;
};

}  // namespace muster
