// A launch that gives some of its nodes back while its job goes on with the others: the ranks
// leave, the script stays, Slurm is told which nodes to take away, and the script starts the ranks
// of the next launch. The job of Slurm is not queued again. What cannot be done so (the node of the
// script is not kept, another number of GPUs on a node) is done by a requeue.
#include <algorithm>
#include <unistd.h>

#include <fmt/format.h>

#include "backend/local/run_folder.h"
#include "backend/slurm/hostlist.h"
#include "backend/slurm/slurm_desk.h"
#include "backend/slurm/slurm_record.h"
#include "base/out_file.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr double kStaysFor = 15;  // without a launch; its script gives up after a minute

bool is_there(const std::filesystem::path& file) { return access(file.c_str(), F_OK) == 0; }

}  // namespace

std::filesystem::path SlurmDesk::folder_of(RunId run) const {
  return settings_.runs / run_folder_name(run);
}

void SlurmDesk::shrink(RunId run, Grace grace, const RunOrder& next, double now) {
  stop(run, grace, now);
  const auto found = kept_.find(run);
  if (found == kept_.end()) return;
  Kept& kept = found->second;
  if (kept.end || kept.phase != Phase::kStopping || !kept.own() || grace.seconds <= 0) return;
  if (!slurm_script_can_stay(settings_.runs, run)) return;
  // The script looks for it when its ranks have left.
  if (!replace_file((folder_of(run) / "stay").string(), "stay\n")) return;
  kept.next = next;
}

// The nodes that are to stay with the job; none where Slurm cannot do that.
std::optional<std::vector<std::string>> SlurmDesk::nodes_to_keep(const Kept& kept,
                                                                 const SlurmJob& row) const {
  const auto names = expand_hostlist(row.nodes);
  if (!names || row.restarts != kept.requeues || row.gres.size() != names->size()) {
    return std::nullopt;
  }
  std::vector<std::string> keep;
  const GpuSet& gpus = kept.next->gpus;
  for (int i = 0; i < gpus.nodes(); ++i) {
    if (!cluster_.has(gpus[i].node)) return std::nullopt;
    const std::string& name = cluster_.host(gpus[i].node).name;
    const auto on = std::find(names->begin(), names->end(), name);
    if (on == names->end()) return std::nullopt;
    const auto here = static_cast<std::size_t>(on - names->begin());
    if (count_of(row.gres[here], "gpu") != gpus[i].count()) return std::nullopt;
    keep.push_back(name);
  }
  const std::string& script_on = row.batch_host.empty() ? names->front() : row.batch_host;
  const bool with_script = std::find(keep.begin(), keep.end(), script_on) != keep.end();
  return with_script && keep.size() < names->size() ? std::optional(keep) : std::nullopt;
}

// Its ranks have been told to leave.
void SlurmDesk::watch_shrink(Kept& kept, const SlurmJob& row, double now) {
  const auto keep = nodes_to_keep(kept, row);
  if (keep && is_there(folder_of(kept.run) / "left")) return hand_over(kept, row, *keep, now);
  if (keep && now < kept.kill_at) return;
  kept.next.reset();
  std::error_code code;
  std::filesystem::remove(folder_of(kept.run) / "stay", code);
}

void SlurmDesk::hand_over(Kept& kept, const SlurmJob& row, const std::vector<std::string>& nodes,
                          double now) {
  const RunOrder next = *std::exchange(kept.next, std::nullopt);
  const int ranks = next.process_per_gpu ? next.gpus.gpus() : next.gpus.nodes();
  const SlurmMark mark{
      settings_.instance, {}, next.run, kept.requeues, static_cast<std::uint32_t>(ranks)};
  // Before Slurm is told: a daemon that finds the mark must know that nothing of that launch runs
  // yet.
  std::error_code code;
  std::filesystem::create_directory(folder_of(next.run), code);
  const std::filesystem::path note = folder_of(next.run) / "in-place";
  Status done = replace_file(note.string(), fmt::format("{}\n", kept.run.launch));
  if (done) done = control_.shrink(row.id, nodes, mark_text(mark));
  if (!done) {
    // It is requeued, then; also where the word has had its effect all the same.
    say(fmt::format("job {} of Slurm cannot be made smaller in place: {}", row.id,
                    done.error().message));
    kept.kill_at = now;
    return;
  }
  staying_[row.id] = now + kStaysFor;
  listen(kept, true);
  end(kept, RunEvent::kExited, RunOutcome::kStopped, 0, "it goes on with fewer nodes, in place");
}

