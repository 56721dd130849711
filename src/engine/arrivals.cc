// Jobs that come: refused where they could never fit, then answered by the admission policy.
#include <algorithm>

#include "engine/engine.h"

namespace muster {

void Engine::take_arrivals() {
  const JobSpec* next = nullptr;
  while ((next = parts_.source->peek()) != nullptr && next->arrival <= now_) {
    const Slot slot = jobs_.add(*next);
    parts_.source->pop();
    Job& job = jobs_[slot];
    job.spec.id = JobId{next_id_++};
    if (parts_.prices != nullptr) {
      cost_.resize(jobs_.slots(), 0);
      cost_[index(slot)] = 0;
    }
    stalled_events_ = 0;
    stalled_turns_ = 0;
    job.total_work = parts_.perf->total_work(job.spec);
    log(Action::kSubmit, Reason::kArrived, job.spec.id, job.spec.gpus);
    const bool fits =
        job.spec.gpus > 0 &&
        std::any_of(parts_.policy_sets.begin(), parts_.policy_sets.end(), [&](const PolicySet& c) {
          const bool shrinks = job.spec.elastic() && c.scheduling->traits().resizes;
          const int least = shrinks ? std::max(1, job.spec.min_gpus) : job.spec.gpus;
          return c.placement->ever_fits(cluster_, job.spec, least);
        });
    if (fits) {
      cluster_.expect(job.spec);
      held_.push_back(slot);
    } else {
      leave(slot, JobState::kRefused, cluster_.why_never(job.spec), now_);
    }
  }
}

void Engine::admit() {
  if (held_.empty()) return;
  std::size_t kept = 0;
  bool holding = false;
  for (const Slot slot : held_) {
    Job& job = jobs_[slot];
    AdmissionAnswer answer{Admission::kHold, Reason::kNone};
    // A queue: nobody overtakes a held job.
    if (!holding) answer = active().admission->admit(view(), Load{demanded_}, job.spec);
    switch (answer.answer) {
      case Admission::kAccept:
        job.admitted = now_;
        job.waiting_since = now_;
        job.waited_before = now_ - job.spec.submit;
        demanded_ += job.spec.gpus;
        jobs_.set_state(slot, JobState::kQueued);
        changed_ = true;
        log(Action::kAdmit, answer.reason, job.spec.id, job.spec.gpus);
        notify(JobMoment::kAdmitted, slot);
        break;
      case Admission::kHold:
        if (job.waiting_since != kNever) {
          // Logged once, when it is first made to wait.
          log(Action::kHold, holding ? Reason::kOutranked : answer.reason, job.spec.id,
              job.spec.gpus);
          job.waiting_since = kNever;
        }
        holding = true;
        held_[kept++] = slot;
        break;
      case Admission::kRefuse:
        leave(slot, JobState::kRefused, answer.reason, now_);
        break;
    }
  }
  held_.resize(kept);
}

}  // namespace muster
