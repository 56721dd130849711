// The executor's reports about nodes, and changes that people made to jobs with its tools instead
// of ours.
#include <bit>

#include "daemon/core.h"

namespace muster {

void Core::hear_node(const NodeReport& report, Seconds now) {
  if (index(report.node) >= nodes_.size()) return;
  StoredNode& row = nodes_[index(report.node)];
  if (row.up != report.up) {
    JobEvent event;
    event.time = now;
    event.kind = report.up ? EventKind::kNodeUp : EventKind::kNodeDown;
    event.node = report.node;
    events_.push_back(event);
  }
  Outside& outside = outside_[index(report.node)];
  if (row.up != report.up || outside.drained != report.drained) {
    touched_nodes_.insert(report.node);
    if (!row.drained) row.reason = report.detail;
  }
  row.up = report.up;
  outside.detail = report.detail;
  row.drained_outside = outside.drained = report.drained;
  tell_drained(report.node, now);
  set_taken(report.node, report.taken, now);
}

void Core::tell_drained(NodeId node, Seconds now) {
  Outside& outside = outside_[index(node)];
  const bool drained = nodes_[index(node)].drained || outside.drained;
  if (drained == outside.told_drained) return;
  outside.told_drained = drained;
  JobEvent event;
  event.time = now;
  event.kind = drained ? EventKind::kDrained : EventKind::kUndrained;
  event.node = node;
  events_.push_back(event);
}

// Which GPUs they are is not known to us, only how many: those without a job of ours, from the
// last. Where ours hold them all, a launch that waits for one will be told so by its executor.
void Core::set_taken(NodeId node, int taken, Seconds now) {
  std::uint64_t& counted = outside_[index(node)].taken;
  const auto change = [&](EventKind kind, int gpu) {
    JobEvent event;
    event.time = now;
    event.kind = kind;
    event.node = node;
    event.gpu = gpu;
    events_.push_back(event);
    counted ^= std::uint64_t{1} << gpu;
  };
  while (std::popcount(counted) > taken) change(EventKind::kGpuUp, std::countr_zero(counted));
  const std::uint64_t free = engine_->view().cluster.free_mask(node) & ~counted;
  for (int gpu = 63; gpu >= 0 && std::popcount(counted) < taken; --gpu) {
    if ((free >> gpu & 1) != 0) change(EventKind::kGpuDown, gpu);
  }
}

void Core::hear_job(const JobReport& report) {
  if (report.job == kNoJob) return;
  // What came too late for a job that is over, or is said twice, has no effect.
  Known* const known = active(report.job);
  switch (report.kind) {
    case JobReport::Kind::kCancelled:
      if (known != nullptr) static_cast<void>(cancel(report.job, report.why));
      return;
    case JobReport::Kind::kHeld:
      if (known != nullptr && !known->held) static_cast<void>(hold(report.job, report.why));
      return;
    case JobReport::Kind::kReleased:
      if (known != nullptr && known->held) static_cast<void>(release(report.job));
      return;
    case JobReport::Kind::kSeen:
      if (known == nullptr) effects_.over.push_back({report.job, report.origin, true});
      return;
    case JobReport::Kind::kFound:
      return;
  }
}

}  // namespace muster
