#include "support/slurm_in_memory.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace muster {
namespace {

bool holds_nodes(const SlurmInMemory::Job& job) { return job.row.state == SlurmState::kRunning; }

int gpus_on_each(const SlurmInMemory::Job& job) {
  const int each = count_of(parse_gres(job.placed.per_node), "gpu");
  const int all = count_of(parse_gres(job.placed.per_job), "gpu");
  const int nodes = static_cast<int>(std::max<std::size_t>(1, job.placed.nodes.size()));
  return each > 0 ? each : (all + nodes - 1) / nodes;
}

}  // namespace

SlurmInMemory::SlurmInMemory(int nodes, int gpus) {
  for (int i = 1; i <= nodes; ++i) {
    Host& host = hosts_[fmt::format("n{}", i)];
    host.row.name = fmt::format("n{}", i);
    host.row.partitions = {"gpu"};
    host.row.gres = {{"gpu", "v100", gpus}};
    host.gpus = gpus;
  }
}

Result<SlurmRows<SlurmJob>> SlurmInMemory::jobs() {
  if (silent > 0) {
    --silent;
    return Error{"squeue did not answer"};
  }
  SlurmRows<SlurmJob> rows;
  for (const auto& [id, job] : jobs_) rows.rows.push_back(job.row);
  return rows;
}

Result<SlurmRows<SlurmNode>> SlurmInMemory::nodes() {
  SlurmRows<SlurmNode> rows;
  for (const auto& [name, host] : hosts_) {
    rows.rows.push_back(host.row);
    rows.rows.back().used = {{"gpu", "v100", used(name)}};
  }
  return rows;
}

Result<std::vector<SlurmJob>> SlurmInMemory::accounts(std::uint32_t job) {
  if (accounts_silent > 0) {
    --accounts_silent;
    return Error{"sacct did not answer"};
  }
  std::vector<SlurmJob> rows;
  for (const SlurmJob& row : accounts_) {
    if (row.id == job) rows.push_back(row);
  }
  return rows;
}

void SlurmInMemory::controller_forgets_ended() {
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    const bool ended = slurm_ended(job->second.row.state);
    if (ended) accounts_.push_back(job->second.row);
    job = ended ? jobs_.erase(job) : std::next(job);
  }
}

int SlurmInMemory::used(const std::string& node) const {
  int gpus = hosts_.at(node).wrong;
  for (const auto& [id, job] : jobs_) {
    const auto& on = job.placed.nodes;
    if (holds_nodes(job) && std::find(on.begin(), on.end(), node) != on.end()) {
      gpus += gpus_on_each(job);
    }
  }
  return gpus;
}

// Whether a word is to be lost; `done`: after it was heard.
bool SlurmInMemory::fails(bool& done) {
  const bool lose = std::uniform_real_distribution<double>()(chance) < lost;
  done = lose && chance() % 2 == 0;
  return lose;
}

Status SlurmInMemory::told(std::uint32_t id, const std::function<void(Job&)>& what, bool leaves) {
  bool done = false;
  const bool lose = fails(done);
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return Error{fmt::format("Invalid job id specified for job {}", id)};
  if (leaves) found->second.told = true;
  if (!lose || done) what(found->second);
  return lose ? Status(Error{"scontrol did not answer"}) : Status(Done{});
}

std::vector<Result<std::uint32_t>> SlurmInMemory::submit(
    const std::vector<SlurmSubmission>& submissions) {
  std::vector<Result<std::uint32_t>> numbers;
  numbers.reserve(submissions.size());
  for (const SlurmSubmission& one : submissions) numbers.push_back(submit_one(one));
  return numbers;
}

Result<std::uint32_t> SlurmInMemory::submit_one(const SlurmSubmission& submission) {
  bool done = false;
  const bool lose = fails(done);
  if (lose && !done) return Error{"sbatch did not answer"};
  Job& job = jobs_[next_];
  job.row.id = next_++;
  job.row.state = SlurmState::kPending;
  job.row.held = true;
  job.row.reason = "JobHeldUser";
  job.row.comment = submission.comment;
  job.row.name = submission.name;
  job.row.per_node = parse_gres(submission.gres);
  job.row.partition = submission.partition;
  job.row.submitted = now_;
  job.runs_for = work_of_new_jobs;
  if (lose) return Error{"sbatch did not answer"};
  return job.row.id;
}

