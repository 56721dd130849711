// What follows for a launch from what Slurm says of its job.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "backend/slurm/found_job.h"
#include "backend/slurm/slurm_desk.h"
#include "backend/slurm/slurm_record.h"
#include "backend/slurm/slurm_script.h"

namespace muster {
namespace {

constexpr std::string_view kAdmin = "JobHeldAdmin";

}  // namespace

void SlurmDesk::advance(Kept& kept, double now) {
  SlurmJob* const row = row_of(kept);
  switch (kept.phase) {
    case Phase::kPlacing:
      return put(kept, now);
    case Phase::kReady:
      if (row == nullptr || slurm_ended(row->state)) watch_start(kept, row, now);
      return;
    case Phase::kReleasing:
      return release(kept, now);
    case Phase::kStarting:
      return answers_ > kept.judged ? watch_start(kept, row, now) : void();
    case Phase::kRunning:
      return watch_run(kept, row, now);
    case Phase::kStopping:
      return watch_stop(kept, row, now);
  }
}

// Brings the job of Slurm to where it can be placed: in the queue, and held.
void SlurmDesk::put(Kept& kept, double now) {
  if (refuse_to_share(kept)) return;
  SlurmJob* const row = row_of(kept);
  if (row == nullptr && kept.own()) return submit({&kept}, now);
  if (row == nullptr) {
    if (finish_as_accounted(kept, now)) return;
    tell_job(kept, JobReport::Kind::kCancelled, forgotten(kept.job));
    return start_failed(kept, forgotten(kept.job));
  }
  kept.job = row->id;
  if (row->state == SlurmState::kCancelled) {
    tell_job(kept, JobReport::Kind::kCancelled, "it was cancelled in Slurm");
    return start_failed(kept, "it was cancelled in Slurm");
  }
  if (row->state == SlurmState::kCompleting || row->state == SlurmState::kUnknown) return;
  if (row->state != SlurmState::kPending) {
    if (put_in_place(kept, *row)) return kept.go ? release(kept, now) : void();
    if (now < kept.ask_again) return;
    kept.ask_again = now + kAskAgain;
    const Status done = control_.requeue_and_hold(row->id);
    if (!done && kept.own() && slurm_ended(row->state)) return submit({&kept}, now);
    if (!done) start_failed(kept, done.error().message);
    return;
  }
  if (row->held && row->reason == kAdmin) {
    tell_job(kept, JobReport::Kind::kHeld, "an administrator holds it in Slurm");
    return start_failed(kept, "an administrator holds it in Slurm");
  }
  // Slurm turns no request for GPUs into one for shards of them, nor back.
  const bool shards = count_of(row->per_node, "shard") > 0;
  if (kept.own() && shards != (kept.order.sharing == Sharing::kShared)) return submit({&kept}, now);
  if (!row->held) hold(*row);
  if (row->held) place(kept, row, now);
}

bool SlurmDesk::refuse_to_share(Kept& kept) {
  if (!partner_has_whole_gpu(kept)) return false;
  start_failed(kept,
               "the job that it is to share with was started alone, and Slurm does not share a GPU "
               "that a job has as a whole");
  return true;
}

// Slurm gives no part of a GPU that a job has as a whole: the job that came first must have come to
// share.
bool SlurmDesk::partner_has_whole_gpu(const Kept& kept) const {
  if (kept.order.sharing != Sharing::kShared) return false;
  for (const auto& [run, other] : kept_) {
    if (other.end || run == kept.run || other.order.sharing == Sharing::kShared) continue;
    for (int i = 0; i < other.order.gpus.nodes(); ++i) {
      for (int j = 0; j < kept.order.gpus.nodes(); ++j) {
        const NodeGpus& theirs = other.order.gpus[i];
        const NodeGpus& ours = kept.order.gpus[j];
        if (theirs.node == ours.node && (theirs.mask & ours.mask) != 0) return true;
      }
    }
  }
  return false;
}

// New jobs of all launches that have none are submitted together.
void SlurmDesk::submit_all(double now) {
  std::vector<Kept*> launches;
  for (auto& [run, kept] : kept_) {
    const bool new_job = !kept.end && kept.phase == Phase::kPlacing && kept.own();
    if (new_job && row_of(kept) == nullptr && !refuse_to_share(kept)) launches.push_back(&kept);
  }
  submit(launches, now);
}

void SlurmDesk::submit(const std::vector<Kept*>& launches, double now) {
  std::vector<Kept*> wanted;
  std::vector<SlurmSubmission> submissions;
  for (Kept* const kept : launches) {
    Result<SlurmSubmission> submission = submission_of(*kept);
    if (!submission) {
      start_failed(*kept, submission.error().message);
      continue;
    }
    wanted.push_back(kept);
    submissions.push_back(std::move(*submission));
  }
  if (wanted.empty()) return;
  const std::vector<Result<std::uint32_t>> jobs = control_.submit(submissions);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!jobs[i]) {
      start_failed(*wanted[i], jobs[i].error().message);
      continue;
    }
    wanted[i]->job = *jobs[i];
    place(*wanted[i], nullptr, now);
  }
}

