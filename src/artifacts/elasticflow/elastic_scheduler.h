// What ElasticFlow and EDF of the published artifact share: jobs with plans, progress by
// iterations, ends in a list of events.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "artifacts/elasticflow/scheduler.h"

namespace muster::published {

class ElasticScheduler : public Scheduler {
 public:
  using Scheduler::Scheduler;
  SchedulingTraits traits() const override {
    SchedulingTraits traits = Scheduler::traits();
    traits.needs = kNeeds;
    traits.resizes = true;
    traits.needs_periodic_turns = true;
    return traits;
  }
  Seconds wake(const View&) const override { return events_.next(now_, slot_); }

 protected:
  // Runs all jobs since the last round. One that got through early ends in this very round.
  void advance();
  void sort_by_deadline(std::vector<Slot>& jobs) const;
  // A job leaves the lists.
  void drop(Slot slot);
  void wait(Slot slot);
  void start(Slot slot);
  // Finds out whose GPUs were in use before, given the order in which jobs are placed.
  void look_up_ranges(const std::vector<Slot>& order);
  // Every job among these that holds GPUs pays for this round, and ends later by as much.
  void charge(const std::vector<Slot>& jobs);
  bool checkpoint_lists(Archive& archive) {
    events_.checkpoint(archive);
    archive.list(runnable_);
    archive.list(pending_);
    archive.list(running_);
    std::vector<std::pair<int, int>> ranges(ranges_.begin(), ranges_.end());
    archive.each(ranges, [&archive](std::pair<int, int>& range) {
      archive.value(range.first);
      archive.value(range.second);
    });
    if (archive.reading()) ranges_ = {ranges.begin(), ranges.end()};
    return checkpoint_books(archive);
  }

  Events events_;
  std::vector<Slot> runnable_;      // admitted, in the order in which they were last sorted
  std::vector<Slot> pending_;       // never had GPUs
  std::vector<Slot> running_;       // have had some
  bool judges_exact_ends_ = false;  // the exact end of a plan counts, not its slot's

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kDuration}};
  std::set<std::pair<int, int>> ranges_;  // first rank and size, since trainers were last restarted
};

}  // namespace muster::published
