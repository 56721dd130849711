#include "backend/local/local_executor.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "agent/gpus/numa.h"
#include "agent/keeper/keeper.h"
#include "backend/local/run_folder.h"
#include "base/out_file.h"

namespace muster {
namespace {

Status make_folder(const std::filesystem::path& folder) {
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return Done{};
  return file_error("make", folder.string(), errno);
}

// What the keeper is to do: one rank with all GPUs of the launch, or one for each.
KeeperOrder keeper_order(const RunOrder& order, const LocalSettings& settings) {
  KeeperOrder made;
  made.job = static_cast<std::uint32_t>(order.run.job);
  made.launch = order.run.launch;
  made.generation = order.generation;
  std::vector<int> gpus;
  for (int i = 0; i < order.gpus.nodes(); ++i) {
    for (std::uint64_t mask = order.gpus[i].mask; mask != 0; mask &= mask - 1) {
      gpus.push_back(std::countr_zero(mask));
    }
  }
  if (order.process_per_gpu) {
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      const int rank = static_cast<int>(i);
      made.ranks.push_back({rank, rank, {gpus[i]}, cpus_near_all(settings.cpus_of_gpu, {gpus[i]})});
    }
  } else {
    made.ranks.push_back({0, 0, gpus, cpus_near_all(settings.cpus_of_gpu, gpus)});
  }
  made.world_size = static_cast<int>(made.ranks.size());
  made.master_port = free_port();
  made.command = order.command;
  made.environment = order.environment;
  made.working_directory = order.working_directory;
  made.grace_seconds = order.grace;
  made.fence_seconds = order.fence;
  made.cgroup = settings.cgroup;
  made.memory_bytes = static_cast<std::int64_t>(order.memory_gb * 1e9);
  made.cores = order.cpus;
  return made;
}

}  // namespace

Result<std::unique_ptr<LocalExecutor>> LocalExecutor::make(LocalSettings settings,
                                                           std::uint64_t generation,
                                                           Mailbox& mailbox) {
  if (access(settings.keeper.c_str(), X_OK) != 0) {
    return Error{fmt::format(
        "{}: the program that keeps launches is not there; build or install it beside the command "
        "`muster`, or name it with the variable MUSTER_KEEPER",
        settings.keeper.string())};
  }
  for (const std::filesystem::path& folder : {settings.runs, settings.ended}) {
    if (Status made = make_folder(folder); !made) return made.error();
  }
  std::unique_ptr<LocalExecutor> executor(
      new LocalExecutor(std::move(settings), generation, mailbox));
  if (executor->wake_ < 0) return Error{"cannot make an eventfd: too many open files?"};
  executor->thread_ = std::thread([self = executor.get()] { self->work(); });
  return executor;
}

LocalExecutor::LocalExecutor(LocalSettings settings, std::uint64_t generation, Mailbox& mailbox)
    : settings_(std::move(settings)),
      generation_(generation),
      mailbox_(mailbox),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

LocalExecutor::~LocalExecutor() {
  ending_ = true;
  later({});
  if (thread_.joinable()) thread_.join();
  if (wake_ >= 0) close(wake_);
}

void LocalExecutor::later(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (work) todo_.push_back(std::move(work));
  }
  // Its counter cannot overflow, and a wake that is pending is enough.
  static_cast<void>(eventfd_write(wake_, 1));
}

void LocalExecutor::prepare(const RunOrder& order) {
  later([this, order] { prepare_now(order); });
}

void LocalExecutor::go(RunId run) {
  later([this, run] {
    KeptRun* const kept = find(run);
    if (kept == nullptr) return;
    kept->go = true;
    if (kept->state == KeptRun::State::kReady) kept->link.say("go");
  });
}

void LocalExecutor::stop(RunId run, Grace grace) {
  later([this, run, grace] { stop_now(run, grace); });
}

void LocalExecutor::lease(RunId run, Seconds seconds) {
  later([this, run, seconds] {
    KeptRun* const kept = find(run);
    if (kept == nullptr || kept->end) return;
    const double now = keeper_clock();
    kept->lease = now + seconds;
    kept->tell_lease(now);
  });
}

void LocalExecutor::census(std::uint64_t number) {
  later([this, number] { census_now(number); });
}

void LocalExecutor::acknowledge(RunId run) {
  later([this, run] { acknowledge_now(run); });
}

KeptRun* LocalExecutor::find(RunId run) {
  if (const auto known = kept_.find(run); known != kept_.end()) return &known->second;
  // An earlier daemon may have started it, and no census was asked for yet.
  const std::filesystem::path folder = settings_.runs / run_folder_name(run);
  if (access(folder.c_str(), F_OK) != 0) return nullptr;
  KeptRun& kept = kept_[run];
  kept.run = run;
  kept.folder = folder;
  look(kept, keeper_clock());
  return &kept;
}

