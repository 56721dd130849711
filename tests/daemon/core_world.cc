#include "daemon/core_world.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "daemon/submission.h"
#include "run/config/load_config.h"

namespace muster {

CoreWorld::CoreWorld(std::uint64_t seed, WorldFaults faults, CoreWorldPlan plan)
    : MachineWorld(seed, "core world", faults), plan_(std::move(plan)) {
  begin_daemon();
  at(1, [this] { second(); });
  for (int i = 0; i < plan_.jobs; ++i) {
    at(random_.uniform(0, 60), [this] { submit(); });
  }
}

LivePlan CoreWorld::make_plan() const {
  RunConfig config;
  config.cluster.shape = fmt::format("{}x{}", plan_.nodes, plan_.gpus);
  config.workload.generator = {"poisson", {{"jobs", "1"}}};
  const auto choose = [](Choice& choice, const std::string& text) {
    const std::size_t colon = text.find(':');
    choice = {text.substr(0, colon), {}};
    if (colon == std::string::npos) return;
    const std::string pair = text.substr(colon + 1);
    const std::size_t equals = pair.find('=');
    choice.params.emplace(pair.substr(0, equals), pair.substr(equals + 1));
  };
  choose(config.scheduling, plan_.scheduling);
  choose(config.placement, plan_.placement);
  choose(config.pacing, plan_.pacing);
  if (plan_.profiled > 0) {
    config.profiling.within = true;
    config.profiling.nodes = 1;
    config.profiling.gpus_per_node = plan_.profiled;
    config.profiling.limit = 10;
  }
  auto complete = complete_config(std::move(config));
  if (!complete) throw std::runtime_error(complete.error().message);
  auto plan = make_live_plan(*complete);
  if (!plan) throw std::runtime_error(plan.error().message);
  return std::move(*plan);
}

bool CoreWorld::all_left() const {
  if (static_cast<int>(next_) <= plan_.jobs && now_ < faults_.until) return false;
  for (const JobId job : accepted_) {
    const auto row = disk_->jobs.find(job);
    if (row == disk_->jobs.end() || !over(row->second)) return false;
  }
  return !accepted_.empty() && nothing_runs();
}

std::string CoreWorld::complaint() const {
  for (const JobId job : accepted_) {
    const auto row = disk_->jobs.find(job);
    if (row == disk_->jobs.end()) return fmt::format("job {} was accepted and is lost", index(job));
    const std::string& state = row->second.state;
    const bool cancelled = taken_back_.contains(job) && state == "cancelled";
    if (state == "finished" ? !done_.contains(job) : !cancelled) {
      return fmt::format("job {} is {} ({})", index(job), state, row->second.reason);
    }
  }
  return {};
}

Status CoreWorld::commit(const Batch& batch) {
  if (faulty(faults_.crash)) {
    disk_->commits_to_crash = 0;
    disk_->crash_after = random_.chance(0.5);
  }
  return store_->commit({&batch, 1});
}

void CoreWorld::crash() {
  ++crashes_;
  core_.reset();
  at(now_ + random_.uniform(0, 20), [this] { begin_daemon(); });
}

void CoreWorld::begin_daemon() {
  ++life_;
  disk_->commits_to_crash = -1;
  store_ = std::make_unique<MemoryStore>(disk_);
  const StoredWorld world = *store_->load();
  rows_.clear();
  for (const StoredRun& row : world.runs) {
    rows_[row.run] = row;
    // It may have been committed and the daemon crashed before it knew.
    if (row.sharing == Sharing::kShared) joined_.insert(row.run);
  }
  held_ = {};
  waiting_ = false;
  census_ = 0;
  for (const StoredJob& job : world.jobs) {
    next_ = std::max(next_, static_cast<std::uint32_t>(job.id) + 1);
  }
  auto core =
      Core::make(make_plan(), Abilities{.start_limit = 20, .stop_margin = 10}, {}, world, now_);
  if (!core) {
    violations_.push_back("make: " + core.error().message);
    return;
  }
  core_ = std::move(*core);
  settle();
}

// Durable first, then handed to the core: what crashes in between is found in the store.
void CoreWorld::submit() {
  if (!core_ || waiting_ || disk_->full) {
    at(now_ + 1, [this] { submit(); });
    return;
  }
  const auto gpus = static_cast<int>(1 + random_.below(static_cast<std::uint64_t>(plan_.gpus)));
  auto request = std::make_shared<JobRequest>(training(gpus, random_.uniform(5, 60)));
  request->grace = 8;
  request->retries = 1'000'000;  // a start that fails after it was seen in place is one of these
  request->priority = plan_.least_priority + static_cast<int>(random_.below(3));
  request->hold = plan_.changes && random_.chance(0.1);
  const StoredJob row = submitted_row(JobId{next_++}, *request, now_);
  work_left_[row.id] = request->estimate * random_.uniform(0.5, 2);
  Batch batch;
  batch.jobs.push_back(row);
  if (const Status done = commit(batch); !done) {
    if (disk_->jobs.contains(row.id)) accepted_.insert(row.id);  // nobody was told, yet it counts
    if (store_->crashed()) crash();
    return;
  }
  accepted_.insert(row.id);
  core_->submit(row, request, now_);
  step();
}

void CoreWorld::change() {
  if (!plan_.changes || accepted_.empty() || now_ > faults_.until) return;
  auto which = accepted_.begin();
  std::advance(which, static_cast<long>(random_.below(accepted_.size())));
  const JobId job = *which;
  const std::uint64_t what = random_.below(4);
  if (what == 0 && core_->cancel(job, "somebody cancelled it")) taken_back_.insert(job);
  if (what == 1 && core_->hold(job, "somebody holds it")) {
    at(now_ + random_.uniform(0, 10), [this, job] {
      if (!core_) return;
      static_cast<void>(static_cast<bool>(core_->release(job)));
      step();
    });
  }
  if (what == 2) revise(job);
  if (what == 3) {
    static_cast<void>(static_cast<bool>(
        core_->drain(random_.chance(0.5) ? "node0" : "node1", random_.chance(0.3), "a person")));
  }
}

void CoreWorld::revise(JobId job) {
  const auto gpus = static_cast<double>(1 + random_.below(static_cast<std::uint64_t>(plan_.gpus)));
  const auto priority = static_cast<double>(random_.below(6));
  if (random_.chance(0.3)) {
    static_cast<void>(static_cast<bool>(core_->revise(job, {{"priority", priority}})));
  } else if (random_.chance(0.1)) {
    if (core_->revise(job, {{"gpus", 1 + plan_.nodes * plan_.gpus}})) {
      violations_.emplace_back("a job may ask for more GPUs than there are");
    }
  } else {
    static_cast<void>(
        static_cast<bool>(core_->revise(job, {{"gpus", gpus}, {"priority", priority}})));
  }
}

// Launches have as many GPUs as their jobs ask for when they are decided.
void CoreWorld::check_size(const StoredRun& row) {
  if (rows_.contains(row.run)) return;
  const auto request = parse_job_request(disk_->jobs.at(row.run.job).description);
  if (!request || request->gpus == row.gpus.gpus()) return;
  violations_.push_back(fmt::format("job {} asks for {} GPUs and gets {}", index(row.run.job),
                                    request->gpus, row.gpus.gpus()));
}

void CoreWorld::daemon_heard(const RunReport& report, int life) {
  if (!core_ || (life != life_ && random_.chance(0.5))) return;
  core_->hear(report, now_);
  step();
}

void CoreWorld::daemon_counted(const std::vector<RunReport>& seen, std::uint64_t number) {
  if (!core_ || number != census_) return;
  for (const RunReport& report : seen) core_->hear(report, now_);
  core_->hear(CensusReport{number, true}, now_);
  step();
}

void CoreWorld::second() {
  at(now_ + 1, [this] { second(); });
  if (faulty(faults_.full_disk)) {
    disk_->full = true;
    at(now_ + random_.uniform(1, 30), [this] { disk_->full = false; });
  }
  if (!core_) return;
  if (now_ > faults_.until) {
    // From here on all holds and drains are lifted, so that all can end.
    for (const JobId job : accepted_) static_cast<void>(static_cast<bool>(core_->release(job)));
    for (const char* node : {"node0", "node1"}) {
      static_cast<void>(static_cast<bool>(core_->drain(node, false, {})));
    }
  } else if (random_.chance(0.05)) {
    change();
  }
  if (std::fmod(now_, 15.0) < 1 || census_ == 0) {
    census_ = static_cast<std::uint64_t>(life_) * 100'000 + static_cast<std::uint64_t>(now_);
    core_->begin_census();
    send([this, number = census_, life = life_] {
      if (from_the_latest(life)) census(number);
    });
  }
  step();
}

void CoreWorld::step() {
  if (!core_) return;
  // While a commit fails the real daemon waits, and so does everything that it would decide.
  if (!waiting_) core_->step(now_);
  settle();
}

void CoreWorld::settle() {
  if (!waiting_) held_ = core_->take(now_);
  waiting_ = false;
  if (!core_->frozen().empty()) violations_.push_back("frozen: " + core_->frozen());
  if (!held_.empty()) {
    if (const Status done = commit(held_.batch); !done) {
      if (store_->crashed()) return crash();
      waiting_ = true;  // a full disk: nothing is done, and tried again
      return;
    }
  }
  for (const StoredRun& row : held_.batch.runs) {
    check_size(row);
    rows_[row.run] = row;
    if (row.sharing == Sharing::kShared) joined_.insert(row.run);
  }
  for (const RunId run : held_.acknowledged) {
    send([this, run] { forget(run); });
  }
  for (const LaunchCall& call : std::exchange(held_, {}).calls) {
    const StoredRun& row = rows_[call.run];
    send([this, call, gpus = row.gpus, sharing = row.sharing, life = life_] {
      if (from_the_latest(life)) carry_out(call, gpus, sharing);
    });
  }
}

}  // namespace muster
