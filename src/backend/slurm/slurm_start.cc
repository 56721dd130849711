// What follows for a launch that was released and does not run yet.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "backend/slurm/command.h"
#include "backend/slurm/hostlist.h"
#include "backend/slurm/slurm_desk.h"
#include "backend/slurm/slurm_record.h"

namespace muster {
namespace {

constexpr std::string_view kOfAdmin = "JobHeldAdmin";
// A node starts what it should within so many seconds, or the launch goes elsewhere.
constexpr double kStuckAfter = 10;
constexpr double kAvoidFor = 300;  // one whose GPUs are counted wrongly
constexpr double kBusyFor = 30;    // a node on which Slurm finds no room for what we count as free
constexpr double kBeginsWithin = 60;  // a launch whose script is there already

// Slurm has looked at the job and says why it does not start it.
bool says_why(const std::string& reason) {
  return !reason.empty() && reason != "None" && reason != "Priority";
}

// However long it waits there.
bool hopeless(const std::string& reason) {
  constexpr std::array<std::string_view, 7> kReasons = {
      "BadConstraints",    "DependencyNeverSatisfied", "PartitionNodeLimit", "PartitionTimeLimit",
      "AccountNotAllowed", "InvalidAccount",           "InvalidQOS"};
  return std::find(kReasons.begin(), kReasons.end(), reason) != kReasons.end();
}

}  // namespace

void SlurmDesk::watch_start(Kept& kept, SlurmJob* row, double now) {
  if (row == nullptr) {
    if (answers_ <= kept.judged || finish_as_recorded(kept)) return;
    if (finish_as_accounted(kept, now)) return;
    if (!kept.own()) tell_job(kept, JobReport::Kind::kCancelled, forgotten(kept.job));
    return start_failed(kept, forgotten(kept.job));
  }
  if (row->state == SlurmState::kPending && row->restarts == kept.requeues) {
    if (!row->held || hopeless(row->reason)) return watch_pending(kept, *row, now);
    if (row->reason == kOfAdmin) {
      tell_job(kept, JobReport::Kind::kHeld, "an administrator holds it in Slurm");
      return start_failed(kept, "an administrator holds it in Slurm");
    }
    if (held_by_its_user(kept, *row)) {
      held_by_user_.insert(row->id);
      tell_job(kept, JobReport::Kind::kHeld, "its user holds it in Slurm");
      return start_failed(kept, "its user holds it in Slurm");
    }
    // The word was lost, with a controller that crashed before it had written it down; perhaps
    // where it was to run, too.
    const auto mark = mark_of(*row);
    kept.phase = mark && mark->run == kept.run ? Phase::kReleasing : Phase::kPlacing;
    return;
  }
  if (row->state == SlurmState::kStarting || row->state == SlurmState::kUnknown) return;
  if (kept.in_place && row->state == SlurmState::kRunning &&
      !slurm_launch_began(settings_.runs, kept.run)) {
    if (kept.released == kNever) kept.released = now;
    if (now < kept.released + kBeginsWithin) return;
    kept.phase = Phase::kStopping;  // its script does not hear us: it is queued again
    return;
  }
  if (row->state == SlurmState::kCancelled && row->nodes.empty()) {
    tell_job(kept, JobReport::Kind::kCancelled, "it was cancelled in Slurm");
    return start_failed(kept, "it was cancelled in Slurm");
  }
  tell_started(kept);
  kept.phase = Phase::kRunning;
  watch_run(kept, row, now);
}

// Its hold looks like ours. It is not where the job was seen without one since we released it, by
// the controller that still is there.
bool SlurmDesk::held_by_its_user(const Kept& kept, const SlurmJob& row) {
  const auto mark = mark_of(row);
  if (!kept.seen_released || !mark || mark->run != kept.run) return false;
  const auto since = control_.up_since();
  return since && *since < std::floor(kept.released);
}

// It is released, and waits.
void SlurmDesk::watch_pending(Kept& kept, const SlurmJob& row, double now) {
  if (kept.released == kNever) kept.released = now;
  if (!row.held) kept.seen_released = true;
  give_up_where_drained(kept, row, now);
  if (kept.phase == Phase::kStopping || !says_why(row.reason)) return;
  kept.says = row.reason;
  if (!hopeless(row.reason) && now < kept.released + kStuckAfter) return;
  const bool no_room = row.reason == "Resources" || row.reason.starts_with("ReqNodeNotAvail");
  const auto names = expand_hostlist(row.required);
  for (const std::string& name : no_room&& names ? *names : std::vector<std::string>()) {
    const NodeId id = cluster_.node(name);
    if (id == kNoNode || !busy_until_.insert_or_assign(id, now + kBusyFor).second) continue;
    say(fmt::format("Slurm finds no room for job {} on {}: nothing is sent there for {} s", row.id,
                    name, kBusyFor));
  }
  give_up(kept, fmt::format("Slurm does not start it on {}: {}", complaint(row.required),
                            complaint(row.reason)));
}

// It is held again, and goes back to the policy.
void SlurmDesk::give_up(Kept& kept, const std::string& why) {
  kept.gave_up = why;
  kept.phase = Phase::kStopping;
  kept.judged = answers_;
}

// A node that was drained after the launch was released, or that does not answer, takes nothing
// new, and one whose GPUs are counted wrongly has too few, or starts nothing at all: the launch
// would wait there for as long as that lasts. Where it is to be is read from Slurm: an earlier
// daemon may have placed it.
void SlurmDesk::give_up_where_drained(Kept& kept, const SlurmJob& row, double now) {
  const auto names = expand_hostlist(row.required);
  if (!names) return;
  for (const std::string& name : *names) {
    const NodeId id = cluster_.node(name);
    const auto node = states_.find(id);
    if (id == kNoNode || node == states_.end()) continue;
    const bool fits = count_of(row.per_node, "gpu") <= cluster_.host(id).gpus - uncounted(id);
    const bool stuck = uncounted(id) > 0 && now > kept.released + kStuckAfter;
    if (stuck && avoid_.insert_or_assign(id, now + kAvoidFor).second) {
      say(
          fmt::format("Slurm does not start job {} on {}, whose GPUs it counts wrongly: nothing is "
                      "sent there for {} s, or until it is told to count again (scontrol "
                      "reconfigure)",
                      row.id, name, kAvoidFor));
    }
    const bool takes = !node->second.drained || busy_until_.contains(id);
    if (node->second.up && takes && fits && !stuck) continue;
    return give_up(kept, fmt::format("{} does not take it any more ({})", name,
                                     complaint(node->second.detail)));
  }
}

}  // namespace muster
