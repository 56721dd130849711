// Group commit: one thread writes the batches of many. While the disk is busy with a commit the
// next batches collect, and all of them go to the disk together. Each batch's callback is called
// when it is durable.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "daemon/store.h"

namespace muster {

class Committer {
 public:
  using Told = std::function<void(const Status&)>;

  explicit Committer(Store& store);
  // Commits what is still queued.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // From any thread; batches are committed in the order in which they come. `told` is called from
  // the committer's thread. A failure is told to all batches of the group: none is on the disk.
  void submit(Batch batch, Told told);
  // The same, and waits.
  Status commit(Batch batch);
  // What the store holds after everything that was submitted so far; waits.
  Result<StoredWorld> load();
  Result<std::vector<StoredDecision>> decisions(JobId job);

 private:
  // Has the thread look into the store, after the commits before it.
  void look(std::function<void(Store&)> work);
  void work();

  Store& store_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Batch> batches_;
  std::vector<Told> told_;
  std::vector<std::function<void(Store&)>> looks_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace muster
