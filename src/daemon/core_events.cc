// Input from outside, as events for the engine; and the engine's orders, as launches.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "daemon/core.h"
#include "run/config/live_metrics.h"

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

// Policies see the few metrics that the description names; the others are for people.
void Core::tell_metric(JobId job, std::string_view name, double value, Seconds now) {
  const std::vector<std::string>& named = plan_.config.metrics;
  const bool seen = std::find(named.begin(), named.end(), name) != named.end();
  if (!seen || !std::isfinite(value)) return;
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
// again as it has been silent: it falls behind jobs that have less left (model/belief.h).
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
    // If several jobs use a GPU, its load cannot be attributed to one.
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
      if (!told && value >= 0) tell_metric(job.spec.id, name, value, now);
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
    effects_.log.push_back(fmt::format("job {}, launch {}: an unexpected report from its executor",
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
  known.said = news.detail;
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
// disk may take: a job that stays gets its next lease before this one ends, and runs on.
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

}  // namespace muster
