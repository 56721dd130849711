// Questions to a state: when will a job start and end, and what would another policy, more nodes,
// drained nodes or one more job change?
//
// The state is a world (engine/world.h) of a saved run or of a running engine. Copies of it are
// simulated without new jobs: once as believed, and several times with the lengths of jobs drawn
// from the error model of the estimates. The policies in a copy know no more than the real ones:
// they see beliefs, and overruns when they happen.
//
// If the engine itself is available, copies are forks of it, and its policies keep their state. If
// there is only a world, or the question is about other policies or more nodes, policies start
// without state in each copy, but with the accounts of the jobs. Orders (fifo, srtf, las and so on)
// need no state of their own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/sim/life.h"
#include "engine/engine.h"
#include "engine/world.h"
#include "perf/restart_cost.h"
#include "workload/error_models.h"

namespace muster {

// What a copy of the state runs with.
struct OutlookParts {
  std::shared_ptr<const ClusterSpec> cluster;
  std::shared_ptr<const PerfModel> perf;
  std::shared_ptr<const RestartCost> cost = std::make_shared<const RestartCost>();
  std::shared_ptr<const Pacing> pacing;  // cloned for each copy
  // Likewise; these must not have decided anything yet. Several policy sets need a selector.
  std::vector<std::shared_ptr<const PolicySet>> policy_sets;
  std::size_t active = 0;                    // the set that rules now, where there is no `running`
  std::shared_ptr<const Selector> selector;  // may be null
  std::shared_ptr<const ScalingPolicy> scaling;  // likewise
  // Between two turns, in the state of the world that is asked about; null: there is only a world.
  std::shared_ptr<const Engine> running;
  std::shared_ptr<const Forecast> forecast;  // may be null
  std::shared_ptr<const PriceBook> prices;   // likewise
  std::vector<Symbol> metrics;               // of jobs, that policies see
  std::vector<std::string> metric_names;     // the same as texts
  // What orders meet in copies: the mean of each time, and no failures. Those that were on the way
  // to their GPUs or off them have arrived, unless `backend` is there.
  LifeOptions life;
  // That of `running`, where it simulates this life: launches on the way go on in a fork of it.
  std::shared_ptr<const Backend> backend;
  EngineOptions options;
  // Jobs of the world from this number on have not come yet: they do at once, like any new job.
  JobId newcomers_from = kNoJob;
};

struct OutlookOptions {
  // Futures drawn to find the ranges. The least and the largest of 9 numbers have 8 in 10 of all
  // others between them, on average; more numbers make the ends of the range steadier, not wider.
  int samples = 9;
  // How wrong beliefs are, for one sample: null where they are taken for true.
  std::function<std::unique_ptr<ErrorModel>(int sample)> errors;
  Seconds horizon = kNever;      // copies are not simulated beyond this
  unsigned threads = 0;          // that copies run in; 0: as many as the machine has
  std::vector<JobId> starts_of;  // only the next starts of these matter; empty: starts and ends
  // Asked between two turns of a copy, in any thread; false: the answer is not wanted any more.
  std::function<bool()> keep_going;
};

// A moment: as believed, and the span in which it lies in 8 of 10 futures. kNever: none is
// predicted.
struct Expected {
  Seconds believed = kNever;
  Seconds early = kNever;
  Seconds late = kNever;
};

struct JobOutlook {
  JobId id{};
  std::string name;
  JobState state = JobState::kQueued;  // now
  int gpus = 0;
  Seconds submit = 0;
  Expected start;  // of a job that has run: when it first did
  Expected end;
  // As believed: the jobs that wait now start in this order; 0: it does not start.
  std::size_t turn = 0;
  Reason refused = Reason::kNone;  // as believed: why it is refused on arrival
  bool stuck = false;              // as believed: it waits for what no present job will free
};

struct Outlook {
  Seconds now = 0;
  std::vector<JobOutlook> jobs;  // all that are there, by number
  Expected completion_time;      // mean over those that finish, from submission
  Expected last_end;             // when the last of them ends
  int unfinished = 0;            // as believed: never start, never end, or not within the horizon
  int nodes_out = 0;             // now: down or drained
  std::vector<std::vector<Seconds>> drawn_ends;  // of the jobs, in each of the drawn futures
};

// The mean completion time of those of its jobs that are counted (by place), in every future over
// those that finish.
Expected mean_completion(const Outlook& outlook, const std::vector<bool>& counted);

// Lets the world run on. The error says what is wrong with the world.
Result<Outlook> look_out(const EngineWorld& world, const OutlookParts& parts,
                         const OutlookOptions& options);

}  // namespace muster
