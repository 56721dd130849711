// How a described run is carried out. Nearly every run consists of turns of an Engine. Another
// execution has the same parts and reports to the same observers, but needs no engine.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/params.h"
#include "engine/engine.h"

namespace muster {

class Execution {
 public:
  virtual ~Execution() = default;
  // Runs to the end, or until `keep_going` says no. Tells whether the end was reached.
  virtual Result<bool> run(const std::function<bool()>& keep_going) = 0;
  // The engine that turns; null: there is none, and the run cannot be saved.
  virtual Engine* engine() { return nullptr; }
};

struct ExecutionParts {
  Engine::Parts engine;                    // its `perf` is what policies believe
  std::shared_ptr<const PerfModel> truth;  // how fast jobs really run
  bool nodes_change = false;               // nodes fail, join or leave
};

struct ExecutionInfo {
  std::string_view name;
  std::string_view sentence;
  std::string_view source;  // paper or system, year; may be empty
  Result<std::unique_ptr<Execution>> (*make)(ExecutionParts);
  ParamList params = {};     // none so far
  bool works_live = false;   // where something else than a simulation carries out decisions
  bool tells_truth = false;  // its policies know how long jobs really run
  bool with_life = false;    // commands may take time and fail ([life])
};

const std::vector<ExecutionInfo>& execution_table();

}  // namespace muster
