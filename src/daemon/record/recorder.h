// A recording of a daemon: all input of its engine, and every decision. Lines of JSON. A segment
// begins with the description of the policies and the world that the engine adopted. A restart or a
// reload begins a new segment, and each segment can be replayed exactly by itself.
#pragma once

#include <fstream>
#include <memory>
#include <span>
#include <string>

#include "base/symbols.h"
#include "engine/job_event.h"
#include "engine/world.h"
#include "model/decision.h"
#include "run/assembly/live_plan.h"

namespace muster {

class CoreRecorder {
 public:
  // Appends to the file.
  static Result<std::unique_ptr<CoreRecorder>> open(const std::string& path);

  void begin(const LivePlan& plan, const EngineWorld& world);
  void arrival(const JobSpec& job, const Symbols& symbols);
  // What the engine is about to be given: `turn` if it is to decide, else only to take it in.
  void news(bool turn, Seconds now, std::span<const JobEvent> events, const Symbols& symbols);
  void decision(const Decision& decision);
  // What a policy from outside the tree answered, numbered as in the plan; null: nothing.
  void answer(std::size_t policy, const PolicyAnswer* answer);
  void flush() { out_.flush(); }

 private:
  explicit CoreRecorder(const std::string& path) : out_(path, std::ios::app) {}
  std::ofstream out_;
};

struct ReplayOutcome {
  long long segments = 0;
  long long turns = 0;
  long long decisions = 0;
  std::string difference;  // the first one; empty: all decisions are the same
  bool cut_off = false;    // the last line is not whole
};

// Goes through a recording again. The error names the line that makes no sense.
Result<ReplayOutcome> replay_recording(const std::string& path);

}  // namespace muster
