// A store whose disk is a value, for tests: it can be full, and the daemon can crash before or
// after any commit. A new MemoryStore on the same disk is the daemon after its restart.
#pragma once

#include <memory>

#include "daemon/store.h"

namespace muster {

struct MemoryDisk {
  // What is on the disk. Maps, so that a batch is applied in the time of its own length.
  std::int64_t generation = 0;
  std::map<std::string, std::string> notes;
  std::map<JobId, StoredJob> jobs;
  std::map<RunId, StoredRun> runs;
  std::map<NodeId, StoredNode> nodes;
  std::map<std::string, StoredUser> users;
  std::map<std::int64_t, StoredDecision> decisions;
  std::int64_t next_decision = 0;

  // Faults to come.
  bool full = false;
  // Commits until the daemon crashes; -1: it does not. The commit at which it happens is on the
  // disk if `crash_after`, and is not acknowledged in either case.
  int commits_to_crash = -1;
  bool crash_after = false;

  std::uint64_t commits = 0;  // that are on the disk
};

class MemoryStore final : public Store {
 public:
  // Begins a new generation.
  explicit MemoryStore(std::shared_ptr<MemoryDisk> disk);

  Status commit(std::span<const Batch> batches) override;
  Result<StoredWorld> load() override;
  Result<std::vector<StoredDecision>> decisions(JobId job) override;

  // Whether this daemon's life is over: all it asks for fails.
  bool crashed() const { return crashed_; }

 private:
  std::shared_ptr<MemoryDisk> disk_;
  bool crashed_ = false;
};

}  // namespace muster