Status SlurmInMemory::place(std::uint32_t id, const SlurmPlacement& placement) {
  return told(id, [&](Job& job) {
    if (job.row.state != SlurmState::kPending) violations.emplace_back("placed while it runs");
    const std::vector<Gres> wanted = parse_gres(placement.per_node);
    if (count_of(wanted, "shard") > 0 && count_of(job.row.per_node, "shard") == 0) {
      violations.emplace_back("Invalid generic resource (gres) specification");
    }
    job.placed = placement;
    job.row.required.clear();
    for (const std::string& node : placement.nodes) {
      job.row.required += (job.row.required.empty() ? "" : ",") + node;
    }
    job.row.per_node = parse_gres(placement.per_node);
    (placement.own ? job.row.comment : job.row.admin_comment) = placement.mark;
    if (placement.requeued) job.eligible = 0;
  });
}

Status SlurmInMemory::mark(std::uint32_t id, const std::string& text) {
  return told(id, [&](Job& job) { job.row.admin_comment = text; });
}

Status SlurmInMemory::shrink(std::uint32_t id, const std::vector<std::string>& nodes,
                             const std::string& mark) {
  const auto found = jobs_.find(id);
  if (found != jobs_.end() && found->second.shrunk) {
    return Error{"Job update not available right now, the DB index is being set"};
  }
  return told(id, [&](Job& job) {
    const std::vector<std::string> before = job.placed.nodes;
    if (!holds_nodes(job) || nodes.empty() || nodes[0] != before[0] ||
        nodes.size() >= before.size()) {
      violations.emplace_back("Invalid node name specified");
    }
    job.placed.nodes = nodes;
    job.row.nodes.clear();
    for (const std::string& name : nodes)
      job.row.nodes += (job.row.nodes.empty() ? "" : ",") + name;
    job.row.gres.resize(nodes.size());
    job.row.comment = mark;
    job.shrunk = true;
  });
}

Status SlurmInMemory::release(std::uint32_t id) {
  return told(id, [](Job& job) {
    job.row.held = false;
    job.row.reason = "Priority";
  });
}

Status SlurmInMemory::hold(std::uint32_t id) {
  return told(id, [](Job& job) {
    if (job.row.state != SlurmState::kPending) return;
    job.row.held = true;
    job.row.reason = "JobHeldUser";
  });
}

Status SlurmInMemory::requeue_and_hold(std::uint32_t id) {
  const auto found = jobs_.find(id);
  if (found != jobs_.end() && found->second.row.state == SlurmState::kPending) {
    return Error{"Job is pending execution"};
  }
  return told(
      id, [this](Job& job) { requeue(job, true); }, true);
}

Status SlurmInMemory::signal(std::uint32_t id, const std::string& name) {
  return told(
      id,
      [&](Job& job) {
        if (!holds_nodes(job)) return;
        job.signals.push_back(name);
        if (job.heeds_signals) leave(job, SlurmState::kCompleted, 0);
      },
      true);
}

Status SlurmInMemory::cancel(std::uint32_t id) {
  return told(id, [this](Job& job) { leave(job, SlurmState::kCancelled, 0); });
}

void SlurmInMemory::requeue(Job& job, bool held) {
  job.row.state = SlurmState::kPending;
  job.row.nodes.clear();
  job.row.gres.clear();
  job.row.held = held;
  job.row.reason = held ? "JobHeldUser" : "BeginTime";
  ++job.row.restarts;
  job.shrunk = false;
  job.eligible = now_ + 120;
  job.left_at = now_;
}

void SlurmInMemory::leave(Job& job, SlurmState state, int code) {
  if (slurm_ended(job.row.state)) return;
  job.row.state = state;
  job.row.exit_code = code;
  job.row.ended = now_;
  job.row.gres.clear();
}

