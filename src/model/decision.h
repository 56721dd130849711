// Every decision carries a reason: a code, and the job or limit that caused it. The log of these is
// what `muster explain`, the report and the dashboard read.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/ids.h"

namespace muster {

// Numbers are part of the result format: never renumber, only append.
enum class Action : std::uint8_t {
  kSubmit = 0,   // the scheduler learns of the job
  kAdmit = 1,    // admission lets it into the queue
  kHold = 2,     // admission makes it wait outside the queue
  kRefuse = 3,   // it will never run
  kStart = 4,    // it gets GPUs
  kStop = 5,     // it loses them and waits
  kResize = 6,   // its GPU count changes
  kMove = 7,     // same count, other GPUs
  kFinish = 8,   // done
  kFail = 9,     // given up
  kBlock = 10,   // first request of the plan that could not be placed in this turn
  kNodeUp = 11,  // `job` is kNoJob, `detail` the node
  kNodeDown = 12,
  kSwitch = 13,  // another policy set takes over; `detail` is its number
  kCancel = 14,  // a person took it back
  kRevise = 15,  // a person changed what it asks for
  kDrain = 16,   // the node takes nothing new; `detail` is the node
  kUndrain = 17,
};

enum class Reason : std::uint8_t {
  kNone = 0,
  kArrived = 1,
  kAccepted = 2,
  kLoadLimit = 3,      // admission: the cluster's load is above the threshold
  kNeverFits = 4,      // asks for more than its part of the cluster will ever have
  kOverQuota = 5,      // its partition's quota is used up
  kFirstInOrder = 6,   // next in the policy's order, and it fits
  kBackfilled = 7,     // fits while one before it does not
  kOutranked = 8,      // `other` comes before it in the policy's order
  kNotEnoughFree = 9,  // fewer GPUs free than it needs
  kFragmented = 10,    // enough GPUs free, but not in a shape the placement accepts
  kNodeLost = 11,      // a node under it failed or left
  kGpuLost = 12,       // a GPU under it failed
  kNodeReturned = 13,
  kCompleted = 14,      // all its work is done
  kCrashed = 15,        // its own fault, too often
  kElastic = 16,        // the policy grew or shrank it
  kConsolidated = 17,   // moved to a better place
  kPredictedBest = 18,  // the selector's simulations favoured this policy set
  kNotEnoughCpu = 19,   // GPUs are free, but not CPU cores or memory beside them
  kDeadlineImpossible = 20,
  kProfiled = 21,
  kGrouped = 22,      // shares GPUs with `other`
  kScaled = 23,       // a node was powered up or down by choice
  kSlotTooLong = 24,  // admission: its deadline lies within a turn of its submission
  kNoPartition = 25,  // the cluster has partitions, but not the one it names
  kNoGpuType = 26,    // its part of the cluster has no GPU of the type it names
  kCancelled = 27,
  kStartFailed = 28,   // its start failed, and not by its own fault
  kRunLost = 29,       // what it ran on was lost, and not by its own fault
  kRevised = 30,       // what it asks for was changed
  kRequested = 31,     // a person asked for it
  kUnknownSpeed = 32,  // the performance model does not know how fast it runs
};

// What a reader of results may meet; keep them at the last of each list.
inline constexpr Action kLastAction = Action::kUndrain;
inline constexpr Reason kLastReason = Reason::kUnknownSpeed;

struct Decision {
  Seconds time = 0;
  JobId job = kNoJob;
  JobId other = kNoJob;     // the job that caused it, if one did
  std::int32_t gpus = 0;    // GPUs given, lost or wanted
  std::int32_t detail = 0;  // free GPUs at a block; node of a node event; policy set of a switch
  Action action = Action::kSubmit;
  Reason reason = Reason::kNone;
};

std::string_view action_name(Action action);      // "start"
std::string_view reason_name(Reason reason);      // "not-enough-free"
std::string_view reason_sentence(Reason reason);  // "fewer GPUs are free than it needs"

}  // namespace muster
