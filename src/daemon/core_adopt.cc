// Continuing from the store. Jobs and runs were committed together, except for reports of executors
// that came in between. A job whose launch is over by now either waits or has ended with it.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "daemon/core.h"
#include "engine/world.h"
#include "model/belief.h"

namespace muster {
namespace {

using RunRows = std::vector<const StoredRun*>;

JobState state_of(const std::string& name) {
  for (const JobState state : {JobState::kQueued, JobState::kRunning, JobState::kPreempted}) {
    if (name == job_state_name(state)) return state;
  }
  return JobState::kSubmitted;
}

void add_launch(Job& job, const StoredRun& run) {
  if (!over(run.state) || run.started == kNever) return;
  const Seconds held = std::max(0.0, run.ended - run.started);
  job.held_before += held;
  job.gpu_seconds_before += held * run.gpus.gpus();
}

// Its present launch is the job's own, and it has not been told to stop.
bool holds_gpus(const StoredJob& row, const StoredRun* last) {
  return last != nullptr && state_of(row.state) == JobState::kRunning && !over(last->state) &&
         last->state != RunState::kStopping && last->state != RunState::kAborting;
}

// Accounts of the launches before the one that it holds GPUs with. What the row says was true when
// it was written: a launch that ended later is in the rows of launches alone.
void take_accounts(Job& job, const StoredJob& row, const RunRows& runs) {
  if (row.held_before < 0) {
    for (const StoredRun* run : runs) add_launch(job, *run);
    return;
  }
  const StoredRun* last = runs.empty() ? nullptr : runs.back();
  const bool ended = last != nullptr && state_of(row.state) == JobState::kRunning &&
                     over(last->state) && last->started != kNever;
  const bool before = ended || holds_gpus(row, last);
  job.held_before = before ? row.held_before : row.held;
  job.gpu_seconds_before = before ? row.gpu_seconds_before : row.gpu_seconds;
  if (ended) add_launch(job, *last);
}

// Puts the job on the GPUs of its launch, or into the queue where that is none of its own any more.
void place(Job& job, const StoredJob& row, const StoredRun* last, Seconds now) {
  if (!holds_gpus(row, last)) {
    if (job.state == JobState::kRunning) {
      job.state = job.first_start == kNever ? JobState::kQueued : JobState::kPreempted;
    }
    job.waiting_since = now;
    return;
  }
  job.gpus = last->gpus;
  const bool runs = last->state == RunState::kRunning;
  const bool known = row.as_of > 0;
  job.rate = runs && known ? row.rate : 0;
  job.since = !runs ? kNever : known ? std::max(row.as_of, last->started) : now;
  job.held_since = runs ? last->started : kNever;
  job.waiting_since = now;
  job.opportunistic = row.opportunistic;
  job.host = {row.cpus_per_gpu, row.memory_per_gpu};
}

Job job_of(const StoredJob& row, JobSpec spec, const RunRows& runs, Seconds now) {
  Job job;
  job.spec = std::move(spec);
  if (row.duration > 0) {
    believe(job.spec, row.duration);
    job.spec.estimate = row.estimate;
  }
  job.state = state_of(row.state);
  job.total_work = row.total_work > 0 ? row.total_work : job.spec.duration;
  job.work = row.work;
  job.saved_work = row.saved_work;
  job.lost_work = row.lost_work;
  job.overhead = row.overhead;
  job.admitted = row.admitted == kNever ? now : row.admitted;
  job.first_start = row.first_start;
  job.preemptions = static_cast<int>(row.preemptions);
  job.restarts = static_cast<int>(row.restarts);
  job.crashes = static_cast<int>(row.crashes);
  job.resizes = static_cast<int>(row.resizes);
  job.failed_starts = static_cast<std::uint32_t>(row.failed_starts);
  job.launch = static_cast<std::uint32_t>(row.launches);
  job.ended = job.launch;
  for (const StoredRun* run : runs) {
    if (!over(run->state)) job.ended = std::min(job.ended, run->run.launch - 1);
  }
  take_accounts(job, row, runs);
  place(job, row, runs.empty() ? nullptr : runs.back(), now);
  job.waited_before = std::max(0.0, now - row.submitted - job.attained_at(now));
  return job;
}

// Jobs that share GPUs came in the order in which their launches were decided.
void order_starts(std::vector<Job>& jobs, const std::map<JobId, RunRows>& runs) {
  std::vector<std::pair<Seconds, Job*>> running;
  for (Job& job : jobs) {
    if (job.running()) running.emplace_back(runs.at(job.spec.id).back()->planned, &job);
  }
  std::stable_sort(running.begin(), running.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < running.size(); ++i) {
    running[i].second->start_order = static_cast<std::uint32_t>(i + 1);
  }
}

// Nodes that were drained when the daemon ended still are.
void keep_drained(const StoredWorld& world, std::vector<StoredNode>& nodes, EngineWorld& found) {
  for (StoredNode& node : nodes) {
    const auto before = std::find_if(world.nodes.begin(), world.nodes.end(),
                                     [&](const StoredNode& row) { return row.name == node.name; });
    if (before == world.nodes.end() || !before->drained) continue;
    node.drained = true;
    node.reason = before->reason;
    WorldNode& drained = found.nodes.emplace_back();
    drained.node = node.id;
    drained.drained = true;
  }
}

}  // namespace

void Core::adopt_job(const StoredJob& row, JobRequest request, const RunRows& runs, Seconds now,
                     EngineWorld& found) {
  Known& known = known_[row.id];
  known.row = row;
  known.request = std::make_shared<const JobRequest>(std::move(request));
  known.held = known.request->hold;
  JobSpec spec = spec_of(row, *known.request);
  if (const std::string why = refusal(spec, *known.request); !why.empty()) {
    return leave(known, JobState::kRefused, why, now);
  }
  if (known.held && row.state == "submitted" && row.launches == 0) {
    shelf_.emplace(row.id, std::move(spec));
    return;
  }
  const StoredRun* last = runs.empty() ? nullptr : runs.back();
  if (last != nullptr && last->state == RunState::kEnded &&
      last->outcome == RunOutcome::kFinished && row.state == "running") {
    return leave(known, JobState::kFinished, std::string(reason_sentence(Reason::kCompleted)),
                 last->ended);
  }
  Job job = job_of(row, std::move(spec), runs, now);
  take_for_true(known, job);
  if (job.running() && known.request->time_limit > 0 && !job.starting()) {
    limits_.set(row.id, now + std::max(0.0, known.request->time_limit - job.attained_at(now)));
  }
  if (known.held && job.state == JobState::kSubmitted) {
    found.on_hold.push_back(row.id);
  } else if (known.held) {
    events_.push_back(hold_event(row.id, true));
  }
  if (job.waiting() && row.paused_until > now) {
    found.back_offs.push_back({row.id, row.paused_until});
  }
  found.jobs.push_back(std::move(job));
  // What was measured of it is news to the engine that begins.
  for (const std::string_view one : split(row.metrics, ' ')) {
    const std::size_t at = one.find('=');
    const auto value = parse_real(at == one.npos ? std::string_view() : one.substr(at + 1));
    if (value) tell_metric(row.id, one.substr(0, at), *value, now);
  }
}

// It is not known what it wants. The others go on.
void Core::fail_unreadable(const StoredJob& row, const std::string& why) {
  Known& known = known_[row.id];
  known.row = row;
  known.request = std::make_shared<const JobRequest>();
  leave(known, JobState::kFailed,
        fmt::format("its description in the store cannot be read: {}", why), now_);
  effects_.log.push_back(fmt::format("job {} fails: {}", index(row.id), known.row.reason));
}

// A launch with another number of GPUs than its job asks for is what there is: the job asks for
// that from now on.
void Core::take_for_true(Known& known, Job& job) {
  const int has = job.gpus.gpus();
  if (!job.running() || (has >= job.spec.least_gpus() && has <= job.spec.most_gpus())) return;
  effects_.log.push_back(fmt::format("job {} asked for {} GPUs and runs on {}: it keeps these",
                                     index(job.spec.id), job.spec.gpus, has));
  JobRequest request = *known.request;
  request.gpus = has;
  if (request.min_gpus > 0) request.min_gpus = std::min(request.min_gpus, has);
  if (request.max_gpus > 0) request.max_gpus = std::max(request.max_gpus, has);
  job.spec.gpus = request.gpus;
  job.spec.min_gpus = request.min_gpus;
  job.spec.max_gpus = request.max_gpus;
  set_request(known, std::move(request));
}

Status Core::adopt(const StoredWorld& world, Seconds now) {
  now_ = now;
  next_decision_ = std::max<std::int64_t>(1, world.next_decision);
  std::map<JobId, RunRows> runs;
  for (const StoredRun& run : world.runs) runs[run.run.job].push_back(&run);
  std::map<JobId, Seconds> graces;
  EngineWorld found;
  found.now = now;
  found.next_id = 1;
  for (const StoredJob& row : world.jobs) {
    found.next_id = std::max(found.next_id, static_cast<std::uint32_t>(row.id) + 1);
    const RunRows& rows = runs[row.id];
    const bool leaves = std::any_of(rows.begin(), rows.end(),
                                    [](const StoredRun* run) { return !over(run->state); });
    if (muster::over(row) && !leaves) continue;
    Result<JobRequest> request = parse_job_request(row.description);
    if (!request) {
      if (!muster::over(row)) fail_unreadable(row, request.error().message);
      continue;
    }
    if (leaves) graces[row.id] = request->grace;
    // Of one that is over only the last launch is still saving its work.
    if (!muster::over(row)) adopt_job(row, std::move(*request), rows, now, found);
  }
  order_starts(found.jobs, runs);
  newest_ = found.next_id - 1;
  keep_drained(world, nodes_, found);
  for (const WorldNode& node : found.nodes) outside_[index(node.node)].told_drained = true;
  if (recorder_ != nullptr) recorder_->begin(plan_, found);
  if (Status adopted = engine_->adopt(found); !adopted) return adopted;
  // Leases of another policy mean nothing any more.
  for (const StoredRun& run : world.runs) {
    if (plan_.round <= 0 && !over(run.state)) effects_.leases.emplace_back(run.run, kNever);
  }
  if (Status adopted = launches_.adopt(world.runs, now, graces); !adopted) return adopted;
  for (auto& [id, known] : known_) {
    if (known.over) end_launches(known);
  }
  return Done{};
}

}  // namespace muster
