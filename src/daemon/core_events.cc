// What comes in from outside, as events for the engine; and the engine's orders, as launches.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "daemon/core.h"
#include "run/assembly/live_metrics.h"

namespace muster {

void Core::hear(const Report& report, Seconds now) {
  now_ = std::max(now_, now);
  if (const auto* run = std::get_if<RunReport>(&report)) {
    launches_.heard(*run, now);
  } else if (const auto* progress = std::get_if<ProgressReport>(&report)) {
    hear_progress(*progress, now);
  } else if (const auto* census = std::get_if<CensusReport>(&report)) {
    if (census->complete) launches_.counted(now);
  } else if (const auto* node = std::get_if<NodeReport>(&report)) {
    hear_node(*node, now);
  } else if (const auto* job = std::get_if<JobReport>(&report)) {
    hear_job(*job);
  }
}

namespace {

// A job may count its steps without saying how many there are: then its owner may have said so.
// That is a belief, and doubles where the job outruns it.
ProgressReport with_total(ProgressReport report, double iterations) {
  if (report.total > 0 || !(iterations > 0)) return report;
  while (iterations <= report.step) iterations *= 2;
  report.total = iterations;
  return report;
}

}  // namespace

void Core::hear_progress(const ProgressReport& report, Seconds now) {
  const auto found = known_.find(report.run.job);
  if (found == known_.end() || found->second.over) return;
  Known& known = found->second;
  ProgressMeter& meter = known.meter;
  const double step_before = meter.news().step;
  meter.hear(with_total(report, known.request->iterations), now);
  if (meter.news().step > step_before) known.stepped = now;
  effects_.news.emplace_back(report.run.job, meter.news());
  for (const auto& [name, value] : report.metrics) tell_metric(report.run.job, name, value, now);
  if (meter.knows_speed()) {
    tell_metric(report.run.job, kStepsPerSecond, meter.news().steps_per_second, now);
  }
  if (!meter.knows_total() && !meter.all_done()) return;
  expect_end(known, meter.news().step, now);
  JobEvent event;
  event.time = now;
  event.kind = EventKind::kProgress;
  event.job = report.run.job;
  event.launch = report.run.launch;
  event.slot = slot_of(report.run.job);
  event.value = total_work_of(known, event.slot);
  event.work = meter.work_of(meter.news().step, event.value);
  event.rate = 1;
  event.saved = std::max(0.0, meter.work_of(std::max(meter.news().saved_step, 0.0), event.value));
  events_.push_back(event);
}

// Policies see a few metrics; the others are for people.
void Core::tell_metric(JobId job, std::string_view name, double value, Seconds now) {
  const bool seen = std::find(kLiveMetrics.begin(), kLiveMetrics.end(), name) != kLiveMetrics.end();
  if (!seen || value < 0 || !std::isfinite(value)) return;
  JobEvent event;
  event.time = now;
  event.kind = EventKind::kMetric;
  event.job = job;
  event.slot = slot_of(job);
  event.metric = plan_.symbols->find(name);
  event.value = value;
  events_.push_back(event);
}

// At the speed that was measured; after its last step all that may follow is the end.
void Core::expect_end(const Known& known, double step, Seconds now) {
  const ProgressMeter& meter = known.meter;
  const bool runs_on = meter.knows_total() && !meter.all_done();
  silences_.set(
      known.row.id,
      runs_on ? now + meter.total_work() - meter.work_of(step, meter.total_work()) : kNever);
}

// One that should have made its last step, and says nothing of it, is believed to need as long
// again as it has been silent: it falls behind those who have less left (model/belief.h).
void Core::check_silence(Seconds now) {
  for (JobId job = silences_.take(now); job != kNoJob; job = silences_.take(now)) {
    const auto known = known_.find(job);
    const Slot slot = slot_of(job);
    if (known == known_.end() || slot == kNoSlot || !engine_->jobs()[slot].running()) continue;
    const Seconds silent = std::max(ProgressMeter::kLeastSeconds, now - known->second.stepped);
    JobEvent event;
    event.time = now;
    event.kind = EventKind::kRevised;
    event.revision = Revision::kTotalWork;
    event.job = job;
    event.slot = slot;
    event.value = engine_->jobs()[slot].work_at(now) + silent;
    events_.push_back(event);
    silences_.set(job, now + silent);
  }
}

void Core::see_gpus(const std::vector<GpuUse>& uses, Seconds now) {
  now_ = std::max(now_, now);
  const JobTable& jobs = engine_->jobs();
  for (const Slot slot : jobs.running()) {
    const Job& job = jobs[slot];
    const auto known = known_.find(job.spec.id);
    // Of GPUs that several use nobody can say whose doing it is.
    if (job.starting() || job.next_co_located != slot || known == known_.end()) continue;
    GpuMeter& meter = known->second.use;
    for (const GpuUse& use : uses) {
      if (((job.gpus[0].mask >> use.gpu.index) & 1U) != 0) meter.see(use);
    }
    const std::pair<std::string_view, double> measured[] = {{kGpuUtil, meter.gpu_util()},
                                                            {kMemoryUtil, meter.memory_util()},
                                                            {kMemoryMb, meter.memory_mb()},
                                                            {kWatts, meter.watts()}};
    for (const auto& [name, value] : measured) {
      // What it says of itself it knows better.
      const bool told = known->second.meter.news().metrics.contains(std::string(name));
      if (!told) tell_metric(job.spec.id, name, value, now);
    }
  }
}

double Core::total_work_of(const Known& known, Slot slot) const {
  if (known.meter.knows_total()) return known.meter.total_work();
  const double believed = slot != kNoSlot ? engine_->jobs()[slot].total_work : known.row.total_work;
  return std::max(0.0, believed);
}

void Core::take_news(Seconds now) {
  LaunchEffects more = launches_.take();
  for (StoredRun& row : more.rows) effects_.batch.runs.push_back(std::move(row));
  effects_.calls.insert(effects_.calls.end(), more.calls.begin(), more.calls.end());
  effects_.acknowledged.insert(effects_.acknowledged.end(), more.acknowledged.begin(),
                               more.acknowledged.end());
  for (const LaunchNews& news : more.news) add_event(news, now);
}

void Core::add_event(const LaunchNews& news, Seconds now) {
  const auto found = known_.find(news.run.job);
  if (news.strange) {
    effects_.log.push_back(fmt::format("job {}, launch {}: an unexpected word of its executor",
                                       index(news.run.job), news.run.launch));
  }
  if (news.news == RunNews::kNone || found == known_.end()) return;
  Known& known = found->second;
  touched_.insert(news.run.job);
  JobEvent event;
  event.time = now;
  event.job = news.run.job;
  event.launch = news.run.launch;
  event.slot = slot_of(news.run.job);
  event.work = -1;
  if (news.saved_step >= 0 && known.meter.news().total > 0) {
    event.saved = known.meter.work_of(news.saved_step, total_work_of(known, event.slot));
  }
  if (news.news == RunNews::kStarted) {
    event.kind = EventKind::kStarted;
    event.saved = -1;
    known.meter.begin(news.run.launch);
    const Seconds left = known.request->time_limit - known.row.held;
    if (known.request->time_limit > 0) limits_.set(news.run.job, now + std::max(0.0, left));
    known.stepped = now;
    expect_end(known, std::max(known.meter.news().saved_step, 0.0), now);
    if (plan_.round > 0) effects_.leases.emplace_back(news.run, lease_from(now));
    events_.push_back(event);
    return;
  }
  stand_down(news.run.job);
  const bool ended = news.news == RunNews::kReleased || news.news == RunNews::kEnded;
  if (ended && news.outcome == RunOutcome::kFinished) {
    event.kind = EventKind::kFinished;
  } else if (news.news == RunNews::kEnded && news.outcome == RunOutcome::kFailed) {
    event.kind = EventKind::kFailed;
  } else {
    event.kind = news.news == RunNews::kReleased ? EventKind::kReleased : EventKind::kReturned;
  }
  // To the engine launches end one after the other. One that was taken back before it began ends
  // while an earlier one is still saving its work: that is told after the other.
  if (launches_.must_wait(news.run)) {
    later_[news.run.job].push_back(event);
    return;
  }
  events_.push_back(event);
  if (const auto waiting = later_.find(news.run.job); waiting != later_.end()) {
    events_.insert(events_.end(), waiting->second.begin(), waiting->second.end());
    later_.erase(waiting);
  }
  if (event.kind != EventKind::kFailed || known.over) return;
  // Its owner said how often it may fail.
  if (++known.row.crashes <= known.request->retries) return;
  why_[news.run.job] = "failed";
  event.kind = EventKind::kCancelled;
  events_.push_back(event);
}

void Core::check_limits(Seconds now) {
  for (JobId job = limits_.take(now); job != kNoJob; job = limits_.take(now)) {
    const Status done = cancel(job, fmt::format("it ran longer than its time limit of {} s",
                                                known_.at(job).request->time_limit));
    static_cast<void>(done);
  }
}

// It runs no more.
void Core::stand_down(JobId job) {
  limits_.set(job, kNever);
  silences_.set(job, kNever);
}

void Core::give_orders(Seconds now) {
  for (const Order& order : backend_.take_orders()) {
    const bool starts = order.kind != CommandKind::kStop;
    const RunId leaves = order.kind == CommandKind::kStop ? order.run : order.before;
    const auto known = known_.find(order.run.job);
    touched_.insert(order.run.job);
    const Grace grace{order.graceful && known != known_.end() ? known->second.request->grace : 0};
    if (leaves.launch != 0) launches_.stop(leaves, grace, now);
    if (!starts) continue;
    const Sharing sharing = order.shared ? Sharing::kShared : Sharing::kExclusive;
    if (Status started = launches_.start(order.run, order.gpus, sharing, now); !started) {
      return freeze(started.error().message);
    }
  }
}

// A lease ends a quarter of a round after the turn that decides about it, and not in less than a
// disk may take: whoever stays has the next one before it is over, and goes on without a stop.
Seconds Core::lease_from(Seconds now) {
  constexpr Seconds kLeastLead = 5;
  const Seconds next = engine_->due().at;
  const Seconds left = next == kNever ? plan_.round : std::max(0.0, next - now);
  return left + std::max(kLeastLead, 0.25 * plan_.round);
}

void Core::renew_leases(Seconds now) {
  const JobTable& jobs = engine_->jobs();
  for (const Slot slot : jobs.running()) {
    const Job& job = jobs[slot];
    if (job.starting()) continue;
    effects_.leases.emplace_back(RunId{job.spec.id, job.launch}, lease_from(now));
  }
}

Core::Known* Core::active(JobId job) {
  const auto found = known_.find(job);
  return found == known_.end() || found->second.over ? nullptr : &found->second;
}

Status Core::person_event(JobId job, JobEvent event, const std::string& why) {
  Known* known = active(job);
  if (known == nullptr) {
    return Error{fmt::format("job {} is over; nothing about it can be changed", index(job))};
  }
  event.time = now_;
  event.job = job;
  event.slot = slot_of(job);
  events_.push_back(event);
  if (!why.empty()) known->row.reason = why;
  touched_.insert(job);
  return Done{};
}

Status Core::cancel(JobId job, const std::string& why) {
  if (Known* known = active(job); known != nullptr) {
    if (shelf_.erase(job) > 0 || inbox_.take_back(job)) {
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

JobEvent Core::hold_event(JobId job, bool hold) const {
  JobEvent event;
  event.time = now_;
  event.kind = EventKind::kRevised;
  event.revision = Revision::kHold;
  event.job = job;
  event.value = hold ? 1 : 0;
  return event;
}

Status Core::set_held(JobId job, bool hold, const std::string& why) {
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
  touched_.insert(job);
  // The request says so, too: that is what a restart reads.
  auto request = std::make_shared<JobRequest>(*known.request);
  request->hold = hold;
  known.row.description = job_request_text(*request);
  known.request = std::move(request);
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

Status Core::revise(JobId job, const std::vector<std::pair<std::string, double>>& changes) {
  const Known* known = active(job);
  if (known == nullptr) {
    return Error{fmt::format("job {} is over; nothing about it can be changed", index(job))};
  }
  auto request = std::make_shared<JobRequest>(*known->request);
  std::vector<JobEvent> events;
  for (const auto& [name, value] : changes) {
    JobEvent& event = events.emplace_back();
    event.kind = EventKind::kRevised;
    event.value = value;
    const bool whole = value == std::floor(value);
    if (name == "priority" && whole && std::abs(value) <= 1e6) {
      event.revision = Revision::kPriority;
      request->priority = static_cast<int>(value);
    } else if (name == "gpus" && whole && value >= 1 && value <= 1e5) {
      event.revision = Revision::kGpus;
      request->gpus = static_cast<int>(value);
    } else if (name == "estimate" && value > 0 && value <= 1e9) {
      event.revision = Revision::kEstimate;
      request->estimate = value;
    } else if (name == "deadline" && value > 0 && value <= 1e9) {
      event.revision = Revision::kDeadline;
      event.value = known->row.submitted + value;
      request->deadline = value;
    } else {
      return Error{fmt::format(
          "cannot set '{}' to {}: priority and gpus are whole numbers, estimate and deadline "
          "seconds above 0; nothing else can be changed",
          name.substr(0, 64), value)};
    }
  }
  for (const JobEvent& event : events) {
    const Status done = person_event(job, event, {});
    static_cast<void>(done);
  }
  known_.at(job).row.description = job_request_text(*request);
  known_.at(job).request = std::move(request);
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
  node->drained = drained;
  // One that is ours no more may still be drained by others.
  node->reason = drained ? why : outside_[index(node->id)].detail;
  touched_nodes_.insert(node->id);
  tell_drained(node->id, now_);
  return Done{};
}

}  // namespace muster
