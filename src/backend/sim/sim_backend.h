// The simulated cluster: jobs progress as the performance model says, restarts cost time, nodes
// fail and return from a seed, and scheduled nodes come and go. Time jumps.
#pragma once

#include <memory>
#include <queue>
#include <vector>

#include "backend/sim/lease_book.h"
#include "backend/sim/node_life.h"
#include "backend/sim/progress_rule.h"
#include "base/archive.h"
#include "engine/backend.h"
#include "perf/restart_cost.h"

namespace muster {

class SimBackend final : public Backend, public Checkpointable {
 public:
  SimBackend(std::shared_ptr<const ClusterSpec> cluster, std::shared_ptr<const PerfModel> perf,
             std::shared_ptr<const RestartCost> cost, const FailureOptions& failures = {},
             const ProgressRule& rule = {});

  JobProgress act(const Command& command, Seconds now) override;
  Seconds advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) override;
  Seconds next_event() override;
  std::unique_ptr<Backend> fork() const override;
  bool checkpoint(Archive& archive) override;

 private:
  struct Completion {
    Seconds time;
    JobId job;
    Slot slot;
    std::uint32_t run;  // of the slot, when this was foreseen; an older number is stale
    friend bool operator>(const Completion& a, const Completion& b) {
      return a.time != b.time ? a.time > b.time : a.job > b.job;
    }
  };

  // What a checkpoint taken every interval since the start of the run would hold.
  double saved_by(const Job& job, Seconds now) const;
  JobProgress stop(const Command& command, Seconds now);
  double rate_of(const Command& command) const;
  // Work done by now, and whether the clock counts down whole ticks.
  double work_by(const Command& command, Seconds now);
  // The same with work handed out in leases.
  JobProgress act_with_leases(const Command& command, Seconds now);
  Seconds advance_with_leases(Seconds until, std::vector<JobEvent>& events);
  Seconds cost_of(const Command& command) const;
  void foresee(const Command& command, const JobProgress& progress, Seconds now);
  void forget(Slot slot);
  void drop_stale();
  void push(const Completion& completion);
  void pop();

  std::shared_ptr<const ClusterSpec> cluster_;
  std::shared_ptr<const PerfModel> perf_;
  std::shared_ptr<const RestartCost> cost_;
  NodeLife nodes_;
  ProgressRule rule_;
  LeaseBook leases_;
  std::vector<Countdown> countdown_;  // by slot; only where the rule counts down
  std::vector<Completion> heap_;
  std::vector<std::uint32_t> run_;  // by slot
  std::vector<char> running_;       // by slot
  std::size_t live_ = 0;            // entries of the heap that are not stale
  Seconds now_ = 0;
};

}  // namespace muster