Result<SlurmSubmission> SlurmDesk::submission_of(const Kept& kept) const {
  if (kept.order.command.empty()) return Error{"nothing is known of its command"};
  if (!kept.order.user.empty()) {
    return Error{"jobs of other users come through Slurm itself: sbatch --hold"};
  }
  const GpuSet& gpus = kept.order.gpus;
  if (gpus.nodes() == 0 || !cluster_.has(gpus[0].node)) {
    return Error{"it has no node of these partitions"};
  }
  SlurmSubmission submission;
  submission.name =
      kept.order.name.empty() ? fmt::format("muster-{}", index(kept.run.job)) : kept.order.name;
  submission.comment = mark_text({settings_.instance, {}, {kept.run.job, 0}, 0, 0});
  const std::string mark = own_mark_prefix(settings_.instance, kept.run.job);
  submission.partition = cluster_.host(gpus[0].node).partition;
  submission.script = batch_script(kept.order, settings_.runs, mark);
  submission.output = "/dev/null";
  submission.memory_gb = kept.order.memory_gb / gpus.nodes();
  if (kept.order.sharing == Sharing::kShared) submission.gres = "shard:1";
  return submission;
}

Result<SlurmPlacement> SlurmDesk::placement_of(const Kept& kept, const SlurmJob* row) const {
  const GpuSet& gpus = kept.order.gpus;
  SlurmPlacement placement;
  bool even = true;
  for (int i = 0; i < gpus.nodes(); ++i) {
    if (!cluster_.has(gpus[i].node)) return Error{"it was placed on a node that is not here"};
    const SlurmHost& host = cluster_.host(gpus[i].node);
    placement.nodes.push_back(host.name);
    even = even && gpus[i].count() == gpus[0].count();
    if (placement.partition.empty()) placement.partition = host.partition;
    if (placement.partition != host.partition) {
      return Error{
          fmt::format("it was placed on nodes of the partitions {} and {}, and a job of "
                      "Slurm belongs to one; submit it with --partition",
                      placement.partition, host.partition)};
    }
  }
  if (placement.nodes.empty()) return Error{"it was placed on no node"};
  if (kept.order.max_nodes > 0 && gpus.nodes() > kept.order.max_nodes) {
    return Error{
        fmt::format("it asks for at most {} nodes (-N, --ntasks-per-node), and the policy gave it "
                    "GPUs of {}; --placement consolidated:one_node=true keeps jobs on one",
                    kept.order.max_nodes, gpus.nodes())};
  }
  const std::string type = row != nullptr && !kept.own() ? gpu_type_wanted(*row) : "";
  const std::string what = "gres:gpu:" + (type.empty() ? "" : type + ":");
  if (kept.order.sharing == Sharing::kShared) {
    const int shards = cluster_.host(gpus[0].node).shards;
    if (shards < 2 || gpus.gpus() != 1) {
      return Error{shards < 2 ? "its nodes offer no shards (Gres=shard:N), so it cannot share a GPU"
                              : "Slurm packs shards onto as few GPUs as it can, so only jobs of "
                                "one GPU can share"};
    }
    if (!kept.own()) {
      return Error{"it was submitted to Slurm for whole GPUs, and Slurm cannot make that shards"};
    }
    placement.per_node = fmt::format("gres:shard:{}", shards / 2);
  } else if (row != nullptr && count_of(row->per_task, "gpu") > 0) {
    // The tasks bring their GPUs with them.
  } else if (even) {
    placement.per_node = fmt::format("{}{}", what, gpus[0].count());
  } else {
    placement.per_job = fmt::format("{}{}", what, gpus.gpus());
  }
  const int ranks = kept.order.process_per_gpu ? gpus.gpus() : gpus.nodes();
  placement.own = kept.own();
  placement.tasks = kept.own() ? ranks : row->tasks < gpus.nodes() ? gpus.nodes() : 0;
  if (kept.own()) {
    const int ranks_per_node = (ranks + gpus.nodes() - 1) / gpus.nodes();
    const int cpus = static_cast<int>(std::ceil(kept.order.cpus / gpus.nodes()));
    placement.cpus_per_node = std::max(ranks_per_node, cpus);
  }
  placement.requeued = row != nullptr && row->restarts > 0;
  placement.ranks = static_cast<std::uint32_t>(ranks);
  placement.mark = mark_text(
      {settings_.instance, kept.nonce, kept.run, kept.requeues, static_cast<std::uint32_t>(ranks)});
  return placement;
}

