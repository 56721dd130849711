#include "support/process_backend.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "support/paths.h"

namespace muster {

ProcessBackend::ProcessBackend(std::shared_ptr<const PerfModel> perf, std::filesystem::path folder,
                               std::map<std::string, Breakage> breakages)
    : perf_(std::move(perf)),
      folder_(std::move(folder)),
      breakages_(std::move(breakages)),
      start_(std::chrono::steady_clock::now()) {}

ProcessBackend::~ProcessBackend() {
  for (auto& [slot, child] : children_) stop(child, false);
}

Seconds ProcessBackend::clock() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void ProcessBackend::complain(const std::string& what) {
  if (complaint_.empty()) complaint_ = what;
}

JobProgress ProcessBackend::act(const Command& command, Seconds now) {
  const auto found = children_.find(command.slot);
  const bool runs = found != children_.end();
  if (runs == (command.kind == CommandKind::kStart)) {
    complain(fmt::format("job {} was {} at {} s", index(command.job->spec.id),
                         runs ? "started twice" : "changed while it did not run", now));
  }
  JobProgress progress;
  progress.since = now;
  if (command.kind == CommandKind::kUpdateRate) {
    progress.work = found->second.work;
    progress.saved_work = found->second.saved;
    progress.rate = found->second.speed;
    return progress;
  }
  double work = command.job->work_at(now);
  if (runs) {
    stop(found->second, command.graceful);
    work = found->second.saved;
    children_.erase(found);
  }
  progress.work = work;
  progress.saved_work = work;
  if (command.kind == CommandKind::kStop) return progress;
  Child child;
  child.job = command.job->spec.id;
  child.name = display_name(command.job->spec);
  child.gpus = *command.gpus;
  child.total = command.job->total_work;
  child.work = work;
  child.saved = work;
  child.speed = perf_->rate(command.job->spec, command.context);
  progress.rate = child.speed;
  children_.emplace(command.slot, std::move(child));
  return progress;
}

void ProcessBackend::launch_all() {
  std::map<NodeId, std::uint64_t> held;
  for (auto& [slot, child] : children_) {
    for (int i = 0; i < child.gpus.nodes(); ++i) {
      std::uint64_t& mask = held[child.gpus[i].node];
      if ((mask & child.gpus[i].mask) != 0) {
        complain(fmt::format("job {} was put on a GPU that is in use", index(child.job)));
      }
      mask |= child.gpus[i].mask;
    }
    if (child.pid < 0) launch(child);
  }
}

void ProcessBackend::launch(Child& child) {
  std::vector<std::string> words = {program_path("worker").string(),
                                    state_file(child.name).string(), exact_text(child.total),
                                    exact_text(child.speed)};
  if (const auto found = breakages_.find(child.name); found != breakages_.end()) {
    words.push_back(exact_text(found->second.at_work));
    words.push_back(std::to_string(found->second.times));
    words.emplace_back(found->second.by_signal ? "kill" : "exit");
  }
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return complain("no pipe could be made");
  const pid_t pid = ::fork();
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  child.pid = pid;
  child.pipe = ends[0];
  ++launches_;
  if (pid < 0) complain("no process could be made");
}

bool ProcessBackend::listen(Child& child) {
  char buffer[4096];
  while (true) {
    const ssize_t size = read(child.pipe, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return true;  // nothing more for now
    if (size == 0) return false;
    child.unread.append(buffer, static_cast<std::size_t>(size));
    std::size_t end = 0;
    while ((end = child.unread.find('\n')) != std::string::npos) {
      const std::vector<std::string_view> words =
          split(std::string_view(child.unread).substr(0, end), ' ');
      if (words[0] == "done") child.done = true;
      if (words.size() == 2) {
        child.work = parse_real(words[1]).value_or(child.work);
        child.heard = true;
        if (words[0] == "saved") child.saved = child.work;
      }
      child.unread.erase(0, end + 1);
    }
  }
}

bool ProcessBackend::reap(Child& child) {
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  close(child.pipe);
  child.pid = -1;
  child.pipe = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void ProcessBackend::stop(Child& child, bool graceful) {
  if (child.pid < 0) return;
  kill(child.pid, graceful ? SIGTERM : SIGKILL);
  pollfd waiting{child.pipe, POLLIN, 0};
  while (listen(child)) poll(&waiting, 1, -1);
  reap(child);
  // It was done before it heard that it should stop: the rest of its work is saved.
  if (child.done) child.saved = child.total;
  if (child.done) std::ofstream(state_file(child.name)) << exact_text(child.total) << '\n';
}

void ProcessBackend::report_progress(std::vector<JobEvent>& events) {
  for (auto& [slot, child] : children_) {
    if (!child.heard || child.done) continue;
    child.heard = false;
    JobEvent event;
    event.time = clock();
    event.kind = EventKind::kProgress;
    event.slot = slot;
    event.job = child.job;
    event.work = child.work;
    event.rate = child.speed;
    events.push_back(event);
  }
}

Seconds ProcessBackend::advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) {
  launch_all();
  bool happened = false;
  // At least once, so that a late turn hears of everything that is known by then.
  do {
    std::vector<pollfd> pipes;
    std::vector<Slot> slots;
    for (const auto& [slot, child] : children_) {
      pipes.push_back({child.pipe, POLLIN, 0});
      slots.push_back(slot);
    }
    if (pipes.empty() && until == kNever) {
      complain("the engine waits for ever while nothing runs");
      break;
    }
    constexpr double kLongest = 1000;  // seconds; then it looks at the clock again
    const double left = std::clamp(until - clock(), 0.0, kLongest);
    poll(pipes.data(), pipes.size(), static_cast<int>(std::ceil(left * 1000)));
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      Child& child = children_.at(slots[i]);
      if (pipes[i].revents == 0 || listen(child)) continue;
      JobEvent event;
      event.kind = reap(child) && child.done ? EventKind::kFinished : EventKind::kFailed;
      event.time = clock();
      event.slot = slots[i];
      event.job = child.job;
      events.push_back(event);
      happened = true;
      // A broken one stays until the engine takes it off; a finished one is gone.
      if (event.kind == EventKind::kFinished) children_.erase(slots[i]);
    }
  } while (clock() < until && !(happened && (stop_at_event || until == kNever)));
  report_progress(events);
  return clock();
}

}  // namespace muster
