// A job in each of the states that differ to events.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "support/driven_engine.h"

namespace muster {

// Of job 0, which wants GPUs where it has or is about to have some.
enum class State {
  kQueued,
  kStarting,
  kRunning,
  kMoving,     // launch 2 is to replace launch 1, which has not left
  kStopping,   // launch 1 was told to leave
  kReleased,   // and has left
  kAgain,      // it was told to leave, and given GPUs again before it had
  kTakenBack,  // these, too, were taken back before it had
  kOnHold,     // a person took it out of the queue while it ran; launch 1 has not left
  kHeld,       // by admission
  kHeldAgain,  // by admission, after a person had taken it out while it ran; launch 1 has not left
};
inline constexpr State kStates[] = {State::kQueued, State::kStarting,  State::kRunning,
                                    State::kMoving, State::kStopping,  State::kReleased,
                                    State::kAgain,  State::kTakenBack, State::kOnHold,
                                    State::kHeld,   State::kHeldAgain};
static_assert(std::size(kStates) == static_cast<std::size_t>(State::kHeldAgain) + 1);

// Which tests go through what is said, in every state: a new kind of event does not compile before
// it is here.
enum class GoneThroughIn { kEventsTest, kPeopleTest, kNodesTest, kNowhere };
constexpr GoneThroughIn gone_through_in(EventKind kind) {
  switch (kind) {
    case EventKind::kProgress:
    case EventKind::kFinished:
    case EventKind::kFailed:
    case EventKind::kStarted:
    case EventKind::kReturned:
    case EventKind::kReleased:
    case EventKind::kCancelled:
    case EventKind::kMetric:
      return GoneThroughIn::kEventsTest;
    case EventKind::kRevised:
      return GoneThroughIn::kPeopleTest;
    case EventKind::kNodeUp:
    case EventKind::kNodeDown:
    case EventKind::kGpuUp:
    case EventKind::kGpuDown:
    case EventKind::kDrained:
    case EventKind::kUndrained:
    case EventKind::kNodeAdded:
    case EventKind::kNodeRemoved:
      return GoneThroughIn::kNodesTest;
  }
  return GoneThroughIn::kNowhere;
}
static_assert(gone_through_in(EventKind{kEventKinds - 1}) != GoneThroughIn::kNowhere &&
              gone_through_in(EventKind{kEventKinds}) == GoneThroughIn::kNowhere);

// Likewise a new revision, and a new state of a job. Of those that are there the tests go through
// `kStates`; whoever has left has a test of their own.
constexpr bool people_ask_for(Revision revision) {
  switch (revision) {
    case Revision::kPriority:
    case Revision::kGpus:
    case Revision::kEstimate:
    case Revision::kTotalWork:
    case Revision::kDeadline:
    case Revision::kHold:
      return true;
  }
  return false;
}
static_assert(people_ask_for(Revision{kRevisions - 1}) && !people_ask_for(Revision{kRevisions}));

inline constexpr JobState kThere[] = {JobState::kSubmitted, JobState::kQueued, JobState::kRunning,
                                      JobState::kPreempted};
inline constexpr JobState kLeft[] = {JobState::kFinished, JobState::kFailed, JobState::kRefused,
                                     JobState::kCancelled};
constexpr bool has_left(JobState state) {
  switch (state) {
    case JobState::kSubmitted:
    case JobState::kQueued:
    case JobState::kRunning:
    case JobState::kPreempted:
      return false;
    case JobState::kFinished:
    case JobState::kFailed:
    case JobState::kRefused:
    case JobState::kCancelled:
      return true;
  }
  return false;
}

inline std::unique_ptr<DrivenEngine> bring_to(State state) {
  if (state == State::kHeld) {
    // Who is on hold asks for nothing; by the time it is put back another job does.
    auto driven = std::make_unique<DrivenEngine>(uniform_cluster(2, 2),
                                                 Choice{"load-threshold", {{"threshold", "0"}}});
    driven->submit(0, 100);
    driven->revise(1, 0, Revision::kHold, 1);
    driven->submit(2, 100);
    driven->revise(3, 0, Revision::kHold, 0);
    return driven;
  }
  const Choice admission = state == State::kHeldAgain
                               ? Choice{"load-threshold", {{"threshold", "0"}}}
                               : Choice{"accept-all"};
  auto driven = std::make_unique<DrivenEngine>(uniform_cluster(2, 2), admission);
  driven->submit(0, 100);
  if (state == State::kQueued) return driven;
  driven->want(1, 0, 1);
  if (state == State::kStarting) return driven;
  driven->say(5, EventKind::kStarted, 0, 1);
  if (state == State::kRunning) return driven;
  if (state == State::kMoving) {
    driven->want(10, 0, 2);
    return driven;
  }
  if (state == State::kOnHold) {
    driven->revise(10, 0, Revision::kHold, 1);
    return driven;
  }
  if (state == State::kHeldAgain) {
    driven->revise(10, 0, Revision::kHold, 1);
    driven->submit(11, 100);
    driven->revise(12, 0, Revision::kHold, 0);
    return driven;
  }
  driven->want(10, 0, 0);
  if (state == State::kReleased) driven->say(15, EventKind::kReleased, 0, 1);
  if (state == State::kAgain || state == State::kTakenBack) driven->want(12, 0, 1);
  if (state == State::kTakenBack) driven->want(14, 0, 0);
  return driven;
}

// Job 0, in the queue or outside of it; null: it has left.
inline const Job* anywhere(const DrivenEngine& driven) {
  if (const Job* job = driven.job(0)) return job;
  for (const std::vector<Slot>* list :
       {&driven.engine->state().held, &driven.engine->state().on_hold}) {
    for (const Slot slot : *list) {
      const Job& job = driven.engine->jobs()[slot];
      if (job.spec.id == JobId{0}) return &job;
    }
  }
  return nullptr;
}

// "running 2/1": the present launch, and the last of which nothing is left.
inline std::string look_at(const DrivenEngine& driven) {
  const Job* const found = anywhere(driven);
  if (found == nullptr) return std::string(job_state_name(driven.log.job(0).status));
  const Job& job = *found;
  std::string text(job_state_name(job.state));
  if (job.starting()) text = "starting";
  if (job.stopping()) text = "stopping";
  if (job.state == JobState::kSubmitted) {
    const std::vector<Slot>& on_hold = driven.engine->state().on_hold;
    const bool taken = std::find(on_hold.begin(), on_hold.end(), job.self) != on_hold.end();
    text = taken ? "on hold" : "held";
  }
  text += fmt::format(" {}/{}", job.launch, job.ended);
  if (job.crashes > 0) text += " crashed";
  if (job.restarts > job.crashes) text += " lost";
  if (job.failed_starts > 0) text += " later";
  return text;
}

}  // namespace muster
