#include "daemon/launches_world.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace muster {
namespace {

constexpr std::uint32_t kNodes = 2;
constexpr int kGpus = 4;
constexpr std::uint32_t kJobs = 8;

}  // namespace

LaunchesWorld::LaunchesWorld(std::uint64_t seed, WorldFaults faults)
    : MachineWorld(seed, "launches world", faults) {
  MemoryStore first(disk_);
  Batch batch;
  for (std::uint32_t i = 0; i < kJobs; ++i) {
    StoredJob job;
    job.id = JobId{i};
    job.state = "waiting";
    batch.jobs.push_back(job);
    work_left_[job.id] = random_.uniform(5, 60);
  }
  static_cast<void>(first.commit({&batch, 1}));
  begin_daemon();
  at(1, [this] { second(); });
}

bool LaunchesWorld::all_finished() const {
  const bool told = std::all_of(disk_->jobs.begin(), disk_->jobs.end(),
                                [](const auto& job) { return job.second.state == "finished"; });
  return told && nothing_runs();
}

void LaunchesWorld::begin_daemon() {
  ++life_;
  store_ = std::make_unique<MemoryStore>(disk_);
  const StoredWorld world = *store_->load();
  daemon_ = std::make_unique<Launches>(Abilities{.start_limit = 20, .stop_margin = 10});
  for (std::uint32_t node = 0; node < kNodes; ++node) daemon_->add_node(NodeId{node}, kGpus);
  jobs_.clear();
  rows_.clear();
  changed_.clear();
  held_ = {};
  census_ = 0;  // it has asked nothing yet
  for (const StoredJob& job : world.jobs) jobs_[job.id] = job;
  for (const StoredRun& row : world.runs) rows_[row.run] = row;
  if (const Status adopted = daemon_->adopt(world.runs, now_); !adopted) {
    violations_.push_back("adopt: " + adopted.error().message);
  }
  settle();
}

void LaunchesWorld::daemon_heard(const RunReport& report, int life) {
  // What was on its way to a daemon that has died may reach the next one, or nobody.
  if (!daemon_ || (life != life_ && random_.chance(0.5))) return;
  daemon_->heard(report, now_);
  settle();
}

void LaunchesWorld::daemon_counted(const std::vector<RunReport>& seen, std::uint64_t number) {
  if (!daemon_ || number != census_) return;
  for (const RunReport& report : seen) daemon_->heard(report, now_);
  daemon_->counted(now_);
  settle();
}

void LaunchesWorld::second() {
  at(now_ + 1, [this] { second(); });
  if (faulty(faults_.full_disk)) {
    disk_->full = true;
    at(now_ + random_.uniform(1, 30), [this] { disk_->full = false; });
  }
  if (!daemon_) return;
  daemon_->pass_time(now_);
  if (std::fmod(now_, 15.0) < 1 || census_ == 0) {
    census_ = static_cast<std::uint64_t>(life_) * 100'000 + static_cast<std::uint64_t>(now_);
    daemon_->begin_census();
    send([this, number = census_, life = life_] {
      if (from_the_latest(life)) census(number);
    });
  }
  if (held_.rows.empty()) decide();
  if (daemon_) settle();
}

// A scheduler without wisdom: it starts what fits by its own account, and takes some away.
void LaunchesWorld::decide() {
  std::map<std::uint32_t, std::uint64_t> free;
  for (std::uint32_t node = 0; node < kNodes; ++node) free[node] = (1U << kGpus) - 1;
  for (const auto& [run, row] : rows_) {
    if (over(row.state) || row.state == RunState::kStopping) continue;
    free[static_cast<std::uint32_t>(row.gpus[0].node)] &= ~row.gpus[0].mask;
  }
  for (auto& [id, job] : jobs_) {
    const RunId latest{id, static_cast<std::uint32_t>(job.launches)};
    if (job.state == "running" && random_.chance(0.02)) {
      daemon_->stop(latest, {random_.chance(0.8) ? 8.0 : 0.0}, now_);
    } else if (job.state == "waiting" && random_.chance(0.5)) {
      const auto node = static_cast<std::uint32_t>(random_.below(kNodes));
      const std::uint64_t mask = lowest_bits(free[node], static_cast<int>(1 + random_.below(3)));
      if (mask == 0) continue;
      GpuSet gpus;
      gpus.add(NodeId{node}, mask);
      ++job.launches;
      job.state = "running";
      changed_.insert(id);
      free[node] &= ~mask;
      const Status started = daemon_->start({id, static_cast<std::uint32_t>(job.launches)}, gpus,
                                            Sharing::kExclusive, now_);
      if (!started) violations_.push_back(started.error().message);
    }
  }
}

void LaunchesWorld::settle() {
  LaunchEffects more = daemon_->take();
  for (StoredRun& row : more.rows) {
    rows_[row.run] = row;
    held_.rows.push_back(std::move(row));
  }
  held_.calls.insert(held_.calls.end(), more.calls.begin(), more.calls.end());
  held_.acknowledged.insert(held_.acknowledged.end(), more.acknowledged.begin(),
                            more.acknowledged.end());
  for (const LaunchNews& news : more.news) {
    if (news.news == RunNews::kNone || news.news == RunNews::kStarted) continue;
    StoredJob& job = jobs_.at(news.run.job);
    const bool ended = news.news == RunNews::kEnded || news.news == RunNews::kReleased;
    job.state = ended && news.outcome == RunOutcome::kFinished ? "finished" : "waiting";
    changed_.insert(job.id);
  }
  Batch batch;
  batch.runs = held_.rows;
  for (const JobId id : changed_) batch.jobs.push_back(jobs_.at(id));
  if (!batch.runs.empty() || !batch.jobs.empty()) {
    if (faulty(faults_.crash)) {
      disk_->commits_to_crash = 0;
      disk_->crash_after = random_.chance(0.5);
    }
    if (const Status done = store_->commit({&batch, 1}); !done) {
      if (!store_->crashed()) return;  // a full disk: nothing is done, and tried again
      ++crashes_;
      daemon_.reset();
      at(now_ + random_.uniform(0, 20), [this] { begin_daemon(); });
      return;
    }
  }
  changed_.clear();
  for (const RunId run : held_.acknowledged) {
    send([this, run] { forget(run); });
  }
  for (const LaunchCall& call : std::exchange(held_, {}).calls) {
    send([this, call, row = rows_[call.run], life = life_] {
      if (from_the_latest(life)) carry_out(call, row.gpus, row.sharing);
    });
  }
}

}  // namespace muster
