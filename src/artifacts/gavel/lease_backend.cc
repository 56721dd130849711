#include "artifacts/gavel/lease_backend.h"

#include <algorithm>

#include "model/truth.h"

namespace muster {

LeaseBackend::LeaseBackend(SimParts parts, const LeaseRule& rule)
    : parts_(std::move(parts)), nodes_(*parts_.cluster, parts_.failures), leases_(rule) {}

JobProgress LeaseBackend::act(const Command& command, Seconds now) {
  JobProgress progress;
  progress.since = now;
  const bool known = leases_.runs(command.slot);
  if (command.kind == CommandKind::kStop || (command.kind == CommandKind::kUpdateRate && !known)) {
    // One whose last lease is over has its end in the same batch of events.
    progress.work = known ? leases_.work_of(command.slot) : true_work(*command.job);
    progress.rate = 1;
    progress.saved_work = progress.work;
    if (command.kind == CommandKind::kStop) leases_.stop(command.slot);
    return progress;
  }
  const Seconds cost =
      command.kind == CommandKind::kUpdateRate ? 0 : start_cost(command, *parts_.cost);
  // Groups form one command after the other: only what they are in the end must have a speed.
  leases_.run(command, parts_.perf->step_rate(command.job->spec, command.context), cost);
  progress.work = leases_.work_of(command.slot);
  progress.rate = parts_.perf->rate(command.job->spec, command.context);
  progress.since = now + cost;
  progress.saved_work = progress.work;
  return progress;
}

Seconds LeaseBackend::next_event() {
  leases_.give(now_);
  return leases_.end() == kNever ? nodes_.next() : leases_.end();
}

Seconds LeaseBackend::advance(Seconds until, bool, std::vector<JobEvent>& events) {
  const Seconds limit = until == kNever ? std::max(now_, next_event()) : until;
  if (limit == kNever) return now_;
  while (nodes_.next() <= limit) {
    const JobEvent event = nodes_.pop();
    const bool down = event.kind == EventKind::kNodeDown || event.kind == EventKind::kGpuDown;
    if (down) leases_.lose(event.node, event.gpu, event.time);
    events.push_back(event);
  }
  leases_.give(now_);
  if (leases_.end() <= limit) leases_.settle(events);
  now_ = limit;
  return now_;
}

std::unique_ptr<Backend> LeaseBackend::fork() const {
  auto future = std::make_unique<LeaseBackend>(*this);
  future->nodes_.forget_failures();
  return future;
}

bool LeaseBackend::checkpoint(Archive& archive) {
  nodes_.checkpoint(archive);
  leases_.checkpoint(archive);
  archive.value(now_);
  return true;
}

ProgressInfo lease_progress() {
  return {"leases",
          "from turn to turn a job gets the whole training steps that fit a round",
          "Gavel, 2020",
          {{"step_per_gpu", ParamKind::kFlag, "false",
            "a job with fewer steps left than GPUs fails, as published"}},
          [](const Params& p, SimParts parts, const Pacing& pacing) -> std::unique_ptr<Backend> {
            return std::make_unique<LeaseBackend>(
                std::move(parts), LeaseRule{pacing.length(), p.flag("step_per_gpu")});
          },
          "leases"};
}

}  // namespace muster