// Its ranks have left, its script waits for the next launch, and there is none any more.
bool SlurmDesk::waits_in_vain(const Kept& kept) const {
  return kept.own() && is_there(folder_of(kept.run) / "left");
}

// Whether the script of the job waits for a launch that has not begun.
bool SlurmDesk::stays(const SlurmJob& row) const {
  if (row.state != SlurmState::kRunning) return false;
  const auto mark = mark_of(row);
  if (!mark || !mark->nonce.empty() || mark->run.launch == 0) return false;
  return is_there(folder_of(mark->run) / "in-place") &&
         !slurm_launch_began(settings_.runs, mark->run);
}

// The launch for which the script of its job waits.
bool SlurmDesk::put_in_place(Kept& kept, const SlurmJob& row) {
  const auto mark = mark_of(row);
  const auto names = expand_hostlist(row.nodes);
  if (!stays(row) || mark->run != kept.run || row.restarts != mark->requeues || !names)
    return false;
  const GpuSet& gpus = kept.order.gpus;
  if (names->size() != static_cast<std::size_t>(gpus.nodes())) return false;
  for (int i = 0; i < gpus.nodes(); ++i) {
    const std::string& name = cluster_.host(gpus[i].node).name;
    if (std::find(names->begin(), names->end(), name) == names->end()) return false;
  }
  kept.in_place = true;
  kept.requeues = row.restarts;
  kept.ranks = mark->ranks;
  kept.judged = answers_;
  kept.phase = kept.go ? Phase::kReleasing : Phase::kReady;
  staying_.erase(row.id);
  tell(kept, RunEvent::kReady);
  return true;
}

// Of a job that no launch has. One that waits in vain is queued again.
bool SlurmDesk::watch_staying(const SlurmJob& row, double now) {
  if (!stays(row)) {
    staying_.erase(row.id);
    return false;
  }
  double& until = staying_.try_emplace(row.id, now + kStaysFor).first->second;
  if (now < until) return true;
  until = now + kAskAgain;
  if (const Status done = control_.requeue_and_hold(row.id); !done) say(done.error().message);
  return true;
}

// An earlier daemon has made it smaller, and nothing of the launch that is in its mark has begun.
void SlurmDesk::find_staying(const SlurmJob& row, const SlurmMark& mark) {
  Kept kept;
  kept.job = row.id;
  kept.requeues = mark.requeues;
  kept.ranks = mark.ranks;
  if (slurm_next_launch(settings_.runs, mark.run.job) >= mark.run.launch) {
    kept.run = kept.order.run = mark.run;
    kept.phase = Phase::kStarting;
    kept.in_place = true;
    kept_.emplace(kept.run, std::move(kept));
    return;
  }
  // The launch before it has ended. Whether that was reported is not known.
  const auto text = read_file((folder_of(mark.run) / "in-place").string());
  const auto launch = text ? parse_integer(trim(*text)) : std::nullopt;
  if (!launch || *launch <= 0 || *launch >= mark.run.launch) return;
  kept.run = kept.order.run = {mark.run.job, static_cast<std::uint32_t>(*launch)};
  if (kept_.contains(kept.run)) return;
  Kept& before = kept_.emplace(kept.run, std::move(kept)).first->second;
  listen(before, true);
  end(before, RunEvent::kExited, RunOutcome::kStopped, 0, "it goes on with fewer nodes, in place");
}

RankWords& SlurmDesk::words_of(Kept& kept) {
  if (!kept.words) {
    kept.words.emplace(folder_of(kept.run), kept.run,
                       static_cast<int>(std::min(kept.ranks, 65536U)));
  }
  return *kept.words;
}

// What its ranks say of their work. Jobs of users have no folder that their ranks know of.
void SlurmDesk::listen(Kept& kept, bool all) {
  if (!kept.own()) return;
  RankWords& words = words_of(kept);
  words.hear(all);
  if (const auto progress = words.take_progress()) tell_(*progress);
}

}  // namespace muster
