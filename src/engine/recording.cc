#include "engine/recording.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "base/text.h"
#include "engine/engine.h"
#include "engine/recording_text.h"

namespace muster {

Recorder::Recorder(Backend& backend, JobSource& source, const Symbols& symbols, std::ostream& out)
    : symbols_(symbols), out_(out), source_(source, *this), backend_(backend, *this) {
  out_ << recording_header(
      {backend.has_external_events(), backend.answers_later(), source.numbers_jobs()});
}

void Recorder::finish() { out_ << recording_end() << std::flush; }

void Recorder::write(const Recording::Entry& entry) {
  out_ << text_of(entry, symbols_);
  empty_looks_ = 0;
  denials_ = 0;
}

void Recorder::apply(Engine& engine, Seconds now, std::span<const JobEvent> events) {
  write(Recording::News{now, false, {events.begin(), events.end()}});
  engine.apply(now, events);
}

bool Recorder::turn_at(Engine& engine, Seconds now, std::span<const JobEvent> events) {
  write(Recording::News{now, true, {events.begin(), events.end()}});
  return engine.turn_at(now, events);
}

JobProgress Recorder::RecordingBackend::act(const Command& command, Seconds now) {
  Recording::Act act;
  act.kind = command.kind;
  act.at = now;
  act.slot = command.slot;
  act.job = command.job->spec.id;
  act.gpus = *command.gpus;
  act.graceful = command.graceful;
  act.progress = inner_.act(command, now);
  recorder_.write(act);
  return act.progress;
}

Seconds Recorder::RecordingBackend::advance(Seconds until, bool stop_at_event,
                                            std::vector<JobEvent>& events) {
  const auto before = static_cast<std::ptrdiff_t>(events.size());
  Recording::Wait wait;
  wait.until = until;
  wait.stop_at_event = stop_at_event;
  wait.reached = inner_.advance(until, stop_at_event, events);
  wait.events.assign(events.begin() + before, events.end());
  recorder_.write(wait);
  return wait.reached;
}

Seconds Recorder::RecordingBackend::next_event() {
  const Seconds time = inner_.next_event();
  recorder_.write(Recording::Outlook{time});
  return time;
}

const JobSpec* Recorder::RecordingSource::peek() {
  const JobSpec* job = inner_.peek();
  if (job == nullptr) {
    ++recorder_.empty_looks_;
  } else if (!offered_) {
    offered_ = true;
    last_ = !inner_.more_after(job->arrival);
    recorder_.write(Recording::Offer{recorder_.empty_looks_, *job, last_});
  }
  return job;
}

void Recorder::RecordingSource::pop() {
  inner_.pop();
  offered_ = false;
}

bool Recorder::RecordingSource::finished() {
  if (closed_) return true;
  if (!inner_.finished()) {
    ++recorder_.denials_;
    return false;
  }
  closed_ = true;
  recorder_.write(Recording::Close{recorder_.denials_});
  return true;
}

Status Replay::run(Engine& engine) {
  while (!difference_ && go_on(engine)) {
  }
  if (!difference_ && !exhausted()) differ("is over");
  if (difference_ && !(exhausted() && !recording_.complete)) return Error{*difference_};
  return Done{};
}

bool Replay::driven_next() const {
  const auto from_source = [](const Recording::Entry& entry) {
    return std::holds_alternative<Recording::Offer>(entry) ||
           std::holds_alternative<Recording::Close>(entry);
  };
  const auto next = recording_.entries.begin() + static_cast<std::ptrdiff_t>(next_);
  const auto other = std::find_if_not(next, recording_.entries.end(), from_source);
  return other != recording_.entries.end() && std::holds_alternative<Recording::News>(*other);
}

bool Replay::go_on(Engine& engine) {
  const auto* news = peek_entry<Recording::News>();
  if (news == nullptr && !engine.state().started && driven_next()) {
    engine.due();  // the service asked for the first turn, and so the engine looked for a job
    return !engine.over();
  }
  if (news == nullptr) return engine.turn();
  step();
  if (news->turns) return engine.turn_at(news->at, news->events);
  engine.apply(news->at, news->events);
  return !engine.over();
}

template <typename Entry>
const Entry* Replay::peek_entry() const {
  if (difference_ || exhausted()) return nullptr;
  return std::get_if<Entry>(&recording_.entries[next_]);
}

void Replay::step() {
  ++next_;
  empty_looks_ = 0;
  denials_ = 0;
}

void Replay::differ(const std::string& what) {
  if (difference_) return;
  if (exhausted()) {
    difference_ = fmt::format("the recording ends after {} entries, but this run {}", next_, what);
    return;
  }
  std::string expected = "job";  // its texts are in a table that is not ours
  if (peek_entry<Recording::Offer>() == nullptr) {
    expected = text_of(recording_.entries[next_], Symbols());
    expected.resize(expected.find('\n'));
  }
  difference_ =
      fmt::format("at entry {} the recording has '{}', but this run {}", next_ + 1, expected, what);
}

JobProgress Replay::ReplayBackend::act(const Command& command, Seconds now) {
  const auto* act = replay_.peek_entry<Recording::Act>();
  if (act != nullptr && act->kind == command.kind && act->at == now && act->slot == command.slot &&
      act->job == command.job->spec.id && act->gpus == *command.gpus &&
      act->graceful == command.graceful) {
    replay_.step();
    return act->progress;
  }
  Recording::Act done;
  done.kind = command.kind;
  done.at = now;
  done.slot = command.slot;
  done.job = command.job->spec.id;
  done.gpus = *command.gpus;
  done.graceful = command.graceful;
  std::string line = text_of(done, Symbols());
  line.resize(line.find('\n'));
  replay_.differ(fmt::format("says '{}'", line));
  // Whatever it is, it stands still.
  JobProgress progress;
  progress.work = command.job->work_at(now);
  progress.saved_work = progress.work;
  progress.since = now;
  return progress;
}

Seconds Replay::ReplayBackend::advance(Seconds until, bool stop_at_event,
                                       std::vector<JobEvent>& events) {
  const auto* wait = replay_.peek_entry<Recording::Wait>();
  if (wait != nullptr && wait->until == until && wait->stop_at_event == stop_at_event) {
    replay_.step();
    events.insert(events.end(), wait->events.begin(), wait->events.end());
    now_ = wait->reached;
  } else {
    replay_.differ(fmt::format("waits until {}", exact_text(until)));
  }
  return now_;
}

Seconds Replay::ReplayBackend::next_event() {
  const auto* outlook = replay_.peek_entry<Recording::Outlook>();
  if (outlook != nullptr) {
    replay_.step();
    return outlook->time;
  }
  replay_.differ("asks when the next event is due");
  return kNever;
}

const JobSpec* Replay::ReplaySource::peek() {
  if (offered_ != nullptr && !replay_.difference_) return &offered_->job;
  const auto* offer = replay_.peek_entry<Recording::Offer>();
  if (offer == nullptr || replay_.empty_looks_++ < offer->refusals) return nullptr;
  replay_.step();
  offered_ = offer;
  return &offered_->job;
}

bool Replay::ReplaySource::finished() {
  if (closed_ || replay_.difference_) return true;
  const auto* close = replay_.peek_entry<Recording::Close>();
  if (close == nullptr || replay_.denials_++ < close->refusals) return false;
  replay_.step();
  closed_ = true;
  return true;
}

}  // namespace muster
