#include "backend/slurm/shadow_book.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "backend/slurm/command.h"
#include "backend/slurm/found_job.h"
#include "backend/slurm/hostlist.h"
#include "backend/slurm/mark.h"
#include "base/text.h"

namespace muster {

namespace {

// Slurm itself would not start it, whatever is free: it is held, or its time has not come.
bool is_not_due(const SlurmJob& job) {
  constexpr std::array<std::string_view, 6> kReasons = {"Dependency",  "DependencyNeverSatisfied",
                                                        "BeginTime",   "JobHeldAdmin",
                                                        "JobHeldUser", "JobArrayTaskLimit"};
  return job.state == SlurmState::kPending &&
         (job.held || std::find(kReasons.begin(), kReasons.end(), job.reason) != kReasons.end());
}

// It came and ended between two looks.
bool ran_since(const SlurmJob& job, double begun) {
  return job.submitted >= begun && job.started > 0 && !job.nodes.empty();
}

}  // namespace

ShadowBook::ShadowBook(std::vector<std::string> partitions, SlurmCluster cluster,
                       std::function<void(Report)> tell,
                       std::function<void(const std::string&)> say, double now)
    : partitions_(std::move(partitions)),
      cluster_(std::move(cluster)),
      tell_(std::move(tell)),
      say_(std::move(say)),
      begun_(now),
      first_second_(std::floor(now)) {}

bool ShadowBook::ours(const SlurmJob& job) const {
  const std::vector<std::string_view> names = split(job.partition, ',');
  return std::all_of(names.begin(), names.end(), [this](std::string_view name) {
    return std::find(partitions_.begin(), partitions_.end(), name) != partitions_.end();
  });
}

void ShadowBook::tell_run(RunId run, RunEvent event, RunOutcome outcome) {
  RunReport report;
  report.run = run;
  report.event = event;
  report.outcome = outcome;
  report.detail = "pretended";
  tell_(report);
}

std::string ShadowBook::where(const GpuSet& gpus) const {
  std::string text;
  for (int i = 0; i < gpus.nodes(); ++i) {
    const int count = gpus[i].count();
    text += fmt::format("{}{} ({} GPU{})", text.empty() ? "" : ", ",
                        cluster_.has(gpus[i].node) ? cluster_.host(gpus[i].node).name : "?", count,
                        count == 1 ? "" : "s");
  }
  return text;
}

void ShadowBook::prepare(const RunOrder& order) {
  const auto known = by_origin_.find(order.origin);
  if (known == by_origin_.end()) {
    // It ended while no daemon looked.
    tell_run(order.run, RunEvent::kStartFailed);
    JobReport report;
    report.kind = JobReport::Kind::kCancelled;
    report.job = order.run.job;
    report.why = "Slurm does not know it any more";
    tell_(report);
    return;
  }
  runs_[order.run] = {known->second, 0, where(order.gpus)};
  tell_run(order.run, RunEvent::kReady);
}

void ShadowBook::go(RunId run, double now) {
  const auto found = runs_.find(run);
  if (found == runs_.end()) return tell_run(run, RunEvent::kStartFailed);
  Pretended& pretended = found->second;
  Watched& job = watched_[pretended.job];
  if (pretended.since == 0) {
    pretended.since = now;
    if (job.our_start == 0) job.our_start = now;
    const std::string slurm = job.slurm_start > 0 ? "; Slurm has started it" : "";
    say_(fmt::format("would start Slurm's job {} ({}) on {}{}", pretended.job, job.name,
                     pretended.where, slurm));
  }
  tell_run(run, RunEvent::kStarted);
}

void ShadowBook::stop(RunId run, double now) {
  const auto found = runs_.find(run);
  if (found == runs_.end()) return tell_run(run, RunEvent::kStartFailed);
  const Pretended pretended = found->second;
  runs_.erase(found);
  if (pretended.since == 0) return tell_run(run, RunEvent::kStartFailed);
  Watched& job = watched_[pretended.job];
  job.lasted += now - pretended.since;
  if (!job.done) {
    say_(fmt::format("would stop Slurm's job {} ({}) after {:.0f} s", pretended.job, job.name,
                     now - pretended.since));
  }
  tell_run(run, RunEvent::kExited);
}

void ShadowBook::census(std::uint64_t number) {
  for (const auto& [node, report] : told_) tell_(report);
  for (const auto& [run, pretended] : runs_) {
    tell_run(run, pretended.since > 0 ? RunEvent::kSeenRunning : RunEvent::kSeenReady);
  }
  tell_(CensusReport{number, true});
}

void ShadowBook::look(const std::vector<SlurmJob>& jobs, const std::vector<SlurmNode>& nodes,
                      double now) {
  std::set<std::uint32_t> there;
  for (const SlurmJob& job : jobs) {
    there.insert(job.id);
    const auto known = watched_.find(job.id);
    if (known != watched_.end()) {
      follow(job, known->second);
    } else if (ours(job) && (!slurm_ended(job.state) || ran_since(job, first_second_))) {
      watch(job, now);
    }
  }
  for (auto& [id, watched] : watched_) {
    if (watched.length >= 0 || watched.done || there.contains(id)) continue;
    watched.done = true;
    take_back(watched, owners_[id], "Slurm does not know it any more");
  }
  looked_ = true;
  tell_nodes(jobs, nodes);
  pass(now);
}

void ShadowBook::watch(const SlurmJob& job, double now) {
  if (gpus_wanted(job) == 0) return;
  if (job.array || job.heterogeneous) {
    if (left_out_.insert(job.id).second) {
      say_(fmt::format("Slurm's job {} is left out: it is {}", job.id,
                       job.array ? "an array; its tasks are seen when Slurm starts them"
                                 : "a heterogeneous job"));
    }
    return;
  }
  if (is_not_due(job)) {
    not_due_.insert(job.id);
    return;
  }
  const NodeConstraints constraints =
      node_constraints(job, cluster_, [this](NodeId node) { return cluster_.host(node).gpus; });
  if (!constraints.unfit.empty()) {
    if (left_out_.insert(job.id).second) {
      say_(fmt::format("Slurm's job {} is left out: {}", job.id, constraints.unfit));
    }
    return;
  }
  Watched& watched = watched_[job.id];
  watched.origin =
      origin_text({job.id, fmt::format("{}", static_cast<std::int64_t>(job.submitted))});
  watched.name = complaint(job.name);
  watched.fair = job.state == SlurmState::kPending || job.submitted >= first_second_;
  // The time that it has waited already counts for neither side.
  watched.from = not_due_.erase(job.id) > 0 ? now : looked_ ? std::min(job.submitted, now) : begun_;
  if (job.state != SlurmState::kPending && job.started > 0) {
    watched.from = std::min(watched.from, job.started);
  }
  owners_[job.id] = job.user;
  by_origin_[watched.origin] = job.id;
  follow(job, watched);
  JobReport report;
  report.kind = JobReport::Kind::kFound;
  report.origin = watched.origin;
  report.owner = job.user;
  report.description = found_description(job, constraints, watched.origin);
  tell_(report);
}

void ShadowBook::follow(const SlurmJob& job, Watched& watched) {
  if (watched.length >= 0 || watched.done) return;
  const bool running = job.state == SlurmState::kRunning || job.state == SlurmState::kCompleting;
  // One that is cancelled while it waits has a start, too: the time of its end. It has no nodes.
  const bool ran =
      slurm_ended(job.state) && !(job.state == SlurmState::kCancelled && job.nodes.empty());
  if ((running || ran) && job.started > 0 && watched.slurm_start == 0) {
    watched.slurm_start = job.started;
  }
  if (!slurm_ended(job.state)) return;
  if (watched.slurm_start > 0 && job.ended >= job.started) {
    watched.length = job.ended - job.started;
  } else {
    watched.done = true;
    take_back(watched, owners_[job.id], "it was cancelled in Slurm");
  }
}

void ShadowBook::take_back(const Watched& watched, const std::string& owner,
                           const std::string& why) {
  JobReport report;
  report.kind = JobReport::Kind::kCancelled;
  report.origin = watched.origin;
  report.owner = owner;
  report.why = why;
  tell_(report);
}

void ShadowBook::tell_nodes(const std::vector<SlurmJob>& jobs,
                            const std::vector<SlurmNode>& nodes) {
  // GPUs that jobs hold of which no shadow is cast: of other partitions, or left out.
  std::map<NodeId, int> taken;
  for (const SlurmJob& job : jobs) {
    const bool there = job.state == SlurmState::kRunning || job.state == SlurmState::kCompleting ||
                       job.state == SlurmState::kStarting;
    if (!there || watched_.contains(job.id)) continue;
    const auto names = expand_hostlist(job.nodes);
    for (std::size_t i = 0; names && i < names->size() && i < job.gres.size(); ++i) {
      if (const NodeId node = cluster_.node((*names)[i]); node != kNoNode) {
        taken[node] += count_of(job.gres[i], "gpu");
      }
    }
  }
  for (const SlurmNode& node : nodes) {
    const NodeId id = cluster_.node(node.name);
    if (id == kNoNode) continue;
    const NodeReport report{id, node.up, node.drained, std::min(taken[id], cluster_.host(id).gpus),
                            complaint(node.state)};
    const auto told = told_.find(id);
    if (told != told_.end()
            ? told->second.up == report.up && told->second.drained == report.drained &&
                  told->second.taken == report.taken
            : report.up && !report.drained && report.taken == 0) {
      continue;
    }
    told_[id] = report;
    tell_(report);
  }
}

void ShadowBook::pass(double now) {
  for (auto run = runs_.begin(); run != runs_.end();) {
    const Pretended& pretended = run->second;
    Watched& job = watched_[pretended.job];
    const bool over = pretended.since > 0 && job.length >= 0 &&
                      job.lasted + (now - pretended.since) >= job.length;
    if (!over) {
      ++run;
      continue;
    }
    job.done = true;
    // It is known only now, but it would have ended then.
    job.our_end = pretended.since + std::max(0.0, job.length - job.lasted);
    tell_run(run->first, RunEvent::kExited, RunOutcome::kFinished);
    run = runs_.erase(run);
  }
}

std::string ShadowBook::gain() const {
  std::size_t both = 0;
  std::size_t only_slurm = 0;
  std::size_t only_we = 0;
  std::size_t ended = 0;
  double slurm = 0;
  double we = 0;
  double slurm_took = 0;
  double we_took = 0;
  for (const auto& [id, job] : watched_) {
    if (!job.fair) continue;
    if (job.our_end > 0) {
      ++ended;
      slurm_took += job.slurm_start + job.length - job.from;
      we_took += job.our_end - job.from;
    }
    if (job.slurm_start > 0 && job.our_start > 0) {
      ++both;
      slurm += std::max(0.0, job.slurm_start - job.from);
      we += std::max(0.0, job.our_start - job.from);
    } else if (job.slurm_start > 0) {
      ++only_slurm;
    } else if (job.our_start > 0) {
      ++only_we;
    }
  }
  if (both + only_slurm + only_we == 0) return "nothing to compare yet";
  const double count = std::max<double>(1, static_cast<double>(both));
  const double ends = std::max<double>(1, static_cast<double>(ended));
  return fmt::format(
      "{} jobs were started by Slurm and by us: Slurm let them wait {:.1f} s on average, we would "
      "have {:.1f} s; {} of them have ended: they took {:.1f} s on average from submission to end, "
      "and would have taken {:.1f} s; {} only Slurm has started so far, {} only we would have",
      both, slurm / count, we / count, ended, slurm_took / ends, we_took / ends, only_slurm,
      only_we);
}

}  // namespace muster
