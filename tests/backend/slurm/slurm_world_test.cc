// The desk in simulated worlds with random faults, from a seed: words to Slurm are lost before or
// after they were heard, answers are missing, the controller crashes and forgets, nodes fail,
// people act by hand, and the daemon itself crashes and comes back with no more than the run book.
// Whatever happens, no job runs twice, none runs after it has finished, and all finish once the
// faults are over.
#include <filesystem>
#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/slurm/slurm_desk.h"
#include "support/slurm_in_memory.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

class SlurmWorld {
 public:
  SlurmWorld(unsigned seed, const TemporaryFolder& folder) : chance_(seed), folder_(folder) {
    slurm_.chance.seed(seed + 1);
    slurm_.work_of_new_jobs = 8 + static_cast<double>(chance_() % 8);
    begin();
    for (std::uint32_t job = 1; job <= kJobs; ++job) plan(job);
  }

  void live(double seconds, bool faults) {
    for (double left = seconds; left > 0 && done_.size() < kJobs; left -= 0.1) {
      slurm_.lost = faults ? 0.05 : 0;
      for (int i = 1; i <= 4 && !faults; ++i) slurm_.node_returns(fmt::format("n{}", i));
      if (faults) disturb();
      slurm_.pass(0.1);
      check();
      for (const auto& [job, at] : std::map<std::uint32_t, double>(again_)) {
        if (slurm_.now() >= at) plan(job);
      }
      if (slurm_.now() >= desk_->due()) desk_->look(slurm_.now());
      hear();
    }
  }
  std::size_t finished() const { return done_.size(); }
  const std::vector<std::string>& violations() const { return slurm_.violations; }
  std::string story() const {
    std::string text;
    for (const auto& [run, state] : book_.runs()) {
      text += fmt::format("{}.{} {}\n", index(run.job), run.launch, run_state_name(state));
    }
    for (const auto& [id, job] : slurm_.all()) {
      text += fmt::format("{}: {} {} held {} {}\n", id, static_cast<int>(job.row.state),
                          job.row.comment, job.row.held, job.row.reason);
    }
    return text;
  }

 private:
  static constexpr std::uint32_t kJobs = 6;

  bool lucky(double part) { return std::uniform_real_distribution<double>()(chance_) < part; }

  void begin() {
    SlurmSettings settings;
    settings.instance = "lab";
    settings.partitions = {"gpu"};
    settings.runs = folder_.path() / "runs";
    settings.ended = folder_.path() / "ended";
    settings.nonce = [] { return "x"; };
    std::vector<std::string> notes;
    auto cluster = SlurmCluster::find(slurm_.nodes()->rows, {"gpu"}, notes);
    desk_ = std::make_unique<SlurmDesk>(std::move(settings), std::move(*cluster), slurm_,
                                        [this](const Report& report) { heard_.push_back(report); });
    heard_.clear();  // what was on its way to the daemon that died
    seen_.clear();
    known_.clear();
    for (const auto& [run, state] : book_.runs()) known_.insert(run);
    desk_->census(++censuses_);
  }

  RunOrder order(RunId run) const {
    RunOrder order;
    order.run = run;
    order.command = {"train"};
    order.process_per_gpu = false;
    const auto job = static_cast<std::uint32_t>(run.job);
    order.gpus.add(NodeId{(job + run.launch) % 4}, 1);
    return order;
  }

  void plan(std::uint32_t job) {
    again_.erase(job);
    const RunId run{JobId{job}, ++launches_[job]};
    ASSERT_TRUE(book_.plan(run));
    apply(run, RunEvent::kGranted, RunOutcome::kStopped);
  }

  void apply(RunId run, RunEvent event, RunOutcome outcome) {
    const RunAnswer answer = book_.apply(run, event);
    switch (answer.command) {
      case RunCommand::kPrepare:
        desk_->prepare(order(run));
        break;
      case RunCommand::kGo:
        desk_->go(run, slurm_.now());
        break;
      case RunCommand::kStop:
        desk_->stop(run, Grace{2}, slurm_.now());
        break;
      case RunCommand::kKill:
        desk_->stop(run, Grace{0}, slurm_.now());
        break;
      case RunCommand::kNone:
        break;
    }
    const auto job = static_cast<std::uint32_t>(run.job);
    const bool ended = answer.news == RunNews::kReleased || answer.news == RunNews::kEnded;
    if (ended && outcome == RunOutcome::kFinished) {
      done_.insert(job);
      bool complete = false;
      for (const auto& [id, one] : slurm_.all()) {
        const auto mark = parse_mark(one.row.comment);
        complete = complete || (mark && mark->run.job == run.job && one.done >= one.runs_for);
      }
      if (!complete) slurm_.violations.push_back(fmt::format("job {} has work left", job));
      desk_->over(run.job, "", false);
    } else if (over(answer.next) && answer.news != RunNews::kNone && !done_.contains(job)) {
      again_[job] = slurm_.now() + 1;
    }
    if (over(answer.next)) book_.forget(run);
  }

