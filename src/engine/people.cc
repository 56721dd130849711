// Requests of people while the cluster runs: a job is cancelled, held, released or revised.
#include <algorithm>

#include "engine/engine.h"
#include "model/belief.h"

namespace muster {

void Engine::cancel(const JobEvent& event) {
  const Slot slot = slot_of(event);
  if (slot == kNoSlot) return;
  Job& job = state_.jobs[slot];
  if (job.state == JobState::kSubmitted) {
    std::erase(state_.held, slot);
    std::erase(state_.on_hold, slot);
    return leave_held(slot, JobState::kCancelled, Reason::kCancelled);
  }
  if (!job.running() && !job.waiting()) return;
  state_.changed = true;
  if (job.running()) halt(slot, Reason::kCancelled, kNoJob, {.at = state_.now, .release = true});
  job.waited_before += state_.now - job.waiting_since;
  state_.demanded -= job.spec.gpus;
  leave(slot, JobState::kCancelled, Reason::kCancelled, state_.now);
}

bool Engine::ever_fits(const JobSpec& job) const {
  return job.gpus > 0 &&
         std::any_of(parts_.policy_sets.begin(), parts_.policy_sets.end(), [&](const PolicySet& c) {
           const bool shrinks = job.elastic() && c.scheduling->traits().resizes;
           const int least = shrinks ? std::max(1, job.min_gpus) : job.gpus;
           return c.placement->ever_fits(state_.cluster, job, least);
         });
}

void Engine::revise(const JobEvent& event) {
  const Slot slot = slot_of(event);
  if (slot == kNoSlot) return;
  Job& job = state_.jobs[slot];
  const bool held = job.state == JobState::kSubmitted;
  if (!held && !job.running() && !job.waiting()) return;
  state_.changed = true;
  if (event.revision == Revision::kGpus) return resize_request(slot, static_cast<int>(event.value));
  if (event.revision == Revision::kHold) return put_on_hold(slot, event.value != 0);
  // Policies file jobs under what they ask for: the job leaves with the old and comes with the new.
  if (!held) notify(JobMoment::kLeft, slot);
  switch (event.revision) {
    case Revision::kPriority:
      job.spec.priority = static_cast<int>(event.value);
      break;
    case Revision::kEstimate:
      job.spec.estimate = event.value;
      if (!job.spec.believed || !(event.value > 0)) break;
      believe(job.spec, event.value);
      job.total_work = parts_.perf->total_work(job.spec) + job.added_work;
      break;
    case Revision::kTotalWork:
      job.total_work = event.value;
      break;
    default:
      job.spec.deadline = event.value;
  }
  note_belief(slot);
  // The present belief was not requested by a person.
  if (event.revision != Revision::kTotalWork) {
    log(Action::kRevise, Reason::kRevised, job.spec.id, job.spec.gpus);
  }
  if (!held) notify(JobMoment::kAdmitted, slot);
  if (job.running()) notify(JobMoment::kStarted, slot);
}

// On hold it leaves the queue with all its work and its account; it comes back through admission.
void Engine::put_on_hold(Slot slot, bool hold) {
  Job& job = state_.jobs[slot];
  const auto at = std::find(state_.on_hold.begin(), state_.on_hold.end(), slot);
  if ((at != state_.on_hold.end()) == hold) return;
  log(Action::kRevise, Reason::kRevised, job.spec.id, job.spec.gpus);
  if (!hold) {
    state_.on_hold.erase(at);
    state_.held.push_back(slot);
    return;
  }
  if (job.running()) halt(slot, Reason::kRevised, kNoJob, {.at = state_.now, .release = true});
  if (job.waiting()) {
    notify(JobMoment::kLeft, slot);
    state_.demanded -= job.spec.gpus;
    state_.jobs.set_state(slot, JobState::kSubmitted);
    std::erase_if(state_.back_offs, [slot](const BackOff& one) { return one.slot == slot; });
  }
  std::erase(state_.held, slot);
  state_.on_hold.push_back(slot);
}

// A job that runs gives its GPUs back and is placed anew in the next turn. To policies it is a new
// job with an old account: what they noted of its size is void.
void Engine::resize_request(Slot slot, int gpus) {
  Job& job = state_.jobs[slot];
  if (gpus == job.spec.gpus) return;
  JobSpec wanted = job.spec;
  wanted.gpus = gpus;
  if (wanted.max_gpus > 0) wanted.max_gpus = std::max(wanted.max_gpus, gpus);
  if (wanted.min_gpus > 0) wanted.min_gpus = std::min(wanted.min_gpus, gpus);
  if (!parts_.perf->check(wanted)) {
    return log(Action::kRevise, Reason::kUnknownSpeed, job.spec.id, job.spec.gpus);
  }
  if (!ever_fits(wanted)) {
    return log(Action::kRevise, Reason::kNeverFits, job.spec.id, job.spec.gpus);
  }
  if (job.running()) halt(slot, Reason::kRevised, kNoJob, {.at = state_.now, .release = true});
  const bool admitted = job.waiting();
  if (admitted) {
    notify(JobMoment::kLeft, slot);
    state_.demanded += gpus - job.spec.gpus;
  }
  job.spec = std::move(wanted);
  log(Action::kRevise, Reason::kRevised, job.spec.id, gpus);
  if (admitted) notify(JobMoment::kAdmitted, slot);
}

}  // namespace muster
