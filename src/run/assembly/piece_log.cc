#include "run/assembly/piece_log.h"

#include <algorithm>

namespace muster {

void PieceLog::on_decision(const Decision& decision) {
  events_.push_back({Kind::kDecision, decisions_.size()});
  decisions_.push_back(decision);
}

void PieceLog::on_placement(const Decision&, const GpuSet& held) {
  events_.push_back({Kind::kPlacement, placements_.size()});
  placements_.emplace_back(decisions_.size() - 1, held);
}

void PieceLog::on_job_end(const JobRecord& record) {
  events_.push_back({Kind::kRecord, records_.size()});
  records_.push_back(record);
}

void PieceLog::on_turn(const TurnStats& turn) { turns_.push_back({turn, events_.size()}); }

JobId PieceLog::whole(JobId job) const { return job == kNoJob ? kNoJob : jobs[index(job)]; }

void PieceLog::tell(const Event& event, std::span<Observer* const> observers) const {
  if (event.kind == Kind::kRecord) {
    JobRecord record = records_[event.at];
    if (told && !told(record.id)) return;
    record.id = whole(record.id);
    if (amend) amend(record);
    for (Observer* observer : observers) observer->on_job_end(record);
    return;
  }
  const bool placement = event.kind == Kind::kPlacement;
  Decision decision = decisions_[placement ? placements_[event.at].first : event.at];
  if (told && decision.job != kNoJob && !told(decision.job)) return;
  if (told && decision.other != kNoJob && !told(decision.other)) decision.other = kNoJob;
  decision.job = whole(decision.job);
  decision.other = whole(decision.other);
  if (decision.action == Action::kNodeUp || decision.action == Action::kNodeDown) {
    decision.detail =
        static_cast<std::int32_t>(index(nodes[static_cast<std::size_t>(decision.detail)]));
  }
  if (!placement) {
    for (Observer* observer : observers) observer->on_decision(decision);
    return;
  }
  GpuSet renumbered;
  const GpuSet& held = placements_[event.at].second;
  for (int i = 0; i < held.nodes(); ++i) renumbered.add(nodes[index(held[i].node)], held[i].mask);
  for (Observer* observer : observers) observer->on_placement(decision, renumbered);
}

namespace {

// The sum of what the pieces look like after their latest turns.
TurnStats sum_of(const std::vector<TurnStats>& latest) {
  TurnStats sum;
  for (const TurnStats& one : latest) {
    sum.held += one.held;
    sum.waiting += one.waiting;
    sum.running += one.running;
    sum.usable_gpus += one.usable_gpus;
    sum.used_gpus += one.used_gpus;
    sum.demanded_gpus += one.demanded_gpus;
  }
  return sum;
}

}  // namespace

void tell_together(std::span<PieceLog> pieces, std::span<Observer* const> observers) {
  std::vector<std::size_t> next(pieces.size(), 0);
  std::vector<std::size_t> event(pieces.size(), 0);
  std::vector<TurnStats> latest(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) latest[i].usable_gpus = pieces[i].gpus;
  Seconds previous = kNever;
  while (true) {
    Seconds now = kNever;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (next[i] < pieces[i].turns_.size()) {
        now = std::min(now, pieces[i].turns_[next[i]].stats.time);
      }
    }
    if (now == kNever) break;
    int stops = 0;
    double spent = 0;
    int programs = 0;
    double gap = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const PieceLog& piece = pieces[i];
      for (; next[i] < piece.turns_.size() && piece.turns_[next[i]].stats.time == now; ++next[i]) {
        const PieceLog::Turn& turn = piece.turns_[next[i]];
        for (; event[i] < turn.end; ++event[i]) piece.tell(piece.events_[event[i]], observers);
        latest[i] = turn.stats;
        stops += turn.stats.stops;
        spent += turn.stats.spent;
        programs += turn.stats.programs;
        gap = std::max(gap, turn.stats.gap);
      }
    }
    TurnStats turn = sum_of(latest);
    turn.time = now;
    turn.previous = previous == kNever ? now : previous;
    turn.stops = stops;
    turn.spent = spent;
    turn.programs = programs;
    turn.gap = gap;
    for (Observer* observer : observers) observer->on_turn(turn);
    previous = now;
  }
  // What was told after the last turn.
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (; event[i] < pieces[i].events_.size(); ++event[i]) {
      pieces[i].tell(pieces[i].events_[event[i]], observers);
    }
  }
}

}  // namespace muster
