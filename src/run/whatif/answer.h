// The answer to a what-if question, for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/whatif/change.h"

namespace muster {

struct Answer {
  // Where there is a change, the mean completion times of both are over the same jobs: those that
  // are there now, and end in both.
  Outlook as_is;
  std::optional<Outlook> changed;  // only where a change was asked about
  Seconds drained = kNever;        // when the drained nodes will be empty
};

// Asks about the world as it is and, if there is a change, as it would be. This is what a command
// does with a saved run, and a service with its engine: `world` is engine.world().
Result<Answer> ask(const EngineWorld& world, const OutlookParts& parts, const Change& change,
                   const OutlookOptions& options, Symbols& symbols);

// The error names a job, by name or number (#12), that is not there.
Status know_jobs(const Answer& answer, const std::vector<std::string>& jobs);

// `jobs` are names or numbers (#12) of jobs to show; empty: the first that will start. The error
// names a job that is not there.
Result<std::string> answer_text(const Answer& answer, const std::vector<std::string>& jobs,
                                bool colour);
// All jobs; times are seconds on the clock of the run, and null where there is no predicted end.
std::string answer_json(const Answer& answer);

}  // namespace muster
