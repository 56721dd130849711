// Work in leases: at each turn every running job gets whole training steps, as many as it can do in
// a round. It idles from their end to the next turn, which comes when the last job has done its
// steps. Jobs that share GPUs end their leases together.
#pragma once

#include <vector>

#include "base/archive.h"
#include "engine/backend.h"

namespace muster {

struct LeaseRule {
  Seconds length = 0;  // of a lease
  // A job with fewer steps left than it has GPUs fails instead of doing them, as published.
  bool step_per_gpu = false;
};

class LeaseBook {
 public:
  explicit LeaseBook(const LeaseRule& rule) : rule_(rule) {}
  bool runs(Slot slot) const { return position_of(slot) != kNowhere; }

  // A job starts, moves, is resized or gets other neighbours; `cost` seconds pass before it works.
  void run(const Command& command, double step_rate, Seconds cost);
  void stop(Slot slot);
  // Work done in finished leases, in the unit of the job's total work.
  double work_of(Slot slot) const;

  // Gives a lease to every running job that has none.
  void give(Seconds now);
  // When the last lease ends; kNever if no job runs.
  Seconds end() const;
  // The node, or one GPU of it (-1: all), is gone at `at`: leases that end later there are lost.
  void lose(NodeId node, int gpu, Seconds at);
  // Ends all leases and appends what became of them, by time.
  void settle(std::vector<JobEvent>& events);

  void checkpoint(Archive& archive);

 private:
  struct Entry {
    JobId job = kNoJob;
    Slot slot = kNoSlot;
    GpuSet gpus;
    std::vector<JobId> co_located;
    double total = 0;  // steps in all
    double done = 0;   // in finished leases
    double unit = 1;   // work per step
    double rate = 0;   // steps per second
    Seconds cost = 0;  // before the next lease begins to work
    double steps = 0;  // of the present lease
    Seconds end = 0;
    int gpu_count = 1;
    bool leased = false;
    bool lost = false;
  };
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
  std::size_t position_of(Slot slot) const {
    return index(slot) < where_.size() ? where_[index(slot)] : kNowhere;
  }
  // How much there is to do.
  static void measure(Entry& entry, const Job& job);
  void remove(std::size_t position);
  bool too_few(const Entry& entry) const;

  LeaseRule rule_;
  std::vector<Entry> running_;
  std::vector<std::size_t> where_;  // by slot: its position above
  std::vector<double> done_;        // by slot: steps of jobs that wait
  std::vector<JobId> owner_;        // by slot: whose steps those are
};

}  // namespace muster
