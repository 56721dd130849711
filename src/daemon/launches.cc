#include "daemon/launches.h"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

bool on_gpus(RunState state) { return state != RunState::kPlanned && !over(state); }

}  // namespace

Status Launches::adopt(std::span<const StoredRun> runs, Seconds now,
                       const std::map<JobId, Seconds>& graces) {
  for (const StoredRun& row : runs) {
    if (over(row.state)) continue;
    if (Status known = book_.restore(row.run, row.state); !known) return known;
    if (on_gpus(row.state)) {
      if (const auto seized = ledger_.seize(row.run, row.gpus, row.sharing); !seized) {
        return seized.error();
      }
      if (row.state == RunState::kStopping || row.state == RunState::kAborting) {
        ledger_.leave(row.run);
      }
    } else if (Status queued = ledger_.promise(row.run, row.gpus, row.sharing); !queued) {
      return queued;
    }
    Entry& entry = entries_[row.run];
    entry.row = row;
    entry.known = on_gpus(row.state);
    const auto grace = graces.find(row.run.job);
    if (grace != graces.end()) entry.grace = Grace{grace->second};
    set_timer(entry, now);
  }
  grant(now);
  return Done{};
}

Status Launches::start(RunId run, const GpuSet& gpus, Sharing sharing, Seconds now) {
  if (Status planned = book_.plan(run); !planned) return planned;
  if (Status promised = ledger_.promise(run, gpus, sharing); !promised) {
    book_.apply(run, RunEvent::kStop);
    book_.forget(run);
    return promised;
  }
  Entry& entry = entries_[run];
  entry.row.run = run;
  entry.row.gpus = gpus;
  entry.row.sharing = sharing;
  entry.row.planned = now;
  effects_.rows.push_back(entry.row);
  // The first launch was alone when it was started, and is not any more.
  if (sharing == Sharing::kShared) {
    for (const RunId other : ledger_.join(gpus)) {
      StoredRun& row = entries_.at(other).row;
      row.sharing = Sharing::kShared;
      effects_.rows.push_back(row);
    }
  }
  grant(now);
  return Done{};
}

void Launches::stop(RunId run, Grace grace, Seconds now) {
  const auto found = entries_.find(run);
  if (found == entries_.end()) return;
  found->second.grace = grace;
  ledger_.leave(run);
  apply(run, RunEvent::kStop, nullptr, now);
}

void Launches::lose(NodeId node, Seconds now) {
  std::vector<RunId> there;
  for (const auto& [run, entry] : entries_) {
    for (int i = 0; i < entry.row.gpus.nodes(); ++i) {
      if (entry.row.gpus[i].node == node) there.push_back(run);
    }
  }
  for (const RunId run : there) apply(run, RunEvent::kLost, nullptr, now);
}

void Launches::heard(const RunReport& report, Seconds now) {
  seen_.insert(report.run);
  if (const auto found = entries_.find(report.run); found != entries_.end()) {
    found->second.known = true;
  }
  apply(report.run, report.event, &report, now);
  if (report.event == RunEvent::kExited || report.event == RunEvent::kStartFailed) {
    effects_.acknowledged.push_back(report.run);
  }
}

void Launches::counted(Seconds now) {
  std::vector<RunId> missing;
  for (const auto& [run, entry] : entries_) {
    // An order that was given lately may still be on its way.
    if (!seen_.contains(run) && (entry.known || entry.row.state == RunState::kPreparing)) {
      missing.push_back(run);
    }
  }
  for (const RunId run : missing) apply(run, RunEvent::kNotSeen, nullptr, now);
}

void Launches::apply(RunId run, RunEvent event, const RunReport* report, Seconds now) {
  const RunState before = book_.state(run);
  const RunAnswer answer = book_.apply(run, event);
  const auto found = entries_.find(run);
  const Grace grace = found == entries_.end() ? Grace{} : found->second.grace;
  if (answer.command != RunCommand::kNone) effects_.calls.push_back({run, answer.command, grace});
  LaunchNews news{run, answer.news, RunOutcome::kStopped, -1, {}, answer.strange};
  if (report != nullptr) news.detail = report->detail;
  if (report != nullptr && event == RunEvent::kExited) {
    news.outcome = report->outcome;
    news.saved_step = report->saved_step;
  }
  if (answer.news != RunNews::kNone || answer.strange) effects_.news.push_back(news);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (answer.command == RunCommand::kPrepare) entry.known = false;
  if (answer.next == RunState::kAborting) ledger_.leave(run);
  if (answer.next != before) {
    entry.row.state = answer.next;
    if (answer.news == RunNews::kStarted) entry.row.started = now;
    if (over(answer.next)) return end(entry, report, now);
    effects_.rows.push_back(entry.row);
  }
  if (answer.next != before || answer.command != RunCommand::kNone) set_timer(entry, now);
}

