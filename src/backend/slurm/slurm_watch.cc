// What follows from Slurm's answer for nodes, and for jobs that no launch has.
#include <algorithm>

#include <fmt/format.h>

#include "backend/slurm/command.h"
#include "backend/slurm/dependency.h"
#include "backend/slurm/found_job.h"
#include "backend/slurm/hostlist.h"
#include "backend/slurm/slurm_desk.h"
#include "backend/slurm/slurm_record.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr std::string_view kByAdmin = "JobHeldAdmin";
// Jobs end between the answer about nodes and that about jobs: a difference must stay.
constexpr double kCertainAfter = 5;
constexpr int kCertainAnswers = 5;
// A controller that crashes may bring back a job that has left. Until then its record stays.
constexpr double kKeepRecords = 600;
// What was submitted so long ago is not forgotten any more by a controller that crashes.
constexpr double kRemembers = 15;

bool on_nodes(SlurmState state) {
  return state == SlurmState::kStarting || state == SlurmState::kRunning ||
         state == SlurmState::kCompleting;
}

}  // namespace

// A job may name several partitions: then all of them must be ours.
bool SlurmDesk::ours(const SlurmJob& row) const {
  const auto given = [this](std::string_view name) {
    return std::find(settings_.partitions.begin(), settings_.partitions.end(), name) !=
           settings_.partitions.end();
  };
  const std::vector<std::string_view> names = split(row.partition, ',');
  return !names.empty() && std::all_of(names.begin(), names.end(), given);
}

SlurmDesk::Kept* SlurmDesk::launch_on(std::uint32_t job) {
  for (auto& [run, kept] : kept_) {
    if (kept.job == job) return &kept;
  }
  return nullptr;
}

void SlurmDesk::watch_nodes_of(const std::vector<SlurmNode>& nodes) {
  for (auto& [node, state] : states_) {
    state.up = false;  // one that is gone from Slurm's list is not up
    state.detail = "Slurm does not know it any more";
  }
  for (const SlurmNode& node : nodes) {
    const NodeId id = cluster_.node(node.name);
    if (id == kNoNode) continue;
    NodeReport& state = states_[id];
    state.node = id;
    state.up = node.up;
    state.drained = node.drained || avoid_.contains(id) || busy_until_.contains(id);
    // A job needs a CPU beside its GPUs.
    if (node.cpus > 0 && node.cpus_used >= node.cpus) {
      no_cpus_.insert(id);
    } else {
      no_cpus_.erase(id);
    }
    state.detail = complaint(node.state);
    if (avoid_.contains(id)) state.detail += "; Slurm starts nothing there";
    if (busy_until_.contains(id)) state.detail += "; Slurm found no room there for a job";
  }
}

void SlurmDesk::tell_nodes() {
  const std::map<NodeId, int> taken = taken_by_others();
  for (auto& [node, state] : states_) {
    const auto found = taken.find(node);
    state.taken = found == taken.end() ? 0 : std::min(found->second, cluster_.host(node).gpus);
    const auto told = told_nodes_.find(node);
    // What is taken is said again: a GPU that was in use by then is taken when it becomes free.
    if (told != told_nodes_.end() && uncounted(node) == 0 && told->second.up == state.up &&
        told->second.drained == state.drained && told->second.taken == state.taken) {
      continue;
    }
    told_nodes_[node] = state;
    tell_(state);
  }
}

std::map<NodeId, int> SlurmDesk::taken_by_others() const {
  std::map<NodeId, int> taken = on_each_node(false);
  for (const auto& [node, one] : uncounted_) {
    if (one.certain) taken[node] += one.gpus;
  }
  for (const NodeId node : no_cpus_) taken[node] = cluster_.host(node).gpus;
  return taken;
}

std::map<NodeId, int> SlurmDesk::on_each_node(bool also_ours) const {
  std::set<std::uint32_t> ours;
  for (const auto& [run, kept] : kept_) {
    if (!kept.end && !also_ours) ours.insert(kept.job);
  }
  std::map<NodeId, int> used;
  for (const auto& [id, row] : rows_) {
    if (!on_nodes(row.state) || ours.contains(id) || (!also_ours && stays(row))) continue;
    const auto names = expand_hostlist(row.nodes);
    if (!names) continue;
    for (std::size_t i = 0; i < names->size() && i < row.gres.size(); ++i) {
      const NodeId node = cluster_.node((*names)[i]);
      if (node == kNoNode) continue;
      const int shards = count_of(row.gres[i], "shard");
      const int each = std::max(1, cluster_.host(node).shards);
      used[node] += count_of(row.gres[i], "gpu") + (shards + each - 1) / each;
    }
  }
  return used;
}