void LocalExecutor::prepare_now(const RunOrder& order) {
  const RunId run = order.run;
  if (refused_.contains(run)) return;
  if (KeptRun* known = find(run)) {
    // Said again: so is the answer.
    if (known->end) return mailbox_.post(*known->end);
    known->ready_told = false;
    if (known->state == KeptRun::State::kReady) heard_state(*known, "ready");
    return;
  }
  KeptRun& kept = kept_[run];
  kept.run = run;
  kept.folder = settings_.runs / run_folder_name(run);
  RunReport failed;
  failed.run = run;
  failed.event = RunEvent::kStartFailed;
  failed.outcome = RunOutcome::kStopped;
  KeeperOrder orders = keeper_order(order, settings_);
  if (!order.user.empty()) {
    Result<Identity> identity = identity_of(order.user);
    if (!identity || geteuid() != 0) {
      failed.detail = identity ? "only root can run jobs of others" : identity.error().message;
      return ended(kept, failed);
    }
    orders.identity = std::move(*identity);
  }
  if (Status made = make_run_folder(kept.folder, orders); !made) {
    failed.detail = made.error().message;
    return ended(kept, failed);
  }
  const Result<pid_t> guard = start_keeper(settings_.keeper, kept.folder);
  if (!guard) {
    failed.detail = guard.error().message;
    return ended(kept, failed);
  }
  kept.guard = *guard;
  kept.look_at = keeper_clock() + kept.wait;
}

void LocalExecutor::stop_now(RunId run, Grace grace) {
  KeptRun* const found = find(run);
  if (found == nullptr) {
    refused_.insert(run);
    RunReport report;
    report.run = run;
    report.event = RunEvent::kStartFailed;
    report.outcome = RunOutcome::kStopped;
    report.detail = "it was stopped before it was prepared";
    return mailbox_.post(report);
  }
  KeptRun& kept = *found;
  if (kept.end) return mailbox_.post(*kept.end);
  kept.stop = grace;
  if (!kept.link.connected()) return;
  kept.link.say(grace.seconds > 0 ? fmt::format("stop {:.3f}", grace.seconds) : "kill");
}

void LocalExecutor::census_now(std::uint64_t number) {
  census_ = number;
  for (const RunId run : runs_in(settings_.runs)) find(run);
  for (auto& [run, kept] : kept_) {
    kept.census = !kept.end && (kept.state == KeptRun::State::kUnknown ||
                                kept.state == KeptRun::State::kStarting);
    if (kept.end) {
      mailbox_.post(*kept.end);
    } else if (!kept.census) {
      tell(kept,
           kept.state == KeptRun::State::kReady ? RunEvent::kSeenReady : RunEvent::kSeenRunning);
    }
  }
  tell_census();
}

void LocalExecutor::acknowledge_now(RunId run) {
  const auto found = kept_.find(run);
  if (found == kept_.end() || !found->second.end) return;
  // It ends a moment after the record is there.
  if (found->second.guard > 0) guards_.push_back(found->second.guard);
  // Where it cannot be moved it is found again after a restart, and acknowledged again.
  std::error_code code;
  std::filesystem::rename(found->second.folder, settings_.ended / run_folder_name(run), code);
  kept_.erase(found);
}

void LocalExecutor::work() {
  while (!ending_) {
    wait_and_hear();
    std::vector<std::function<void()>> todo;
    {
      const std::lock_guard lock(mutex_);
      todo.swap(todo_);
    }
    for (const std::function<void()>& one : todo) one();
    std::erase_if(guards_, [](pid_t guard) { return waitpid(guard, nullptr, WNOHANG) != 0; });
    const double now = keeper_clock();
    for (auto& [run, kept] : kept_) {
      if (!kept.end && !kept.link.connected() && now >= kept.look_at) look(kept, now);
      pass_progress_on(kept, now);
    }
    tell_census();
  }
}

int LocalExecutor::milliseconds_to_wait(double now) const {
  double next = now + 60;
  for (const auto& [run, kept] : kept_) {
    if (kept.end) continue;
    if (!kept.link.connected()) next = std::min(next, kept.look_at);
    if (kept.progressed) next = std::min(next, kept.told_progress_at + 1);
  }
  return static_cast<int>(std::ceil(std::max(0.0, next - now) * 1e3));
}

void LocalExecutor::wait_and_hear() {
  std::vector<pollfd> polls = {{wake_, POLLIN, 0}};
  std::vector<RunId> who = {RunId{}};
  for (const auto& [run, kept] : kept_) {
    if (!kept.link.connected()) continue;
    polls.push_back({kept.link.socket(), POLLIN, 0});
    who.push_back(run);
  }
  if (poll(polls.data(), polls.size(), milliseconds_to_wait(keeper_clock())) <= 0) return;
  eventfd_t count = 0;
  if (polls[0].revents != 0) static_cast<void>(eventfd_read(wake_, &count));
  for (std::size_t i = 1; i < polls.size(); ++i) {
    if (polls[i].revents != 0) hear(kept_.at(who[i]));
  }
}

}  // namespace muster
