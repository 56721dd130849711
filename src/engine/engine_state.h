// Everything that an engine knows and its parts do not. It is one value: copied to fork a run,
// written to save it, and filled in to adopt a world. Data that is not in here is scratch of one
// turn.
#pragma once

#include <memory>
#include <vector>

#include "base/archive.h"
#include "engine/overruns.h"
#include "model/cluster_state.h"
#include "model/decision.h"
#include "model/job_metrics.h"
#include "model/job_table.h"

namespace muster {

// A job whose start failed, and when it may be tried again.
struct BackOff {
  Seconds until = 0;
  Slot slot = kNoSlot;
};

struct EngineState {
  explicit EngineState(std::shared_ptr<const ClusterSpec> spec) : cluster(std::move(spec)) {}

  JobTable jobs;
  ClusterState cluster;
  std::vector<Slot> held;     // waiting for admission, in order of arrival
  std::vector<Slot> on_hold;  // taken out of the queue by a person, until a person puts them back
  std::vector<BackOff> back_offs;
  std::vector<NodeId> removed;   // nodes that a person took away for good
  std::vector<double> cost;      // by slot: dollars for what the job held; only with prices
  std::vector<int> used_before;  // by pool, after the turn before; only with prices
  Overruns overruns;
  JobMetrics metrics;
  Decision last_block;
  Seconds now = 0;
  Seconds turned = 0;      // time of the last turn
  Seconds next = 0;        // of the next
  Seconds wake = kNever;   // when a policy wants to be asked again though nothing happened
  std::size_t active = 0;  // the policy set that is in use
  long long demanded = 0;  // GPUs asked for by admitted jobs
  long long turns = 0;
  long long left = 0;
  long long tracked_left = 0;
  std::uint32_t next_id = 0;
  std::uint32_t starts = 0;  // of all jobs: the order in which jobs that share GPUs came
  int running = 0;
  int opportunistic = 0;   // of those that run
  int stalled_events = 0;  // since a job last ran or came
  int stalled_turns = 0;
  bool changed =
      true;  // something happened that a policy that is stable between events must answer
  bool undecided = false;  // likewise, since the last turn; not what that turn itself has stopped
  bool rescaled = false;   // nodes were powered up or down in the last turn
  bool started = false;    // the first turn has taken place
  bool over = false;
};

// The form is a part of that of saved runs: see docs/engine.md.
void checkpoint(Archive& archive, EngineState& state);

}  // namespace muster
