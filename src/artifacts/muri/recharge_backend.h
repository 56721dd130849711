// The simulated cluster of Muri's simulator: every turn acts as a restart of everything that runs.
//
// At each turn every running job is credited with the time since the last one, less its restart
// cost, whether or not it was touched; completions are foreseen without that cost, so the last
// stretch before one is free. Jobs whose completions lie close together end together. Work is
// counted in steps of training. Use it to reproduce published numbers; SimBackend charges a restart
// only to those that restart.
#pragma once

#include <memory>
#include <vector>

#include "backend/sim/progress_table.h"
#include "base/closeness.h"

namespace muster {

struct RechargeOptions {
  // Completions this close to the first one in the policy's order are one event, at its time.
  Closeness completions{1e-9, 0};
  // A completion this close to the end of the stretch (an arrival) takes place there.
  Closeness arrivals{1e-9, 1e-4};
  bool groups_add = false;  // jobs on the same GPUs start one after the other: each pays for all
};

class RechargeBackend final : public Backend {
 public:
  explicit RechargeBackend(SimParts parts, const RechargeOptions& options = {});

  JobProgress act(const Command& command, Seconds now) override;
  Seconds advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) override;
  void planned(const Plan& plan) override;
  Seconds next_event() override;
  std::unique_ptr<Backend> fork() const override;
  bool checkpoint(Archive& archive) override;

 private:
  struct Run {
    JobId job = kNoJob;
    double steps_left = 0;
    double step_time = 0;       // now, with its co-located jobs
    double solo_step_time = 0;  // alone: what its work is measured in
    double total_work = 0;
    Seconds overhead = 0;
    Seconds charge = 0;    // its own part of that,
    int charged_for = -1;  // on so many GPUs
    Seconds last = 0;      // when it was last credited
    std::uint32_t place = kNotRunning;
  };
  static constexpr std::uint32_t kNotRunning = 0xffffffffU;

  double work_of(const Run& run) const;
  void begin(const Command& command, Seconds now);
  void credit(Run& run, Seconds now);
  void remove(Slot slot);
  void foresee();
  void put_in_order(std::vector<Slot>& slots);

  SimParts parts_;
  RechargeOptions options_;
  NodeLife nodes_;
  std::vector<Run> runs_;      // by slot; kept while a job waits
  std::vector<Slot> running_;  // in any order
  std::vector<Slot> order_;    // the policy's, of the last plan
  std::vector<Slot> due_;      // jobs of the next completion
  std::vector<Slot> near_;     // scratch, as are these
  std::vector<Slot> ranked_;
  std::vector<Seconds> ends_;  // as running_
  std::vector<std::uint32_t> stamp_;
  std::uint32_t stamps_ = 0;
  Seconds due_time_ = kNever;
  bool foreseen_ = false;
  Seconds now_ = 0;
};

ProgressInfo recharged_progress();

}  // namespace muster
