#include "backend/slurm/slurm_desk.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "backend/local/run_folder.h"
#include "backend/slurm/command.h"
#include "backend/slurm/slurm_record.h"
#include "base/out_file.h"

namespace muster {
namespace {

constexpr double kSoon = 0.25;  // something is about to change
constexpr double kUsual = 1;    // jobs run
constexpr double kIdle = 2;     // new jobs may arrive
constexpr double kLongestBreak = 5;

}  // namespace

SlurmDesk::SlurmDesk(SlurmSettings settings, SlurmCluster cluster, SlurmControl& control,
                     std::function<void(Report)> tell)
    : settings_(std::move(settings)),
      cluster_(std::move(cluster)),
      control_(control),
      tell_(std::move(tell)) {}

void SlurmDesk::prepare(const RunOrder& order) {
  if (refused_.contains(order.run)) return;
  if (const auto known = kept_.find(order.run); known != kept_.end()) {
    // Said again: so is the answer.
    if (known->second.end) return tell_(*known->second.end);
    if (known->second.phase == Phase::kReady) tell(known->second, RunEvent::kReady);
    return;
  }
  Kept& kept = kept_[order.run];
  kept.run = order.run;
  kept.order = order;
  due_ = 0;
  if (order.origin.empty()) {
    mkdir(folder_of(order.run).c_str(), 0700);
    make_slurm_next(settings_.runs, order.run.job);
    if (const Status made = make_rank_words(folder_of(order.run)); !made) {
      say(made.error().message + "; the job cannot tell how far it is");
    }
    return;
  }
  const auto origin = parse_origin(order.origin);
  if (!origin) return start_failed(kept, "'" + complaint(order.origin) + "' is not a job of Slurm");
  kept.job = origin->job;
  kept.nonce = origin->nonce;
}

void SlurmDesk::go(RunId run, double now) {
  const auto found = kept_.find(run);
  if (found == kept_.end()) return;
  found->second.go = true;
  if (found->second.phase != Phase::kReady) return;
  found->second.phase = Phase::kReleasing;
  release(found->second, now);
}

void SlurmDesk::stop(RunId run, Grace grace, double now) {
  const auto found = kept_.find(run);
  if (found == kept_.end()) {
    refused_.insert(run);
    RunReport report;
    report.run = run;
    report.event = RunEvent::kStartFailed;
    report.outcome = RunOutcome::kStopped;
    report.detail = "it was stopped before it was prepared";
    return tell_(report);
  }
  Kept& kept = found->second;
  if (kept.end) return tell_(*kept.end);
  if (kept.phase < Phase::kStarting) return start_failed(kept, "it was stopped before it started");
  note_told(run);
  kept.grace = grace.seconds;
  const double kill_at = now + grace.seconds;
  kept.kill_at = kept.phase == Phase::kStopping ? std::min(kept.kill_at, kill_at) : kill_at;
  kept.phase = Phase::kStopping;
  due_ = 0;
}

// Before it is told: a later daemon must not take the exit of one that left for its end.
void SlurmDesk::note_told(RunId run) const {
  if (access(told_file(run).c_str(), F_OK) == 0) return;
  mkdir((settings_.runs / run_folder_name(run)).c_str(), 0700);
  const Status noted = write_file(told_file(run).string(), "told to stop\n");
  if (!noted) say(noted.error().message);
}

// After it was told: a later daemon need not, and a second signal might hurt one that saves its
// work.
void SlurmDesk::note_asked(RunId run) const {
  std::ofstream(told_file(run), std::ios::app) << "asked\n";
}

std::filesystem::path SlurmDesk::told_file(RunId run) const {
  return settings_.runs / run_folder_name(run) / "told-to-stop";
}

void SlurmDesk::census(std::uint64_t number) {
  census_ = number;
  told_nodes_.clear();
  due_ = 0;
}

void SlurmDesk::acknowledge(RunId run) {
  const auto found = kept_.find(run);
  if (found == kept_.end() || !found->second.end) return;
  std::error_code code;
  const std::string name = run_folder_name(run);
  std::filesystem::rename(settings_.runs / name, settings_.ended / name, code);
  kept_.erase(found);
}

void SlurmDesk::over(JobId job, const std::string& origin, bool taken_back) {
  for (auto& [run, kept] : kept_) {
    if (run.job == job) kept.over = true;
  }
  leavers_.push_back({job, origin, taken_back});
  if (origin.empty()) records_.emplace_back(kNever, job);
  due_ = 0;
}

std::optional<SlurmMark> SlurmDesk::mark_of(const SlurmJob& row) const {
  std::optional<SlurmMark> mark = parse_mark(row.admin_comment);
  // What users write into their comments is not believed.
  if (!mark && row.user_id == settings_.user_id) mark = parse_mark(row.comment);
  if (!mark || mark->instance != settings_.instance) return std::nullopt;
  return mark;
}

SlurmJob* SlurmDesk::row_of(const Kept& kept) {
  const auto own = own_.find(kept.run.job);
  const std::uint32_t job = kept.job != 0 || own == own_.end() ? kept.job : own->second;
  const auto found = rows_.find(job);
  if (found == rows_.end()) return nullptr;
  // Slurm uses numbers again after a crash: it must be the same job.
  const auto mark = mark_of(found->second);
  if (!mark || mark->nonce != kept.nonce) return nullptr;
  return kept.own() && mark->run.job != kept.run.job ? nullptr : &found->second;
}

bool SlurmDesk::ask_slurm(double now) {
  auto nodes = control_.nodes();
  auto jobs = nodes ? control_.jobs() : Result<SlurmRows<SlurmJob>>(nodes.error());
  if (!jobs) {
    if (trouble_ != jobs.error().message) say(jobs.error().message + "; it will be asked again");
    trouble_ = jobs.error().message;
    ++failures_;
    return false;
  }
  if (!trouble_.empty()) say("Slurm answers again");
  trouble_.clear();
  failures_ = 0;
  ++answers_;
  watch_nodes_of(nodes->rows);
  rows_.clear();
  own_.clear();
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> requeued;
  for (SlurmJob& row : jobs->rows) {
    const auto mark = ours(row) ? mark_of(row) : std::nullopt;
    if (mark && mark->nonce.empty()) {
      // Of several, the one that goes on; else the latest.
      const auto known = own_.find(mark->run.job);
      if (known == own_.end() || !slurm_ended(row.state) ||
          slurm_ended(rows_.at(known->second).state)) {
        own_[mark->run.job] = row.id;
      }
    }
    if (row.state == SlurmState::kPending && row.restarts > 0) {
      const std::pair key(row.id, row.restarts);
      const auto since = requeued_.find(key);
      requeued[key] = since == requeued_.end() ? now : since->second;
    }
    const std::uint32_t id = row.id;
    rows_.insert_or_assign(id, std::move(row));
  }
  requeued_ = std::move(requeued);
  count_again(nodes->rows, now);
  return true;
}

void SlurmDesk::look(double now) {
  const auto began = std::chrono::steady_clock::now();
  const bool answered = ask_slurm(now);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  if (answered) {
    if (answers_ == 1 || census_ != 0) find_launches();
    // First of all: what is told to end with a node is not to begin there again.
    tell_nodes();
    submit_all(now);
    for (auto& [run, kept] : kept_) {
      if (!kept.end) advance(kept, now);
    }
    if (census_ != 0) answer_census();
    watch_queue(now);
    drop_leavers();
    drop_records(now);
  }
  plan_next_look(now, took.count());
}

// A large cluster takes longer to answer: it is asked less often.
void SlurmDesk::plan_next_look(double now, double took) {
  if (failures_ > 0) {
    due_ = now + std::min(kLongestBreak, kSoon * std::exp2(std::min(failures_, 10)));
    return;
  }
  double wait = census_ != 0 ? kSoon : kIdle;
  double early = kNever;
  for (const auto& [run, kept] : kept_) {
    if (kept.end || kept.phase == Phase::kReady) continue;
    wait = std::min(wait, kept.phase == Phase::kRunning ? kUsual : kSoon);
    if (kept.phase == Phase::kReleasing) early = std::min(early, kept.not_before);
  }
  due_ = std::min(now + std::max(wait, 3 * took), std::max(early, now + took));
}

// Launches of an earlier daemon.
void SlurmDesk::find_launches() {
  for (const auto& [id, row] : rows_) {
    const auto mark = ours(row) ? mark_of(row) : std::nullopt;
    if (!mark || mark->run.launch == 0 || in_place_of(row, *mark) != nullptr) continue;
    if (kept_.contains(mark->run)) continue;
    stays(row) ? find_staying(row, *mark) : find_again(row, *mark);
  }
}

void SlurmDesk::answer_census() {
  for (const auto& [run, kept] : kept_) {
    if (kept.end) {
      tell_(*kept.end);
    } else if (kept.phase >= Phase::kRunning) {
      tell(kept, RunEvent::kSeenRunning);
    } else if (kept.phase != Phase::kPlacing) {
      tell(kept, RunEvent::kSeenReady);
    }
  }
  tell_(CensusReport{std::exchange(census_, 0), true});
}

void SlurmDesk::find_again(const SlurmJob& row, const SlurmMark& mark) {
  Kept kept;
  kept.run = mark.run;
  kept.order.run = mark.run;
  kept.job = row.id;
  kept.nonce = mark.nonce;
  kept.requeues = mark.requeues;
  kept.ranks = mark.ranks;
  const auto told = read_file(told_file(mark.run).string());
  kept.signalled = static_cast<bool>(told);
  kept.asked = told && told->find("asked") != std::string::npos;
  const bool ran = row.restarts > mark.requeues;
  if (row.state == SlurmState::kPending && !ran) {
    kept.phase = row.held ? Phase::kReady : Phase::kStarting;
  } else {
    kept.phase = Phase::kRunning;
    kept.started_told = true;
  }
  kept_.emplace(mark.run, std::move(kept));
}

}  // namespace muster
