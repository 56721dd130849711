#include "workload/formats/sacct_jobs.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "workload/formats/slurm_text.h"

namespace muster {
namespace {

constexpr int kMostSummedGpus = 1 << 30;  // beyond any cluster: a sum stops here
constexpr std::size_t kMostTasks = std::size_t{1} << 20;

template <std::size_t kCount>
bool is_one_of(std::string_view state, const std::array<std::string_view, kCount>& states) {
  return std::find(states.begin(), states.end(), state) != states.end();
}

// The job runs or waits, or waits again.
bool is_open(std::string_view state) {
  static constexpr std::array<std::string_view, 11> kOpen = {
      "RUNNING",     "PENDING",    "SUSPENDED", "REQUEUED",     "REQUEUE_HOLD", "REQUEUE_FED",
      "CONFIGURING", "COMPLETING", "RESIZING",  "SPECIAL_EXIT", "SIGNALING"};
  return is_one_of(state, kOpen);
}

// The run is over, but the job may come again under the same name.
bool may_come_again(std::string_view state) {
  static constexpr std::array<std::string_view, 6> kAgain = {
      "REQUEUED", "REQUEUE_HOLD", "NODE_FAIL", "PREEMPTED", "RESIZING", "LAUNCH_FAILED"};
  return is_one_of(state, kAgain);
}

}  // namespace

bool SacctJobs::hold(const SacctPart& part) {
  const std::string& name = part.job.name;
  const std::size_t plus = name.find('+');
  const std::string job = name.substr(0, plus);
  const auto known = positions_.find(job);
  if (known == positions_.end() && plus == std::string::npos && !may_come_again(part.state)) {
    return false;
  }
  if (known == positions_.end()) {
    positions_.emplace(job, held_.size());
    held_.emplace_back();
  }
  Held& held = known == positions_.end() ? held_.back() : held_[known->second];
  for (std::size_t i = 0; i < held.names.size(); ++i) {
    if (held.names[i] != name) continue;
    add_run(held.parts[i], part);
    return true;
  }
  held.names.push_back(name);
  held.parts.push_back(part);
  held.parts.back().job.name = job;
  return true;
}

void SacctJobs::add_run(SacctPart& known, const SacctPart& part) {
  SacctPart later = part;
  SacctPart earlier = known;
  if (later.job.submit < earlier.job.submit) std::swap(later, earlier);
  // A requeue counts as a new submission; the user's was the first.
  later.job.submit = earlier.job.submit;
  later.job.name = known.job.name;
  later.line = known.line;
  // A job that changes its size runs on.
  if (settings_.sum_runs || earlier.state == "RESIZING") later.elapsed += earlier.elapsed;
  if (earlier.state != "RESIZING") ++requeued_;
  known = std::move(later);
}

SacctOutcome SacctJobs::complete(const std::vector<SacctPart>& parts) {
  const SacctPart& first = parts.front();
  SacctOutcome outcome{first.job, "", first.state, first.run, first.line};
  JobSpec& job = outcome.job;
  Seconds elapsed = first.elapsed;
  Seconds limit = first.limit;
  bool open = is_open(first.state);
  bool shards = first.shards;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const SacctPart& part = parts[i];
    job.gpus = std::min(job.gpus, kMostSummedGpus) + std::min(part.job.gpus, kMostSummedGpus - 1);
    job.cpus += part.job.cpus;
    job.memory_gb += part.job.memory_gb;
    job.submit = std::min(job.submit, part.job.submit);
    if (part.job.gpus > 0 && part.job.gpu_type != job.gpu_type) job.gpu_type = kNoSymbol;
    elapsed = std::max(elapsed, part.elapsed);
    limit = limit == 0 || part.limit == 0 ? 0 : std::max(limit, part.limit);
    open = open || is_open(part.state);
    shards = shards || part.shards;
    outcome.run.end = std::max(outcome.run.end, part.run.end);
  }
  if (open) outcome.run = {};
  job.duration = open ? std::max(elapsed, limit) : elapsed;
  job.estimate = limit;
  if (open && !settings_.keep_unfinished) {
    outcome.skipped = "it had not ended when the log was written";
  } else if (job.gpus == 0) {
    outcome.skipped = shards ? "it uses only parts of GPUs (shards)" : "it uses no GPUs";
  } else if (job.duration == 0 && open) {
    outcome.skipped = "it waits, and has no time limit to go by";
  } else if (job.duration == 0) {
    const bool started = first.run.start >= 0 || first.state == "COMPLETED";
    outcome.skipped = started ? "it ran for less than a second" : "it never ran";
  }
  if (outcome.skipped.empty()) spread_array(outcome);
  return outcome;
}

// The tasks of an array that have not begun stand in one record, 12_[3-9]: the first is the
// outcome, and the others come at the end.
void SacctJobs::spread_array(SacctOutcome& outcome) {
  std::vector<std::string> names;
  if (outcome.job.name.find('[') == std::string::npos) return;
  if (!expand_array(outcome.job.name, kMostTasks, names) || names.empty()) {
    outcome.skipped = "its list of array tasks cannot be read";
    return;
  }
  if (tasks_.size() + names.size() > kMostTasks) {
    outcome.skipped = "the arrays of this trace have more than a million waiting tasks";
    return;
  }
  const SacctOutcome task = outcome;
  outcome.job.name = names.front();
  for (std::size_t i = names.size() - 1; i > 0; --i) {
    tasks_.push_back(task);
    tasks_.back().job.name = names[i];
  }
}

bool SacctJobs::next(SacctOutcome& outcome) {
  if (!tasks_.empty()) {
    outcome = std::move(tasks_.back());
    tasks_.pop_back();
    return true;
  }
  if (taken_ == held_.size()) return false;
  const Held& held = held_[taken_++];
  if (held.parts.size() > 1) ++heterogeneous_;
  outcome = complete(held.parts);
  return true;
}

std::vector<std::string> SacctJobs::notes() const {
  std::vector<std::string> notes;
  if (heterogeneous_ > 0) {
    notes.push_back(fmt::format("{} heterogeneous jobs were read as one job each", heterogeneous_));
  }
  if (requeued_ > 0) {
    notes.push_back(fmt::format(
        "{} earlier runs of requeued jobs {}", requeued_,
        settings_.sum_runs ? "count as part of their duration" : "do not count: each began anew"));
  }
  return notes;
}

}  // namespace muster
