// A run that is taken turn by turn. Whoever holds it can look at jobs and cluster between turns,
// give the order of a turn instead of the policy, exchange the policy, and fork.
//
// A fork is a copy of the engine's state with clones of its policies, whatever they keep, and with
// a backend and a source of its own that stand where those of the run stand.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "report/metrics.h"
#include "run/assembly/run_story.h"
#include "run/assembly/simulation.h"

namespace muster::python {

class DirectedPolicy;

struct Directions {
  DirectedPolicy* policy = nullptr;  // of the run
  bool given = false;                // the order of the next turn
  std::vector<JobId> order;
  std::shared_ptr<Directions> heir = nullptr;  // of the policy's next clone; null: the same
};

class TurnByTurn {
 public:
  TurnByTurn(RunConfig config, std::shared_ptr<const SharedJobs> jobs);

  // False when the run is over. The order, if one is given, is that of this turn.
  bool turn(const std::vector<JobId>* order = nullptr);
  // From the next turn on.
  void use(const Choice& scheduling);
  std::unique_ptr<TurnByTurn> fork();

  Engine& engine() const { return *engine_; }
  bool over() const { return over_; }
  const RunConfig& config() const { return config_; }
  const Symbols& symbols() const { return simulation_->symbols(); }
  const std::vector<Decision>& decisions() const { return log_->last; }  // of the last turn
  RunSummary summary() const { return fold_->summary(); }

 private:
  struct Log final : Observer {
    std::vector<Decision> last;
    void on_decision(const Decision& decision) override { last.push_back(decision); }
  };

  RunConfig config_;
  std::shared_ptr<const SharedJobs> jobs_;
  std::shared_ptr<Directions> directions_ = std::make_shared<Directions>();
  std::vector<std::shared_ptr<Simulation>> ancestors_;  // whose names the policies refer to
  std::shared_ptr<Simulation> simulation_;
  std::unique_ptr<MetricsFold> fold_;
  std::unique_ptr<Log> log_ = std::make_unique<Log>();
  std::unique_ptr<RunStory> story_ = std::make_unique<RunStory>();
  std::unique_ptr<Execution> execution_;
  std::unique_ptr<Engine> forked_;  // instead of the execution's
  Engine* engine_ = nullptr;
  bool over_ = false;
};

}  // namespace muster::python
