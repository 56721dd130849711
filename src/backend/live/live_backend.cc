#include "backend/live/live_backend.h"

#include <algorithm>

#include "backend/sim/sim_backend.h"

namespace muster {

JobProgress LiveBackend::act(const Command& command, Seconds now) {
  const Job& job = *command.job;
  JobProgress progress;
  // News may come before the engine has seen that a job outran what is believed of its length.
  progress.work = std::min(job.running() ? job.work_at(now) : job.work, job.total_work);
  progress.saved_work = job.saved_work;
  if (command.kind == CommandKind::kStop) {
    // One that is asked saves what it has done; one whose node vanished has its last checkpoint.
    // What it really saved comes with the word that it has left.
    if (!command.graceful) progress.work = std::min(progress.work, job.saved_work);
    progress.saved_work = progress.work;
    progress.since = kNever;
    return progress;
  }
  progress.rate = beliefs_->rate(job.spec, command.context);
  const bool runs = command.kind == CommandKind::kUpdateRate || command.kind == CommandKind::kAdopt;
  // One that is found before it has begun begins when its executor says so.
  progress.since = runs && !job.starting() ? now : kNever;
  return progress;
}

void LiveBackend::dispatch(std::span<const Order> orders, Seconds /*now*/) {
  orders_.insert(orders_.end(), orders.begin(), orders.end());
}

std::unique_ptr<Backend> LiveBackend::fork() const {
  return std::make_unique<SimBackend>(SimParts{.cluster = cluster_, .perf = beliefs_});
}

}  // namespace muster
