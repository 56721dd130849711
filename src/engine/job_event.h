// What a backend reports. A recording of these, with the times of the turns, replays a run exactly.
#pragma once

#include "model/ids.h"

namespace muster {

enum class EventKind : std::uint8_t {
  kProgress = 0,  // `work` done, gaining `rate` per second
  kFinished = 1,
  kFailed = 2,  // the job itself broke; it may be restarted
  kNodeUp = 3,
  kNodeDown = 4,
  kGpuUp = 5,
  kGpuDown = 6,
};

struct JobEvent {
  Seconds time = 0;
  EventKind kind = EventKind::kProgress;
  Slot slot = kNoSlot;
  JobId job = kNoJob;
  NodeId node = kNoNode;
  int gpu = -1;
  double work = 0;
  double rate = 0;
};

}  // namespace muster
