// Arriving jobs: refused if they can never fit or their speed is unknown, then passed to the
// admission policy.
#include <algorithm>

#include "engine/engine.h"

namespace muster {

void Engine::take_arrivals() {
  const JobSpec* next = nullptr;
  while ((next = parts_.source->peek()) != nullptr && next->arrival <= state_.now) {
    const Slot slot = state_.jobs.add(*next);
    parts_.source->pop();
    Job& job = state_.jobs[slot];
    if (!numbered_) job.spec.id = JobId{state_.next_id};
    state_.next_id = std::max(state_.next_id, static_cast<std::uint32_t>(job.spec.id) + 1);
    if (parts_.prices != nullptr) {
      state_.cost.resize(state_.jobs.slots(), 0);
      state_.cost[index(slot)] = 0;
    }
    state_.stalled_events = 0;
    state_.stalled_turns = 0;
    log(Action::kSubmit, Reason::kArrived, job.spec.id, job.spec.gpus);
    if (!parts_.perf->check(job.spec)) {
      leave(slot, JobState::kRefused, Reason::kUnknownSpeed, state_.now);
      continue;
    }
    job.total_work = parts_.perf->total_work(job.spec);
    if (ever_fits(job.spec)) {
      state_.cluster.expect(job.spec);
      state_.held.push_back(slot);
    } else {
      leave(slot, JobState::kRefused, state_.cluster.why_never(job.spec), state_.now);
    }
  }
}

void Engine::admit() {
  if (state_.held.empty()) return;
  std::size_t kept = 0;
  bool holding = false;
  for (const Slot slot : state_.held) {
    Job& job = state_.jobs[slot];
    AdmissionAnswer answer{Admission::kHold, Reason::kNone};
    // A queue: no job overtakes a held job.
    if (!holding) answer = active().admission->admit(view(), Load{state_.demanded}, job.spec);
    switch (answer.answer) {
      case Admission::kAccept:
        job.admitted = state_.now;
        job.waiting_since = state_.now;
        job.waited_before = state_.now - job.spec.submit - job.held_before;
        state_.demanded += job.spec.gpus;
        state_.jobs.set_state(slot,
                              job.first_start == kNever ? JobState::kQueued : JobState::kPreempted);
        state_.changed = true;
        log(Action::kAdmit, answer.reason, job.spec.id, job.spec.gpus);
        notify(JobMoment::kAdmitted, slot);
        break;
      case Admission::kHold:
        if (job.admitted != kNever) {
          // Logged once, when it is first made to wait.
          log(Action::kHold, holding ? Reason::kOutranked : answer.reason, job.spec.id,
              job.spec.gpus);
          job.admitted = kNever;
        }
        holding = true;
        state_.held[kept++] = slot;
        break;
      case Admission::kRefuse:
        leave_held(slot, JobState::kRefused, answer.reason);
        break;
    }
  }
  state_.held.resize(kept);
}

}  // namespace muster
