// Policy-driven completion: an optional capability of scheduling policies (completion_rule() in
// policy/scheduling.h).
//
// Usually a job is over when the backend reports that its work is done. A policy with a completion
// rule may end jobs itself: it stops a trial that will not get better, refuses a job that it can
// never serve, or has its own model of how jobs progress.
#pragma once

#include <vector>

#include "model/decision.h"
#include "policy/view.h"

namespace muster {

struct PolicyCompletion {
  Slot job = kNoSlot;
  JobState state = JobState::kFinished;  // or kRefused, for a job that does not run
  Reason reason = Reason::kCompleted;
  Seconds end = 0;   // when it left, as recorded
  Seconds done = 0;  // when its work was done: what counts for its deadline
};

class CompletionRule {
 public:
  virtual ~CompletionRule() = default;
  // Adds the jobs that are over. Called every turn, after admission and before schedule().
  virtual void complete_jobs(const View& view, std::vector<PolicyCompletion>& completions) = 0;
};

}  // namespace muster
