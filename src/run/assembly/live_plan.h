// The parts that decide on real machines, from the same description as a simulation. Settings that
// a live cluster cannot honour are refused here, with the reason.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/symbols.h"
#include "engine/engine.h"
#include "policy/outside/answer_log.h"
#include "run/config/config.h"

namespace muster {

struct LivePlan {
  std::unique_ptr<Symbols> symbols;
  std::shared_ptr<const ClusterSpec> cluster;
  Engine::Parts parts;             // without backend, source and observers
  Seconds round = 0;               // of a pacing in rounds, which jobs have leases for; 0: none
  std::string label;               // "las + consolidated"
  RunConfig config;                // what it was made of
  std::string description;         // the same, as TOML
  std::vector<std::string> notes;  // what an operator should know
  // What policies from outside the tree answer; null: there are none.
  std::shared_ptr<AnswerLog> answers;
};

// `config` must be complete (complete_config).
Result<LivePlan> make_live_plan(const RunConfig& config);

}  // namespace muster
