// How a simulated job's work runs down. Normally it is continuous and a job ends the moment it is
// done. Published tick simulators count instead; their rule is kept here, so that their schedules
// can be had to the second.
#pragma once

#include "engine/pacing.h"
#include "model/ids.h"

namespace muster {

struct ProgressRule {
  // Every second a running job loses its rate from the work left; the first second that finds
  // nothing left ends it. An undisturbed job so ends one second after its work is done (Lucid's
  // srtf, tiresias and lucid). Needs turns at whole seconds.
  bool countdown = false;
  // A job that joined another on its GPUs keeps the rate of sharing after the other has left, as in
  // the published Lucid.
  bool joined_keep_rate = false;
  // Work comes in leases of whole steps, from turn to turn (Gavel).
  LeaseRule leases = {};
  // Jobs run until they are told to stop: the scheduling policy judges when they are over.
  bool until_told = false;
};

// Work that runs down by whole seconds, in the very order of roundings a loop would have.
struct Countdown {
  double left = 0;
  double rate = 1;
  Seconds since = 0;
  bool behind = false;  // shares GPUs with one that started before it

  // Work left after the seconds up to `now`.
  double left_at(Seconds now) const;
  // The second at which the job ends.
  Seconds end() const;
};

}  // namespace muster
