// One copy of a world that is simulated without new jobs.
#pragma once

#include <vector>

#include "run/whatif/outlook.h"

namespace muster {

struct Life {
  Seconds start = kNever;  // of a job that has run: its first start
  Seconds end = kNever;
  // Order of start among the jobs that wait now, from 1; 0: it does not start in this future.
  std::size_t turn = 0;
  Reason refused = Reason::kNone;  // it arrived and was refused
  bool stuck = false;              // it waits for what no present job will free
};

// What becomes of each job of the world, in their order. Where `parts` have a running engine, the
// copy is a fork of it, in which policies remember what they remember there; the jobs are as the
// world says. Otherwise a new engine adopts the world. Newcomers come at once in either. The error
// says what is wrong with the world, or that options.keep_going said no.
//
// `roughly`: orders displace running jobs only at turns that are ever further apart, by a twentieth
// of the way from now. Time slicing is what looking ahead costs most for; a range has no use for
// its seconds in three days' time.
Result<std::vector<Life>> live_on(const EngineWorld& world, const OutlookParts& parts,
                                  const OutlookOptions& options, bool roughly);

// A copy of an engine that does not go on, for one that does: it can be asked while that one turns.
std::shared_ptr<const Engine> frozen_copy(const Engine& running, const OutlookParts& parts);

}  // namespace muster