void SlurmDesk::place(Kept& kept, const SlurmJob* row, double now) {
  kept.requeues = row == nullptr ? 0 : row->restarts;
  const Result<SlurmPlacement> placement = placement_of(kept, row);
  if (!placement) return start_failed(kept, placement.error().message);
  const Status placed = control_.place(kept.job, *placement);
  if (!placed) return start_failed(kept, placed.error().message);
  kept.ranks = placement->ranks;
  held_by_user_.erase(kept.job);
  if (row != nullptr && row->restarts > 0) {
    // A node that is given the job again within the same second refuses it, and it would fail.
    const auto since = requeued_.find({row->id, row->restarts});
    kept.not_before = std::floor(since == requeued_.end() ? now : since->second) + 1.05;
  }
  kept.judged = answers_;
  kept.phase = kept.go ? Phase::kReleasing : Phase::kReady;
  tell(kept, RunEvent::kReady);
  if (kept.go) release(kept, now);
}

void SlurmDesk::release(Kept& kept, double now) {
  if (now < kept.not_before) {
    due_ = std::min(due_, kept.not_before);
    return;
  }
  const Status done =
      kept.in_place ? tell_slurm_next_launch(settings_.runs, kept.run) : control_.release(kept.job);
  if (!done) {
    // Once more with the next answer, which may also say that it is gone.
    say(fmt::format("job {} of Slurm: {}", kept.job, done.error().message));
  }
  kept.released = now;
  kept.judged = answers_;
  kept.phase = Phase::kStarting;
  due_ = std::min(due_, now + 0.25);
}

void SlurmDesk::watch_run(Kept& kept, SlurmJob* row, double now) {
  if (row == nullptr) {
    if (finish_as_recorded(kept) || finish_as_accounted(kept, now)) return;
    return end(kept, RunEvent::kExited, RunOutcome::kStopped, 0, forgotten(kept.job));
  }
  if (row->state == SlurmState::kPending) {
    if (!row->held) hold(*row);
    const std::string why = "Slurm requeued it: " + row->reason;
    return end(kept, RunEvent::kExited, RunOutcome::kStopped, 0, why);
  }
  // Slurm requeued it and has started it again by itself: it goes on, and is still this launch.
  if (row->state == SlurmState::kRunning) kept.requeues = row->restarts;
  listen(kept, slurm_ended(row->state));
  if (slurm_ended(row->state)) finish(kept, *row);
}

void SlurmDesk::watch_stop(Kept& kept, SlurmJob* row, double now) {
  if (row == nullptr || slurm_ended(row->state)) return watch_run(kept, row, now);
  if (row->state == SlurmState::kRunning) listen(kept, true);
  if (row->state == SlurmState::kPending) {
    if (row->restarts > kept.requeues) {
      if (!row->held) hold(*row);
      return end(kept, RunEvent::kExited, RunOutcome::kStopped, 0, "it was told to stop");
    }
    // It was released and has not begun. Only an answer after the hold says that it never will.
    if (row->held && answers_ > kept.judged) {
      std::string why = kept.gave_up.empty() ? "it was stopped before it started" : kept.gave_up;
      if (kept.gave_up.empty() && !kept.says.empty()) why += "; Slurm said " + kept.says;
      return start_failed(kept, why);
    }
    hold(*row);
    kept.judged = answers_;
    return;
  }
  if (row->state == SlurmState::kCompleting || row->state == SlurmState::kUnknown) return;
  if (kept.grace > 0 && !kept.asked) {
    kept.signalled = kept.asked = true;
    if (kept.own() && words_of(kept).someone_listens()) {
      // A job that speaks with us leaves after a step that all ranks agree on.
      words_of(kept).ask_to_leave();
    } else {
      const Status done = control_.signal(row->id, kept.own() ? "TERM" : settings_.signal);
      if (!done) say(fmt::format("job {} of Slurm: {}", row->id, done.error().message));
    }
    return note_asked(kept.run);
  }
  if (kept.next) return watch_shrink(kept, *row, now);
  if ((now < kept.kill_at && !waits_in_vain(kept)) || now < kept.ask_again) return;
  kept.signalled = true;
  kept.ask_again = now + kAskAgain;
  const Status done = kept.over ? control_.cancel(row->id) : control_.requeue_and_hold(row->id);
  if (!done) say(fmt::format("job {} of Slurm: {}", row->id, done.error().message));
}

void SlurmDesk::hold(SlurmJob& row) {
  if (const Status done = control_.hold(row.id); !done) {
    return say(fmt::format("job {} of Slurm: {}", row.id, done.error().message));
  }
  row.held = true;
  row.reason = "JobHeldUser";
}

void SlurmDesk::tell(const Kept& kept, RunEvent event) {
  RunReport report;
  report.run = kept.run;
  report.event = event;
  tell_(report);
}

void SlurmDesk::tell_started(Kept& kept) {
  if (!std::exchange(kept.started_told, true)) tell(kept, RunEvent::kStarted);
}

void SlurmDesk::tell_job(const Kept& kept, JobReport::Kind kind, const std::string& why) {
  JobReport report;
  report.kind = kind;
  report.job = kept.run.job;
  report.why = why;
  tell_(report);
}

}  // namespace muster
