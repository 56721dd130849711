// A run that is taken turn by turn. Whoever holds it can look at jobs and cluster between turns,
// give the order of a turn instead of the policy, exchange the policy, and fork.
//
// A fork repeats the run so far, with the same orders and policies: a run is a function of its
// description, so that the copy is exact whatever its policies keep.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "report/metrics.h"
#include "run/assembly/simulation.h"

namespace muster::python {

class DirectedPolicy;

struct Directions {
  DirectedPolicy* policy = nullptr;  // of the run
  bool given = false;                // the order of the next turn
  std::vector<JobId> order;
};

class TurnByTurn {
 public:
  TurnByTurn(RunConfig config, std::shared_ptr<const SharedJobs> jobs);

  // False when the run is over. The order, if one is given, is that of this turn.
  bool turn(const std::vector<JobId>* order = nullptr);
  // From the next turn on.
  void use(const Choice& scheduling);
  std::unique_ptr<TurnByTurn> fork() const;

  Engine& engine() const { return *engine_; }
  bool over() const { return over_; }
  const PolicyLoader* loader() const { return config_.loader.get(); }
  const Symbols& symbols() const { return simulation_->symbols(); }
  const std::vector<Decision>& decisions() const { return log_->last; }  // of the last turn
  RunSummary summary() const { return fold_->summary(); }

 private:
  // What was done to the run between turns, to be repeated by a fork.
  struct Deed {
    long long turn = 0;  // after so many
    std::vector<JobId> order;
    Choice policy;  // empty: it was the order
  };
  struct Log final : Observer {
    std::vector<Decision> last;
    void on_decision(const Decision& decision) override { last.push_back(decision); }
  };

  RunConfig config_;
  std::shared_ptr<const SharedJobs> jobs_;
  std::shared_ptr<Directions> directions_ = std::make_shared<Directions>();
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<MetricsFold> fold_;
  std::unique_ptr<Log> log_ = std::make_unique<Log>();
  std::unique_ptr<Execution> execution_;
  Engine* engine_ = nullptr;
  std::vector<Deed> deeds_;
  long long turns_ = 0;
  bool over_ = false;
};

}  // namespace muster::python
