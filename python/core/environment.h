// Scheduling as a game of one player: at each decision the player picks one of the first waiting
// jobs to start, or waits for something to happen. The environment of muster.env (Gymnasium).
//
// A decision costs no turn of the engine: picks are collected while another job would still fit,
// and carried out together `latency` seconds later. The reward is minus the time that jobs spend in
// the system, so that its sum over an episode is minus the sum of completion times.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/busy.h"
#include "run/assembly/simulation.h"

namespace muster::python {

struct EnvironmentOptions {
  std::size_t window = 16;  // waiting jobs that can be seen and picked
  Seconds latency = 1;
  bool lengths = true;  // the durations of jobs can be seen (their estimates, where there are some)
  double reward_scale = 1;
};

// What the player decided, shared with the policy that carries it out.
struct Picks {
  std::vector<Slot> jobs;
  Seconds latency = 1;
  bool rests = false;  // the player waits until something happens
  bool open = false;   // there is something to decide
};

class Environment {
 public:
  static constexpr std::size_t kJobFeatures = 5;
  static constexpr std::size_t kClusterFeatures = 4;

  // `config` is complete but for the seed; `jobs`, if given, are those of every episode.
  Environment(RunConfig config, std::shared_ptr<const SharedJobs> jobs, EnvironmentOptions options);

  std::size_t features() const { return options_.window * kJobFeatures + kClusterFeatures; }
  std::size_t window() const { return options_.window; }

  // A new episode, up to its first decision. `keep_going` is asked now and then while its jobs are
  // drawn; no ends it with an error.
  void reset(long long seed, const std::function<bool()>& keep_going);
  struct Step {
    double reward = 0;
    bool over = false;
  };
  // Picks the waiting job at that place, or waits if there is none or it does not fit.
  Step step(std::size_t action);
  // What no agent may answer: neither a place in the window nor `window`, which waits.
  void check(long long action) const;
  void observe(float* features) const;
  // Whether each action means something now.
  void mask(char* actions) const;

  bool over() const { return over_; }
  Seconds now() const { return started().now(); }
  RunSummary summary() const {
    started();
    return fold_->summary();
  }
  Busy& busy() { return busy_; }

 private:
  class PickPolicy;
  class PickLoader;

  void look();   // finds out what can be seen and picked
  bool turn();   // one turn, with its reward; false: the episode is over
  void go_on();  // to the next decision
  bool decides() const;
  const Engine& started() const;  // there is an episode, or it raises

  RunConfig config_;
  std::shared_ptr<const SharedJobs> jobs_;
  EnvironmentOptions options_;
  std::shared_ptr<Picks> picks_;
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<MetricsFold> fold_;
  std::unique_ptr<Execution> execution_;
  Engine* engine_ = nullptr;
  std::vector<Slot> seen_;  // the first waiting jobs that are not picked yet
  int free_ = 0;            // GPUs that the picks leave
  int gpus_ = 1;            // of the cluster
  double reward_ = 0;
  bool over_ = true;
  Busy busy_;
};

}  // namespace muster::python
