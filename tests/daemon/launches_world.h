// A world around the launches of a daemon: a virtual clock, an executor with runs that take time,
// words that are lost, repeated, delayed and overtake each other, a daemon that crashes before and
// after commits, a disk that fills up. All of it follows from a seed.
//
// The oracles know only the executor's side: no GPU is used twice, no job runs twice, none runs
// again after it has finished, and in the end all have.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "daemon/launches.h"
#include "daemon/memory_store.h"

namespace muster {

struct WorldFaults {
  double lost = 0;       // chance that a word is lost
  double repeated = 0;   // that it comes twice
  double delay = 0;      // longest way of a word, in seconds
  double crash = 0;      // chance per commit
  double full_disk = 0;  // chance per second that the disk fills up for a while
  double start_fails = 0;
  Seconds until = 0;  // after that nothing goes wrong any more
};

class LaunchesWorld {
 public:
  LaunchesWorld(std::uint64_t seed, WorldFaults faults);
  // Lets the world go on until all jobs are finished or `limit` is reached.
  void run(Seconds limit);

  bool all_finished() const;
  const std::vector<std::string>& violations() const { return violations_; }
  int crashes() const { return crashes_; }
  int launches() const { return started_; }

 private:
  struct Placed {  // a run as the executor knows it
    GpuSet gpus;
    Sharing sharing = Sharing::kExclusive;
    bool running = false;
    bool stopping = false;
    bool over = false;
    bool started = false;
    Seconds since = 0;
    RunOutcome outcome = RunOutcome::kStopped;
  };
  struct Happening {
    Seconds time = 0;
    std::uint64_t order = 0;
    std::function<void()> what;
    bool operator<(const Happening& other) const {
      return std::tie(time, order) > std::tie(other.time, other.order);
    }
  };

  void at(Seconds time, std::function<void()> what);
  // Over the network: lost, late, or twice.
  void send(const std::function<void()>& what);
  bool faulty(double chance) { return now_ < faults_.until && random_.chance(chance); }

  // The executor's side.
  // Whether a word of a daemon is still worth anything: those of earlier ones are refused.
  bool from_the_latest(int life);
  void carry_out(const LaunchCall& call, const StoredRun& row);
  void prepare(const StoredRun& row);
  void go(RunId run);
  void stop(RunId run, Seconds grace);
  void finish(RunId run, RunOutcome outcome);
  void forget(RunId run);
  void tell(RunId run, RunEvent event);
  void tell_end(RunId run);
  void census(std::uint64_t number);
  void check(RunId run);

  // The daemon's side.
  void begin_daemon();
  void second();  // one tick: time passes, the disk is tried, decisions are made
  void decide();
  void settle();  // commits and acts
  void daemon_heard(const RunReport& report, int life);

  Random random_;
  WorldFaults faults_;
  Seconds now_ = 0;
  std::uint64_t order_ = 0;
  std::priority_queue<Happening> happenings_;
  std::vector<std::string> violations_;

  std::map<RunId, Placed> placed_;
  int heard_life_ = 0;                 // the latest daemon that the executor has heard of
  std::set<RunId> refused_;            // stopped before their order came
  std::map<JobId, double> work_left_;  // physical, at the last checkpoint
  std::set<JobId> done_;

  std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
  std::unique_ptr<MemoryStore> store_;
  std::unique_ptr<Launches> daemon_;
  std::map<JobId, StoredJob> jobs_;  // the daemon's, as committed or about to be
  std::set<JobId> changed_;
  LaunchEffects held_;  // waits for the commit
  std::map<RunId, StoredRun> rows_;
  std::uint64_t census_ = 0;
  int life_ = 0;
  int crashes_ = 0;
  int started_ = 0;
};

}  // namespace muster