// A controller that was killed while a job left may count its GPUs as used for as long as it lives.
// They cannot be planned with.
void SlurmDesk::count_again(const std::vector<SlurmNode>& nodes, double now) {
  for (auto* times : {&avoid_, &busy_until_}) {
    std::erase_if(*times, [now](const auto& one) { return one.second <= now; });
  }
  const std::map<NodeId, int> used = on_each_node(true);
  std::set<NodeId> busy;  // with cleaning up: no job has their GPUs, but they are not free yet
  for (const auto& [id, row] : rows_) {
    if (row.state != SlurmState::kCompleting) continue;
    const auto names = expand_hostlist(row.nodes);
    if (!names) continue;
    for (const std::string& name : *names) busy.insert(cluster_.node(name));
  }
  for (const SlurmNode& node : nodes) {
    const NodeId id = cluster_.node(node.name);
    if (id == kNoNode || cluster_.host(id).shards > 1) continue;
    const auto known = used.find(id);
    const int more = count_of(node.used, "gpu") - (known == used.end() ? 0 : known->second);
    if (more <= 0) {
      uncounted_.erase(id);
      avoid_.erase(id);
      continue;
    }
    if (busy.contains(id)) continue;
    Uncounted& one = uncounted_[id];
    if (one.answers++ == 0) one = {now, 1, more, false};
    one.gpus = std::min(one.gpus, more);
    if (one.certain || one.answers < kCertainAnswers || now < one.since + kCertainAfter) continue;
    one.certain = true;
    say(
        fmt::format("Slurm counts {} GPUs of {} as used, and no job has them: they are left alone "
                    "until it is told to count again (scontrol reconfigure)",
                    one.gpus, node.name));
  }
}

int SlurmDesk::uncounted(NodeId node) const {
  const auto found = uncounted_.find(node);
  return found == uncounted_.end() || !found->second.certain ? 0 : found->second.gpus;
}

// The job that was submitted instead of this one; null: none was.
const SlurmJob* SlurmDesk::in_place_of(const SlurmJob& row, const SlurmMark& mark) const {
  const auto own = mark.nonce.empty() ? own_.find(mark.run.job) : own_.end();
  return own == own_.end() || own->second == row.id ? nullptr : &rows_.at(own->second);
}

void SlurmDesk::watch_queue(double now) {
  std::set<std::uint32_t> busy;
  for (const auto& [run, kept] : kept_) busy.insert(kept.job);
  for (auto waiting = waiting_.begin(); waiting != waiting_.end();) {
    const auto row = rows_.find(waiting->first);
    const bool same = row != rows_.end() && mark_of(row->second) &&
                      mark_of(row->second)->nonce == waiting->second.mark->nonce;
    if (!same && !waiting->second.mark->nonce.empty() && !busy.contains(waiting->first)) {
      report_waiting(waiting->second, waiting->first, JobReport::Kind::kCancelled,
                     "Slurm does not know it any more");
    }
    waiting = same && !busy.contains(waiting->first) ? std::next(waiting) : waiting_.erase(waiting);
  }
  for (auto& [id, row] : rows_) {
    if (!ours(row) || busy.contains(id)) continue;
    if (const auto mark = mark_of(row)) {
      const SlurmJob* const later = in_place_of(row, *mark);
      if (later == nullptr) {
        if (!watch_staying(row, now)) watch_waiting(row, *mark);
      } else if (row.state == SlurmState::kPending && row.held &&
                 now > later->submitted + kRemembers) {
        if (const Status done = control_.cancel(id); !done) say(done.error().message);
      }
    } else if (row.state == SlurmState::kPending && row.held && row.reason != kByAdmin) {
      take_in(row, now);
    }
  }
}

void SlurmDesk::watch_waiting(SlurmJob& row, const SlurmMark& mark) {
  const auto known = waiting_.find(row.id);
  const bool first = known == waiting_.end();
  if (row.state == SlurmState::kCancelled) {
    // Also one that was cancelled while no daemon ran; that is reported once.
    const Waiting gone{mark, row.user};
    if (!first || spoken_of_.insert(row.id).second) {
      report_waiting(gone, row.id, JobReport::Kind::kCancelled, "it was cancelled in Slurm");
    }
    waiting_.erase(row.id);
    return;
  }
  if (slurm_ended(row.state)) {
    waiting_.erase(row.id);
    return;
  }
  Waiting& waiting = waiting_[row.id];
  waiting.mark = mark;
  waiting.owner = row.user;
  if (row.state != SlurmState::kPending) {
    // Released by hand and started before we looked; or being cleaned up, which says nothing.
    if (row.state != SlurmState::kCompleting) let_go(waiting, row.id);
    return;
  }
  if (first) {
    const bool found = !mark.nonce.empty();
    const std::string origin = found ? origin_text({row.id, mark.nonce}) : "";
    // What it asked for is known as long as we have not placed it.
    NodeConstraints constraints;
    constraints.partition = row.partition;
    if (mark.run.launch == 0) constraints = constraints_of(row);
    report_waiting(waiting, row.id, found ? JobReport::Kind::kFound : JobReport::Kind::kSeen, {},
                   found ? found_description(row, constraints, origin) : "");
  }
  const bool by_admin = row.held && row.reason == kByAdmin;
  const bool by_people = by_admin || (row.held && held_by_user_.contains(row.id));
  if (by_admin && !waiting.held_by_people) {
    report_waiting(waiting, row.id, JobReport::Kind::kHeld, "an administrator holds it in Slurm");
  } else if (!by_people && waiting.held_by_people) {
    if (!row.held) hold(row);
    held_by_user_.erase(row.id);
    report_waiting(waiting, row.id, JobReport::Kind::kReleased, "it was released in Slurm");
  } else if (!row.held) {
    let_go(waiting, row.id);
  }
  waiting.held_by_people = by_people;
}

