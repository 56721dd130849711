// How simulated work gets done between two commands.
//
// SimBackend's own rule is continuous: work grows by the rate, and a job ends the moment it is
// done. A progress model replaces that rule.
#pragma once

#include <memory>

#include "base/archive.h"
#include "engine/backend.h"

namespace muster {

class ProgressModel {
 public:
  virtual ~ProgressModel() = default;
  // The rate after the command, where the performance model says `usual`.
  virtual double rate(const Command& /*command*/, double usual) const { return usual; }
  // Work that a running job has done by `now`; after `total` it is over.
  virtual double work_by(const Command& command, double /*total*/, Seconds now) const {
    return command.job->work_at(now);
  }
  // Whether a restart is booked as more work when a job is stopped, instead of as idle time when it
  // comes back: an order by remaining time then sees it while the job waits.
  virtual bool stops_add_work() const { return false; }
  // The job goes on like this: remembers it, and says when it ends; kNever: not by itself.
  virtual Seconds end_of(const Command& command, const JobProgress& progress, double total,
                         Seconds now) = 0;
  // Writes or reads all that it remembers.
  virtual void checkpoint(Archive& archive) = 0;
  virtual std::unique_ptr<ProgressModel> clone() const = 0;
};

// Jobs run until they are stopped or the scheduling policy ends them (policy/completion_rule.h).
std::unique_ptr<ProgressModel> make_open_ended();

}  // namespace muster
