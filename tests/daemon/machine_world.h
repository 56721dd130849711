// A machine on which launches run, as executors see it, in a world with a virtual clock: words are
// lost, repeated, delayed and overtake each other, runs take time and fail. All of it follows from
// a seed. What a daemon does in this world is said by those who derive from it.
//
// The oracles know only the machine: no GPU is used twice, no job runs twice, none runs again after
// it has finished.
#pragma once

#include <functional>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "daemon/launches.h"

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

class MachineWorld {
 public:
  virtual ~MachineWorld() = default;
  const std::vector<std::string>& violations() const { return violations_; }
  int launches() const { return started_; }

 protected:
  MachineWorld(std::uint64_t seed, const char* purpose, WorldFaults faults)
      : random_(seed, purpose), faults_(faults) {}

  struct Placed {  // a run as the machine knows it
    GpuSet gpus;
    Sharing sharing = Sharing::kExclusive;
    bool running = false;
    bool stopping = false;
    bool over = false;
    bool started = false;
    Seconds since = 0;
    RunOutcome outcome = RunOutcome::kStopped;
  };

  // What the daemon of this world does with words that reach it. `life` is that of the daemon to
  // which they were sent.
  virtual void daemon_heard(const RunReport& report, int life) = 0;
  virtual void daemon_counted(const std::vector<RunReport>& seen, std::uint64_t number) = 0;

  // Lets happenings happen, in order, until `limit` or until nothing is left or `done` says so.
  void happen(Seconds limit, const std::function<bool()>& done);
  void at(Seconds time, std::function<void()> what);
  // Over the network: lost, late, or twice.
  void send(const std::function<void()>& what);
  bool faulty(double chance) { return now_ < faults_.until && random_.chance(chance); }
  bool nothing_runs() const;

  // Whether a word of a daemon is still worth anything: those of earlier ones are refused.
  bool from_the_latest(int life);
  void carry_out(const LaunchCall& call, const GpuSet& gpus, Sharing sharing);
  void census(std::uint64_t number);
  void forget(RunId run);

  Random random_;
  WorldFaults faults_;
  Seconds now_ = 0;
  int life_ = 0;  // of the daemon
  std::vector<std::string> violations_;
  std::map<JobId, double> work_left_;  // physical, at the last checkpoint
  std::set<JobId> done_;
  std::set<RunId> joined_;  // the daemon has put others beside them

 private:
  struct Happening {
    Seconds time = 0;
    std::uint64_t order = 0;
    std::function<void()> what;
    bool operator<(const Happening& other) const {
      return std::tie(time, order) > std::tie(other.time, other.order);
    }
  };

  void prepare(RunId run, const GpuSet& gpus, Sharing sharing);
  bool shares(RunId run, const Placed& placed) const;
  void go(RunId run);
  void stop(RunId run, Seconds grace);
  void finish(RunId run, RunOutcome outcome);
  void tell(RunId run, RunEvent event);
  void tell_end(RunId run);
  void check(RunId run);

  std::uint64_t order_ = 0;
  std::priority_queue<Happening> happenings_;
  std::map<RunId, Placed> placed_;
  int heard_life_ = 0;       // the latest daemon that the machine has heard of
  std::set<RunId> refused_;  // stopped before their order came
  int started_ = 0;
};

}  // namespace muster
