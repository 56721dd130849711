// The simulated cluster: jobs progress as the performance model says, restarts cost time, nodes
// fail and return from a seed, and scheduled nodes come and go. Time jumps.
#pragma once

#include <memory>
#include <queue>
#include <vector>

#include "backend/sim/node_life.h"
#include "backend/sim/progress_model.h"
#include "backend/sim/progress_table.h"
#include "base/archive.h"
#include "engine/backend.h"
#include "perf/restart_cost.h"

namespace muster {

class SimBackend final : public Backend {
 public:
  // Without a progress model, progress is continuous.
  explicit SimBackend(SimParts parts, std::unique_ptr<ProgressModel> model = nullptr);

  // The clock shows this from now on, for one that takes over a run in the middle.
  void begin_at(Seconds now) { now_ = now; }
  JobProgress act(const Command& command, Seconds now) override;
  Seconds advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) override;
  Seconds next_event() override;
  std::unique_ptr<Backend> fork() const override { return copy(); }
  std::unique_ptr<SimBackend> copy() const;
  bool checkpoint(Archive& archive) override;
  // When the job that runs here will be done, as things stand; kNever: no job runs, or it will not
  // end.
  Seconds end_of(Slot slot) const;
  // What a checkpoint taken every interval since the start of the run would hold.
  double saved_by(const Job& job, Seconds now) const;
  // Seconds until the job works after this command.
  Seconds delay_of(const Command& command) const;

 private:
  bool runs(Slot slot) const { return index(slot) < running_.size() && running_[index(slot)] != 0; }
  struct Completion {
    Seconds time;
    JobId job;
    Slot slot;
    std::uint32_t run;  // of the slot, when this was foreseen; an older number is stale
    friend bool operator>(const Completion& a, const Completion& b) {
      return a.time != b.time ? a.time > b.time : a.job > b.job;
    }
  };

  JobProgress stop(const Command& command, Seconds now);
  double rate_of(const Command& command) const;
  bool stops_add_work() const { return model_ != nullptr && model_->stops_add_work(); }
  double work_by(const Command& command, Seconds now) const;
  void foresee(const Command& command, const JobProgress& progress, Seconds now);
  void forget(Slot slot);
  void drop_stale();
  void push(const Completion& completion);
  void pop();

  std::shared_ptr<const ClusterSpec> cluster_;
  std::shared_ptr<const PerfModel> perf_;
  std::shared_ptr<const RestartCost> cost_;
  NodeLife nodes_;
  std::shared_ptr<ProgressModel> model_;  // null: continuous; a fork has one of its own
  std::vector<Completion> heap_;
  std::vector<std::uint32_t> run_;  // by slot
  std::vector<char> running_;       // by slot
  std::size_t live_ = 0;            // entries of the heap that are not stale
  Seconds now_ = 0;
};

}  // namespace muster