bool SlurmInMemory::fits(const Job& job) const {
  for (const std::string& name : job.placed.nodes) {
    const Host& host = hosts_.at(name);
    if (!host.row.up || host.row.drained || used(name) + gpus_on_each(job) > host.gpus) {
      return false;
    }
  }
  return true;
}

void SlurmInMemory::start(Job& job) {
  if (job.left_at >= 0 && std::floor(job.left_at) == std::floor(now_)) {
    violations.push_back(fmt::format("job {} was sent back within the same second", job.row.id));
  }
  job.row.state = SlurmState::kRunning;
  job.told = false;
  job.row.reason = "None";
  job.row.started = now_;
  for (const std::string& name : job.placed.nodes) {
    job.row.nodes += (job.row.nodes.empty() ? "" : ",") + name;
    job.row.gres.push_back({{"gpu", "v100", gpus_on_each(job)}});
  }
}

void SlurmInMemory::pass(double seconds) {
  const double step = 0.05;
  for (double left = seconds; left > 1e-9; left -= step) {
    now_ += step;
    for (auto& [id, job] : jobs_) {
      if (job.row.state == SlurmState::kRunning) {
        job.done += step;
        if (job.done >= job.runs_for) {
          leave(job, job.exits_with == 0 ? SlurmState::kCompleted : SlurmState::kFailed,
                job.exits_with);
        }
      } else if (job.row.state == SlurmState::kPending && !job.row.held && now_ >= job.eligible &&
                 std::fmod(now_, 0.5) < step) {
        if (const auto why = refuses.find(id); why != refuses.end()) {
          job.row.reason = why->second;
          job.row.held = why->second == "BadConstraints";
        } else if (fits(job)) {
          start(job);
        }
      }
    }
  }
}

std::uint32_t SlurmInMemory::user_submits(int gpus, bool held) {
  Job& job = jobs_[next_];
  job.row.id = next_++;
  job.row.state = SlurmState::kPending;
  job.row.held = held;
  job.row.reason = held ? "JobHeldUser" : "Priority";
  job.row.partition = "gpu";
  job.row.user = "ann";
  job.row.user_id = 1000;
  job.row.command = "/home/ann/job.sh";
  job.row.per_node = {{"gpu", "", gpus}};
  job.row.submitted = now_;
  job.placed.nodes = {"n1"};
  job.placed.per_node = fmt::format("gres:gpu:{}", gpus);
  job.runs_for = work_of_new_jobs;
  return job.row.id;
}

void SlurmInMemory::admin_holds(std::uint32_t id) {
  Job& held = job(id);
  if (held.row.state != SlurmState::kPending) return;
  held.row.held = true;
  held.row.reason = "JobHeldAdmin";
}

void SlurmInMemory::admin_releases(std::uint32_t id) {
  job(id).row.held = false;
  job(id).row.reason = "Priority";
}

void SlurmInMemory::admin_cancels(std::uint32_t id) { leave(job(id), SlurmState::kCancelled, 0); }

void SlurmInMemory::admin_requeues(std::uint32_t id) {
  if (job(id).row.state == SlurmState::kRunning) requeue(job(id), false);
}

void SlurmInMemory::node_fails(const std::string& name) {
  hosts_.at(name).row.up = false;
  for (auto& [id, job] : jobs_) {
    const auto& on = job.placed.nodes;
    if (holds_nodes(job) && std::find(on.begin(), on.end(), name) != on.end()) requeue(job, false);
  }
}

void SlurmInMemory::node_returns(const std::string& name) { hosts_.at(name).row.up = true; }

void SlurmInMemory::drain(const std::string& name, bool drained) {
  hosts_.at(name).row.drained = drained;
}

void SlurmInMemory::controller_crashes() {
  silent += 2;
  up_since_ = now_;
  std::erase_if(jobs_, [this](const auto& entry) { return entry.second.row.submitted > now_ - 5; });
  next_ = jobs_.empty() ? 1 : jobs_.rbegin()->first + 1;
}

int SlurmInMemory::running() const {
  return static_cast<int>(std::count_if(jobs_.begin(), jobs_.end(), [](const auto& entry) {
    return entry.second.row.state == SlurmState::kRunning;
  }));
}

}  // namespace muster
