// Changes of jobs and nodes that people request: events for the engine; or, for a job that the
// engine has not seen yet, a change of its request.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "daemon/core.h"

namespace muster {

Core::Known* Core::active(JobId job) {
  const auto found = known_.find(job);
  return found == known_.end() || found->second.over ? nullptr : &found->second;
}

Status Core::check_change(JobId job) {
  if (!frozen_.empty()) return Error{fmt::format("nothing is decided any more: {}", frozen_)};
  if (active(job) != nullptr) return Done{};
  return Error{fmt::format("job {} is over; nothing about it can be changed", index(job))};
}

Status Core::person_event(JobId job, JobEvent event, const std::string& why) {
  if (Status fine = check_change(job); !fine) return fine;
  event.time = now_;
  event.job = job;
  event.slot = slot_of(job);
  events_.push_back(event);
  if (!why.empty()) known_.at(job).row.reason = why;
  touched_.insert(job);
  return Done{};
}

Status Core::cancel(JobId job, const std::string& why) {
  if (Known* known = active(job); known != nullptr) {
    const bool unseen = shelf_.erase(job) > 0 || inbox_.take_back(job);
    if (!frozen_.empty()) end_launches(*known);
    if (unseen || !frozen_.empty()) {
      leave(*known, JobState::kCancelled, why, now_);
      return Done{};
    }
  }
  JobEvent event;
  event.kind = EventKind::kCancelled;
  Status done = person_event(job, event, why);
  if (done) why_[job] = why;
  return done;
}

// Without the engine, which is not asked any more.
void Core::end_launches(Known& known) {
  stand_down(known.row.id);
  if (const Slot slot = slot_of(known.row.id); slot != kNoSlot) {
    account(known, engine_->jobs()[slot], now_);
  }
  for (const RunId run : launches_.runs()) {
    if (run.job == known.row.id) launches_.stop(run, Grace{known.request->grace}, now_);
  }
}

JobEvent Core::hold_event(JobId job, bool hold) const {
  JobEvent event;
  event.time = now_;
  event.kind = EventKind::kRevised;
  event.revision = Revision::kHold;
  event.job = job;
  event.value = hold ? 1 : 0;
  return event;
}

// A restart reads the description, and people read the request: both are to say what holds now.
void Core::set_request(Known& known, JobRequest request) {
  known.row.description = job_request_text(request);
  known.request = std::make_shared<const JobRequest>(std::move(request));
  effects_.requests.emplace_back(known.row.id, known.request);
  touched_.insert(known.row.id);
}

Status Core::set_held(JobId job, bool hold, const std::string& why) {
  if (Status fine = check_change(job); !fine) return fine;
  if (const auto kept = shelf_.find(job); kept != shelf_.end() && !hold) {
    // It arrives now: the engine's clock does not go back to when it was submitted.
    kept->second.arrival = now_;
    inbox_.add(std::move(kept->second));
    shelf_.erase(kept);
  } else if (std::optional<JobSpec> waiting = hold ? inbox_.take_back(job) : std::nullopt) {
    shelf_.emplace(job, std::move(*waiting));
  } else if (Status done = person_event(job, hold_event(job, hold), why); !done) {
    return done;
  }
  Known& known = known_.at(job);
  known.held = hold;
  known.row.reason = why;
  JobRequest request = *known.request;
  request.hold = hold;
  set_request(known, std::move(request));
  return Done{};
}

Status Core::hold(JobId job, const std::string& why) { return set_held(job, true, why); }

Status Core::release(JobId job) {
  const Known* known = active(job);
  if (known != nullptr && !known->held) {
    return Error{fmt::format("job {} is not on hold", index(job))};
  }
  return set_held(job, false, "it was released");
}

namespace {

// One change of a request, as it is and as an event for the engine.
Result<JobEvent> change_request(const std::string& name, double value, Seconds submitted,
                                JobRequest& request) {
  JobEvent event;
  event.kind = EventKind::kRevised;
  event.value = value;
  const bool whole = value == std::floor(value);
  if (name == "priority" && whole && std::abs(value) <= 1e6) {
    event.revision = Revision::kPriority;
    request.priority = static_cast<int>(value);
  } else if (name == "gpus" && whole && value >= 1 && value <= 1e5) {
    event.revision = Revision::kGpus;
    request.gpus = static_cast<int>(value);
  } else if (name == "estimate" && value > 0 && value <= 1e9) {
    event.revision = Revision::kEstimate;
    request.estimate = value;
  } else if (name == "deadline" && value > 0 && value <= 1e9) {
    event.revision = Revision::kDeadline;
    event.value = submitted + value;
    request.deadline = value;
  } else {
    return Error{fmt::format(
        "cannot set '{}' to {}: priority and gpus are whole numbers, estimate and deadline "
        "seconds above 0; nothing else can be changed",
        name.substr(0, 64), value)};
  }
  return event;
}

}  // namespace

Status Core::revise(JobId job, const std::vector<std::pair<std::string, double>>& changes) {
  if (Status fine = check_change(job); !fine) return fine;
  Known& known = known_.at(job);
  JobRequest request = *known.request;
  std::vector<JobEvent> events;
  for (const auto& [name, value] : changes) {
    auto event = change_request(name, value, known.row.submitted, request);
    if (!event) return event.error();
    events.push_back(*event);
  }
  // What a restart could not read, or the engine would not do, is not promised.
  if (const auto readable = parse_job_request(job_request_text(request)); !readable) {
    return readable.error();
  }
  JobSpec wanted = spec_of(known.row, request);
  if (const std::string why = refusal(wanted, request); !why.empty()) return Error{why};
  if (!engine_->ever_fits(wanted)) {
    return Error{fmt::format("job {} cannot have {} GPUs: {}", index(job), request.gpus,
                             reason_sentence(Reason::kNeverFits))};
  }
  const auto kept = shelf_.find(job);
  if (JobSpec* unseen = kept == shelf_.end() ? inbox_.find(job) : &kept->second) {
    wanted.arrival = unseen->arrival;
    *unseen = std::move(wanted);
  } else {
    for (const JobEvent& event : events) {
      if (Status told = person_event(job, event, {}); !told) return told;
    }
  }
  set_request(known, std::move(request));
  return Done{};
}

Status Core::drain(const std::string& name, bool drained, const std::string& why) {
  const auto node = std::find_if(nodes_.begin(), nodes_.end(),
                                 [&name](const StoredNode& row) { return row.name == name; });
  if (node == nodes_.end()) {
    std::vector<std::string_view> names;
    for (const StoredNode& row : nodes_) names.push_back(row.name);
    return Error{unknown_name("node", name, names)};
  }
  if (!frozen_.empty()) return Error{fmt::format("nothing is decided any more: {}", frozen_)};
  node->drained = drained;
  // One that is ours no more may still be drained by others.
  node->reason = drained ? why : outside_[index(node->id)].detail;
  touched_nodes_.insert(node->id);
  tell_drained(node->id, now_);
  return Done{};
}

}  // namespace muster
