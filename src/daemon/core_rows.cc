// Accounts of jobs, as rows for the store, and explanations.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "daemon/core.h"
#include "run/whatif/future.h"

namespace muster {
namespace {

std::string decision_text(const Decision& decision) {
  std::string text =
      fmt::format("{}: {}", action_name(decision.action), reason_sentence(decision.reason));
  if (decision.gpus > 0) text += fmt::format(" ({} GPUs)", decision.gpus);
  if (decision.other != kNoJob) text += fmt::format(", job {}", index(decision.other));
  return text;
}

}  // namespace

void Core::on_decision(const Decision& decision) {
  if (recorder_ != nullptr) recorder_->decision(decision);
  if (decision.job == kNoJob) return;
  StoredDecision& row = effects_.batch.decisions.emplace_back();
  row.sequence = next_decision_++;
  row.time = decision.time;
  row.job = decision.job;
  row.text = decision_text(decision);
  touched_.insert(decision.job);
  const auto found = known_.find(decision.job);
  if (found == known_.end() || found->second.over) return;
  // Of one on hold the row says who holds it.
  const bool said = decision.action == Action::kRevise ||
                    (found->second.held && decision.reason == Reason::kRevised);
  if (!said) {
    found->second.row.reason = std::string(reason_sentence(decision.reason));
    // The engine knows that; the executor knows why.
    if (decision.reason == Reason::kStartFailed && !found->second.said.empty()) {
      found->second.row.reason += ": " + found->second.said;
    }
  }
}

void Core::on_job_end(const JobRecord& record) {
  const Slot slot = slot_of(record.id);
  if (slot != kNoSlot) vacant_.emplace_back(slot, record.id);
  slots_.erase(static_cast<std::uint32_t>(record.id));
  const auto found = known_.find(record.id);
  if (found == known_.end()) return;
  Known& known = found->second;
  if (slot != kNoSlot) account(known, engine_->jobs()[slot], record.end);
  known.over = true;
  stand_down(record.id);
  known.row.state = std::string(job_state_name(record.status));
  known.row.reason = std::string(reason_sentence(record.reason));
  known.row.first_start = record.start;
  known.row.ended = record.end;
  known.row.gpu_seconds = record.gpu_seconds;
  known.row.waited = record.queue;
  if (const auto why = why_.find(record.id); why != why_.end()) {
    const bool failed = why->second == "failed";
    if (failed) known.row.state = "failed";
    known.row.reason =
        failed ? fmt::format("it failed {} times by itself", known.row.crashes) : why->second;
    why_.erase(why);
  }
  touched_.insert(record.id);
}

Slot Core::slot_of(JobId job) {
  const JobTable& jobs = engine_->jobs();
  const auto note = [&](Slot slot) {
    slots_[static_cast<std::uint32_t>(jobs[slot].spec.id)] = slot;
  };
  if (!slots_.contains(static_cast<std::uint32_t>(job))) {
    // A new job is in a slot that is new as well, or that of one that has left.
    for (; noted_ < jobs.slots(); ++noted_) note(Slot{static_cast<std::uint32_t>(noted_)});
    std::erase_if(vacant_, [&](const auto& left) {
      const bool taken = jobs[left.first].spec.id != left.second;
      if (taken) note(left.first);
      return taken;
    });
  }
  const auto found = slots_.find(static_cast<std::uint32_t>(job));
  return found == slots_.end() ? kNoSlot : found->second;
}

void Core::account(Known& known, const Job& job, Seconds now) const {
  StoredJob& row = known.row;
  row.state = std::string(job_state_name(job.state));
  if (job.state != JobState::kSubmitted) row.admitted = job.admitted;
  row.first_start = job.first_start;
  row.total_work = job.total_work;
  row.work = job.starting() ? job.work : job.work_at(now);
  row.as_of = now;
  row.rate = job.rate;
  row.saved_work = job.saved_work;
  row.lost_work = job.lost_work;
  row.held = job.attained_at(now);
  row.gpu_seconds = job.gpu_seconds_at(now);
  row.held_before = job.held_before;
  row.gpu_seconds_before = job.gpu_seconds_before;
  row.waited = job.waited_before;
  if (job.waiting()) row.waited += std::max(0.0, now - job.waiting_since);
  row.overhead = job.overhead;
  row.launches = job.launch;
  row.preemptions = job.preemptions;
  row.restarts = job.restarts;
  row.resizes = job.resizes;
  row.failed_starts = job.failed_starts;
  row.paused_until = 0;
  for (const BackOff& one : engine_->state().back_offs) {
    if (one.slot == job.self) row.paused_until = one.until;
  }
  row.duration = job.spec.duration;
  row.estimate = job.spec.estimate;
  row.opportunistic = job.opportunistic;
  row.cpus_per_gpu = job.host.cpus_per_gpu;
  row.memory_per_gpu = job.host.memory_per_gpu;
  row.metrics.clear();
  const JobMetrics* metrics = engine_->view().metrics;
  if (metrics == nullptr) return;
  for (const Symbol name : metrics->names()) {
    if (const auto value = metrics->of(job.self, name)) {
      row.metrics += fmt::format("{}{}={}", row.metrics.empty() ? "" : " ",
                                 plan_.symbols->text(name), exact_text(*value));
    }
  }
}

// A launch that is taken back in the step in which it was to begin is never begun: where a job
// turns out to have finished, the launch that was to follow has got its GPUs a moment before.
void Core::drop_taken_back() {
  std::set<RunId> stopped;
  std::vector<LaunchCall> kept;
  for (std::size_t i = effects_.calls.size(); i-- > 0;) {
    const LaunchCall& call = effects_.calls[i];
    const bool begins = call.command == RunCommand::kPrepare || call.command == RunCommand::kGo;
    if (begins && stopped.contains(call.run)) continue;
    if (!begins) stopped.insert(call.run);
    kept.push_back(call);
  }
  effects_.calls.assign(kept.rbegin(), kept.rend());
}

CoreEffects Core::take(Seconds now) {
  drop_taken_back();
  for (const JobId id : touched_) {
    const auto found = known_.find(id);
    if (found == known_.end()) continue;
    Known& known = found->second;
    if (!known.over) {
      const Slot slot = slot_of(id);
      if (slot != kNoSlot) account(known, engine_->jobs()[slot], now);
    }
    effects_.batch.jobs.push_back(known.row);
    // Words about a launch that is still ending need nothing of it but its row.
    if (!known.over) continue;
    effects_.over.push_back({id, known.request->origin, known.row.state == "cancelled"});
    known_.erase(found);
  }
  touched_.clear();
  for (const NodeId node : touched_nodes_) effects_.batch.nodes.push_back(nodes_[index(node)]);
  touched_nodes_.clear();
  return std::exchange(effects_, {});
}

JobStory Core::explain(JobId id) const {
  JobStory story;
  const View view = engine_->view();
  story.free_gpus = view.cluster.free_gpus();
  story.usable_gpus = view.cluster.usable_gpus();
  story.policy = plan_.label;
  const auto found = known_.find(id);
  story.held = found != known_.end() && found->second.held;
  story.waits = found != known_.end() && !found->second.over;
  for (const Slot slot : view.jobs.running()) {
    if (view.jobs[slot].spec.id == id) story.waits = false;
  }
  return story;
}

Subject Core::subject(Seconds now) const {
  Subject subject{engine_->world(), fresh_, plan_.config, Symbols(std::as_const(*plan_.symbols))};
  subject.config.durations = Durations::kEstimate;  // true durations are unknown here
  subject.parts.running = frozen_copy(*engine_, fresh_);
  EngineWorld& world = subject.world;
  world.now = std::max(now, world.now);
  subject.parts.newcomers_from = JobId{world.next_id};
  for (const JobSpec& spec : inbox_.jobs()) {
    Job& job = world.jobs.emplace_back();
    job.spec = spec;
    job.total_work = fresh_.perf->total_work(spec);
    job.waiting_since = spec.submit;
    world.next_id = std::max(world.next_id, static_cast<std::uint32_t>(spec.id) + 1);
  }
  return subject;
}

}  // namespace muster