// Somebody wants Slurm to run it: it does, and we let it.
void SlurmDesk::let_go(Waiting& waiting, std::uint32_t job) {
  if (std::exchange(waiting.let_go, true)) return;
  report_waiting(waiting, job, JobReport::Kind::kCancelled,
                 "it was released by hand: Slurm runs it by itself");
}

void SlurmDesk::report_waiting(const Waiting& waiting, std::uint32_t job, JobReport::Kind kind,
                               const std::string& why, const std::string& description) {
  JobReport report;
  report.kind = kind;
  report.why = why;
  report.owner = waiting.owner;
  report.description = description;
  if (waiting.mark->nonce.empty()) {
    report.job = waiting.mark->run.job;
  } else {
    report.origin = origin_text({job, waiting.mark->nonce});
  }
  tell_(report);
}

// A job that a user submitted to Slurm, held for us.
void SlurmDesk::take_in(SlurmJob& row, double now) {
  if (parse_mark(row.admin_comment)) return;  // of another Muster
  const JobDue when = job_due(row, rows_, now);
  if (when == JobDue::kLater) return;
  NodeConstraints constraints = constraints_of(row);
  if (const std::string why = unfit_to_schedule(row); !why.empty()) {
    constraints.unfit = why;
  } else if (when == JobDue::kInVain) {
    constraints.unfit = "what it depends on never comes (" + complaint(row.dependency) + ")";
  }
  if (!constraints.unfit.empty()) return leave_alone(row, constraints);
  SlurmMark mark;
  mark.instance = settings_.instance;
  mark.nonce = settings_.nonce();
  if (const Status done = control_.mark(row.id, mark_text(mark)); !done) {
    say_once(row, "cannot be taken in: " + done.error().message);
    return;
  }
  row.admin_comment = mark_text(mark);
  watch_waiting(row, mark);
}

NodeConstraints SlurmDesk::constraints_of(const SlurmJob& row) const {
  const std::map<NodeId, int> used = on_each_node(true);
  return node_constraints(row, cluster_, [&](NodeId node) {
    const auto known = used.find(node);
    return cluster_.host(node).gpus - (known == used.end() ? 0 : known->second);
  });
}

// People see why in the log and, if it wants GPUs, among the jobs. Nothing is written into it.
void SlurmDesk::leave_alone(const SlurmJob& row, const NodeConstraints& constraints) {
  if (!say_once(row, "is left alone: " + constraints.unfit) || gpus_wanted(row) == 0) return;
  JobReport report;
  report.kind = JobReport::Kind::kFound;
  report.owner = row.user;
  report.origin = origin_text({row.id, fmt::format("{:.0f}", row.submitted)});
  report.description = found_description(row, constraints, report.origin);
  tell_(report);
}

bool SlurmDesk::say_once(const SlurmJob& row, const std::string& why) {
  if (!spoken_of_.insert(row.id).second) return false;
  say(fmt::format("job {} of Slurm ({}, of {}) {}", row.id, complaint(row.name),
                  complaint(row.user), why));
  return true;
}

void SlurmDesk::drop_records(double now) {
  for (auto& [when, job] : records_) {
    if (when == kNever) when = now + kKeepRecords;
    if (when <= now) drop_slurm_record(settings_.runs, job);
  }
  std::erase_if(records_, [now](const auto& one) { return one.first <= now; });
}

// What Slurm still keeps of jobs that have left.
void SlurmDesk::drop_leavers() {
  std::vector<Leaver> later;
  for (const Leaver& leaver : std::exchange(leavers_, {})) {
    const auto origin = parse_origin(leaver.origin);
    const auto own = own_.find(leaver.job);
    const std::uint32_t job = origin ? origin->job : own == own_.end() ? 0 : own->second;
    const auto row = rows_.find(job);
    const auto mark = row == rows_.end() ? std::nullopt : mark_of(row->second);
    if (!mark || (origin && mark->nonce != origin->nonce)) continue;
    if (const Kept* kept = launch_on(job); kept != nullptr && !kept->end) {
      later.push_back(leaver);  // its last launch is still ending
      continue;
    }
    // One of a user that was refused is left as it is: held.
    if (row->second.state != SlurmState::kPending || (origin && !leaver.taken_back)) continue;
    if (!row->second.held) continue;  // a person wants Slurm to run it
    if (const Status done = control_.cancel(job); !done) later.push_back(leaver);
    waiting_.erase(job);
    spoken_of_.insert(job);
  }
  leavers_ = std::move(later);
}

}  // namespace muster