void Launches::end(Entry& entry, const RunReport* report, Seconds now) {
  const RunId run = entry.row.run;
  entry.row.ended = now;
  if (report != nullptr) {
    entry.row.outcome = report->outcome;
    entry.row.exit_code = report->exit_code;
    entry.row.saved_step = report->saved_step;
    entry.row.detail = report->detail;
  }
  effects_.rows.push_back(entry.row);
  ledger_.release(run);
  granted_.erase(run);
  entries_.erase(run);
  book_.forget(run);
  grant(now);
}

void Launches::set_timer(Entry& entry, Seconds now) const {
  switch (entry.row.state) {
    case RunState::kPreparing:
    case RunState::kStarting:
      entry.overdue = now + abilities_.start_limit;
      break;
    case RunState::kStopping:
      entry.overdue = now + entry.grace.seconds + abilities_.stop_margin;
      break;
    case RunState::kAborting:
      entry.overdue = now + abilities_.stop_margin;
      break;
    default:
      entry.overdue = kNever;
  }
}

void Launches::grant(Seconds now) {
  for (const RunId run : ledger_.grant()) granted_.insert(run);
  std::vector<RunId> ready;
  for (const RunId run : granted_) {
    if (!book_.must_wait(run)) ready.push_back(run);
  }
  for (const RunId run : ready) {
    granted_.erase(run);
    apply(run, RunEvent::kGranted, nullptr, now);
  }
}

Seconds Launches::due() const {
  Seconds next = kNever;
  for (const auto& [run, entry] : entries_) next = std::min(next, entry.overdue);
  return next;
}

void Launches::pass_time(Seconds now) {
  std::vector<RunId> late;
  for (const auto& [run, entry] : entries_) {
    if (entry.overdue <= now) late.push_back(run);
  }
  for (const RunId run : late) {
    const RunState before = book_.state(run);
    apply(run, RunEvent::kOverdue, nullptr, now);
    // Where the answer is to go on waiting, the timer must not fire again at once.
    const auto found = entries_.find(run);
    if (found != entries_.end() && book_.state(run) == before) set_timer(found->second, now);
  }
}

LaunchEffects Launches::take() {
  // A run may have changed several times since; its last row is the one to keep.
  std::map<RunId, StoredRun> latest;
  for (StoredRun& row : effects_.rows) latest[row.run] = std::move(row);
  effects_.rows.clear();
  for (auto& [run, row] : latest) effects_.rows.push_back(std::move(row));
  for (LaunchCall& call : effects_.calls) {
    if (call.command == RunCommand::kStop) call.next = smaller_next(call.run);
  }
  return std::exchange(effects_, {});
}

RunId Launches::smaller_next(RunId run) const {
  const auto found = entries_.find(run);
  if (found == entries_.end()) return {kNoJob, 0};
  const auto next = std::next(found);
  if (next == entries_.end() || next->first.job != run.job) return {kNoJob, 0};
  const GpuSet& before = found->second.row.gpus;
  const GpuSet& after = next->second.row.gpus;
  const bool alone = found->second.row.sharing == Sharing::kExclusive &&
                     next->second.row.sharing == Sharing::kExclusive;
  if (!alone || next->second.row.state != RunState::kPlanned || after.nodes() >= before.nodes()) {
    return {kNoJob, 0};
  }
  for (int i = 0; i < after.nodes(); ++i) {
    bool kept = false;
    for (int j = 0; j < before.nodes(); ++j) {
      kept = kept || (before[j].node == after[i].node && before[j].count() == after[i].count());
    }
    if (!kept) return {kNoJob, 0};
  }
  return next->first;
}

std::size_t Launches::alive() const { return entries_.size(); }

std::vector<RunId> Launches::runs() const {
  std::vector<RunId> all;
  for (const auto& [run, entry] : entries_) all.push_back(run);
  return all;
}

}  // namespace muster
