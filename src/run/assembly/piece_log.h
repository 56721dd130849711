// Merges the reports of several simulations that ran in parallel into one story in order of time.
//
// Each simulation numbers its jobs and nodes from 0 and has its own clock. A PieceLog keeps the
// reports of one of them; tell_together() repeats all reports to the observers of the whole, with
// the numbers of the whole, one turn for every moment at which any of them had a turn.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "model/record.h"

namespace muster {

class PieceLog final : public Observer {
 public:
  // By its number in the piece: the number in the whole of each job and node.
  std::vector<JobId> jobs;
  std::vector<NodeId> nodes;
  int gpus = 0;  // usable before its first turn
  // Which of its jobs the story is about, by number in the piece; empty: all.
  std::function<bool(JobId)> told;
  // Replaces the record of a job that left, if the whole knows better.
  std::function<void(JobRecord&)> amend;

  void on_decision(const Decision& decision) override;
  void on_placement(const Decision& decision, const GpuSet& held) override;
  void on_job_end(const JobRecord& record) override;
  void on_turn(const TurnStats& turn) override;

  const std::vector<JobRecord>& records() const { return records_; }

 private:
  friend void tell_together(std::span<PieceLog> pieces, std::span<Observer* const> observers);

  enum class Kind : std::uint8_t { kDecision, kPlacement, kRecord };
  struct Event {
    Kind kind;
    std::size_t at;  // in the list of its kind
  };
  struct Turn {
    TurnStats stats;
    std::size_t end;  // of its events
  };
  void tell(const Event& event, std::span<Observer* const> observers) const;
  JobId whole(JobId job) const;

  std::vector<Event> events_;
  std::vector<Decision> decisions_;
  std::vector<std::pair<std::size_t, GpuSet>> placements_;  // of the decision at that place
  std::vector<JobRecord> records_;
  std::vector<Turn> turns_;
};

// At equal times the pieces speak in their order.
void tell_together(std::span<PieceLog> pieces, std::span<Observer* const> observers);

}  // namespace muster