  void hear() {
    for (const Report& report : std::exchange(heard_, {})) {
      if (const auto* run = std::get_if<RunReport>(&report)) {
        seen_.insert(run->run);
        known_.insert(run->run);
        apply(run->run, run->event, run->outcome);
        if (run->event == RunEvent::kExited || run->event == RunEvent::kStartFailed) {
          desk_->acknowledge(run->run);
        }
      } else if (const auto* job = std::get_if<JobReport>(&report)) {
        const auto number = static_cast<std::uint32_t>(job->job);
        if (job->kind == JobReport::Kind::kSeen && done_.contains(number)) {
          desk_->over(job->job, "", true);
        }
      } else if (const auto* census = std::get_if<CensusReport>(&report);
                 census != nullptr && census->number == censuses_) {
        for (const auto& [one, state] : std::map<RunId, RunState>(book_.runs())) {
          if (!seen_.contains(one) && (known_.contains(one) || state == RunState::kPreparing)) {
            apply(one, RunEvent::kNotSeen, RunOutcome::kStopped);
          }
        }
      }
    }
  }

  void disturb() {
    const std::string node = fmt::format("n{}", chance_() % 4 + 1);
    if (lucky(0.02)) slurm_.silent += static_cast<int>(chance_() % 4);
    if (lucky(0.01)) slurm_.controller_crashes();
    if (lucky(0.01)) slurm_.node_fails(node);
    if (lucky(0.05)) slurm_.node_returns(node);
    if (lucky(0.01)) begin();
    if (!slurm_.all().empty() && lucky(0.01)) {
      slurm_.admin_requeues(std::next(slurm_.all().begin(),
                                      static_cast<std::ptrdiff_t>(chance_() % slurm_.all().size()))
                                ->first);
    }
    const std::map<RunId, RunState> runs = book_.runs();
    for (const auto& [run, state] : runs) {
      if (lucky(0.01)) apply(run, RunEvent::kStop, RunOutcome::kStopped);
      if (lucky(0.002)) apply(run, RunEvent::kOverdue, RunOutcome::kStopped);
    }
  }

  // What Slurm itself shows: the desk has no part in it.
  void check() {
    std::map<JobId, int> running;
    std::map<JobId, int> finished;
    for (const auto& [id, job] : slurm_.all()) {
      const auto mark = parse_mark(job.row.comment);
      if (!mark) continue;
      running[mark->run.job] += job.row.state == SlurmState::kRunning ? 1 : 0;
      // One that ends by itself after it was told to leave counts as stopped: nobody can tell.
      const bool complete =
          job.row.state == SlurmState::kCompleted && job.done >= job.runs_for && !job.told;
      finished[mark->run.job] += complete ? 1 : 0;
    }
    for (const auto& [job, count] : running) {
      if (count > 1) slurm_.violations.push_back(fmt::format("job {} runs twice", index(job)));
      if (count > 0 && finished[job] > 0) {
        slurm_.violations.push_back(fmt::format("job {} runs after it has finished", index(job)));
      }
    }
  }

  std::mt19937 chance_;
  const TemporaryFolder& folder_;
  SlurmInMemory slurm_{4, 8};
  RunBook book_;
  std::unique_ptr<SlurmDesk> desk_;
  std::vector<Report> heard_;
  std::set<RunId> seen_;
  std::set<RunId> known_;
  std::map<std::uint32_t, std::uint32_t> launches_;
  std::map<std::uint32_t, double> again_;
  std::set<std::uint32_t> done_;
  std::uint64_t censuses_ = 0;
};

TEST(SlurmWorlds, NoJobRunsTwiceAndAllFinish) {
  const TemporaryFolder folder;
  for (unsigned seed = 1; seed <= 150; ++seed) {
    std::filesystem::remove_all(folder.path() / "runs");
    std::filesystem::remove_all(folder.path() / "ended");
    std::filesystem::create_directory(folder.path() / "runs");
    std::filesystem::create_directory(folder.path() / "ended");
    SlurmWorld world(seed, folder);
    world.live(60, true);
    world.live(400, false);
    ASSERT_EQ(world.finished(), 6U) << "seed " << seed << "\n" << world.story();
    ASSERT_TRUE(world.violations().empty()) << "seed " << seed << ": " << world.violations()[0];
  }
}

}  // namespace
}  // namespace muster
