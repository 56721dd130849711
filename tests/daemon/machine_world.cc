#include "daemon/machine_world.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace muster {
namespace {

std::string name_of(RunId run) { return fmt::format("{}/{}", index(run.job), run.launch); }

}  // namespace

void MachineWorld::happen(Seconds limit, const std::function<bool()>& done) {
  for (int count = 0; !happenings_.empty() && now_ < limit; ++count) {
    if (count % 64 == 0 && done()) return;
    const std::function<void()> what = happenings_.top().what;
    now_ = happenings_.top().time;
    happenings_.pop();
    what();
  }
}

bool MachineWorld::nothing_runs() const {
  return std::all_of(placed_.begin(), placed_.end(),
                     [](const auto& run) { return run.second.over; });
}

void MachineWorld::at(Seconds time, std::function<void()> what) {
  happenings_.push({time, order_++, std::move(what)});
}

void MachineWorld::send(const std::function<void()>& what) {
  const auto way = [this] { return now_ + 0.001 + random_.uniform(0, faults_.delay); };
  if (!faulty(faults_.lost)) at(way(), what);
  if (faulty(faults_.repeated)) at(way(), what);
}

bool MachineWorld::from_the_latest(int life) {
  heard_life_ = std::max(heard_life_, life);
  return life == heard_life_;
}

void MachineWorld::carry_out(const LaunchCall& call, const GpuSet& gpus, Sharing sharing) {
  switch (call.command) {
    case RunCommand::kPrepare:
      return prepare(call.run, gpus, sharing);
    case RunCommand::kGo:
      return go(call.run);
    case RunCommand::kStop:
      return stop(call.run, call.grace.seconds);
    case RunCommand::kKill:
      return stop(call.run, 0);
    case RunCommand::kNone:
      return;
  }
}

void MachineWorld::prepare(RunId run, const GpuSet& gpus, Sharing sharing) {
  if (placed_.contains(run) || refused_.contains(run)) return;
  Placed& made = placed_[run];
  made.gpus = gpus;
  made.sharing = sharing;
  check(run);
  at(now_ + random_.uniform(0, 5), [this, run] {
    const auto found = placed_.find(run);
    if (found == placed_.end() || found->second.over) return;
    if (faulty(faults_.start_fails)) return finish(run, RunOutcome::kFailed);
    tell(run, RunEvent::kReady);
  });
}

bool MachineWorld::shares(RunId run, const Placed& placed) const {
  return placed.sharing == Sharing::kShared || joined_.contains(run);
}

void MachineWorld::check(RunId run) {
  const Placed& mine = placed_.at(run);
  if (done_.contains(run.job))
    violations_.push_back(name_of(run) + " runs a job that has finished");
  for (const auto& [other, placed] : placed_) {
    if (other == run || placed.over) continue;
    if (other.job == run.job) violations_.push_back(name_of(run) + " beside " + name_of(other));
    for (int i = 0; i < mine.gpus.nodes(); ++i) {
      for (int j = 0; j < placed.gpus.nodes(); ++j) {
        const bool same = mine.gpus[i].node == placed.gpus[j].node &&
                          (mine.gpus[i].mask & placed.gpus[j].mask) != 0;
        const bool share = shares(run, mine) && shares(other, placed);
        if (same && !share)
          violations_.push_back(name_of(run) + " on the GPUs of " + name_of(other));
      }
    }
  }
}

void MachineWorld::go(RunId run) {
  const auto found = placed_.find(run);
  if (found == placed_.end() || found->second.running || found->second.over ||
      found->second.stopping) {
    return;
  }
  ++started_;
  found->second.running = found->second.started = true;
  found->second.since = now_;
  tell(run, RunEvent::kStarted);
  at(now_ + work_left_.at(run.job), [this, run] { finish(run, RunOutcome::kFinished); });
}

void MachineWorld::stop(RunId run, Seconds grace) {
  const auto found = placed_.find(run);
  if (found == placed_.end()) {
    refused_.insert(run);
    return tell(run, RunEvent::kStartFailed);
  }
  if (found->second.over) return tell_end(run);
  const bool again = std::exchange(found->second.stopping, true);
  if (again && grace > 0) return;
  at(now_ + (grace > 0 ? random_.uniform(0, grace) : 0.1), [this, run, grace] {
    // Work is saved only by those who had time to.
    const auto left = placed_.find(run);
    if (left == placed_.end() || left->second.over) return;
    if (left->second.running && grace > 0) {
      work_left_[run.job] = std::max(0.1, work_left_[run.job] - (now_ - left->second.since));
    }
    finish(run, RunOutcome::kStopped);
  });
}

void MachineWorld::finish(RunId run, RunOutcome outcome) {
  const auto found = placed_.find(run);
  if (found == placed_.end() || found->second.over) return;
  found->second.over = true;
  found->second.outcome = outcome;
  if (outcome == RunOutcome::kFinished) done_.insert(run.job);
  tell_end(run);
}

// Its end is committed: nobody needs its record, and a late order must not bring it back.
void MachineWorld::forget(RunId run) {
  const auto found = placed_.find(run);
  if (found == placed_.end() || !found->second.over) return;
  placed_.erase(found);
  refused_.insert(run);
}

void MachineWorld::tell(RunId run, RunEvent event) {
  RunReport report;
  report.run = run;
  report.event = event;
  const auto found = placed_.find(run);
  if (found != placed_.end()) report.outcome = found->second.outcome;
  send([this, report, life = life_] { daemon_heard(report, life); });
}

void MachineWorld::tell_end(RunId run) {
  tell(run, placed_.at(run).started ? RunEvent::kExited : RunEvent::kStartFailed);
}

// One word, so that nothing overtakes its end; asked again if it gets lost.
void MachineWorld::census(std::uint64_t number) {
  std::vector<RunReport> seen;
  for (const auto& [run, placed] : placed_) {
    RunReport& report = seen.emplace_back();
    report.run = run;
    report.outcome = placed.outcome;
    report.event = placed.over ? (placed.started ? RunEvent::kExited : RunEvent::kStartFailed)
                               : (placed.running ? RunEvent::kSeenRunning : RunEvent::kSeenReady);
  }
  send([this, seen, number] { daemon_counted(seen, number); });
}

}  // namespace muster
