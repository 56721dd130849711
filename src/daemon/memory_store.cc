#include "daemon/memory_store.h"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

template <typename Map>
auto values(const Map& map) {
  std::vector<typename Map::mapped_type> list;
  list.reserve(map.size());
  for (const auto& [key, value] : map) list.push_back(value);
  return list;
}

void write(const Batch& batch, MemoryDisk& disk) {
  for (const StoredJob& job : batch.jobs) disk.jobs[job.id] = job;
  for (const StoredRun& run : batch.runs) disk.runs[run.run] = run;
  for (const StoredNode& node : batch.nodes) disk.nodes[node.id] = node;
  for (const StoredUser& user : batch.users) disk.users[user.name] = user;
  for (const StoredDecision& decision : batch.decisions) {
    disk.decisions[decision.sequence] = decision;
    disk.next_decision = std::max(disk.next_decision, decision.sequence + 1);
  }
  for (const auto& [key, value] : batch.notes) disk.notes[key] = value;
  for (const JobId job : batch.forgotten_jobs) {
    disk.jobs.erase(job);
    std::erase_if(disk.runs, [&](const auto& entry) { return entry.first.job == job; });
    std::erase_if(disk.decisions, [&](const auto& entry) { return entry.second.job == job; });
  }
  for (const RunId run : batch.forgotten_runs) disk.runs.erase(run);
  for (const std::string& user : batch.forgotten_users) disk.users.erase(user);
}

}  // namespace

MemoryStore::MemoryStore(std::shared_ptr<MemoryDisk> disk) : disk_(std::move(disk)) {
  ++disk_->generation;
}

Status MemoryStore::commit(std::span<const Batch> batches) {
  if (crashed_) return Error{"the daemon has crashed"};
  const bool crash = disk_->commits_to_crash == 0;
  if (disk_->commits_to_crash >= 0) --disk_->commits_to_crash;
  crashed_ = crash;
  if (crash && !disk_->crash_after) return Error{"the daemon crashed before the commit"};
  if (disk_->full) return Error{"the disk is full; nothing was changed"};
  for (const Batch& batch : batches) write(batch, *disk_);
  ++disk_->commits;
  if (crash) return Error{"the daemon crashed after the commit"};
  return Done{};
}

Result<StoredWorld> MemoryStore::load() {
  if (crashed_) return Error{"the daemon has crashed"};
  StoredWorld world;
  world.generation = disk_->generation;
  world.next_decision = disk_->next_decision;
  world.notes = disk_->notes;
  world.jobs = values(disk_->jobs);
  world.runs = values(disk_->runs);
  world.nodes = values(disk_->nodes);
  world.users = values(disk_->users);
  return world;
}

Result<std::vector<StoredDecision>> MemoryStore::decisions(JobId job) {
  if (crashed_) return Error{"the daemon has crashed"};
  std::vector<StoredDecision> found;
  for (const auto& [sequence, decision] : disk_->decisions) {
    if (decision.job == job) found.push_back(decision);
  }
  return found;
}

}  // namespace muster
