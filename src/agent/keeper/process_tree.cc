#include "agent/keeper/process_tree.h"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <memory>
#include <optional>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

std::string read_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text;
  char buffer[4096];
  ssize_t count = 0;
  while ((count = read(file, buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  close(file);
  return text;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (!folder) return found;
  while (const dirent* entry = readdir(folder.get())) {
    const std::optional<std::int64_t> number = parse_integer(entry->d_name);
    if (number && *number > 0) found.push_back(static_cast<pid_t>(*number));
  }
  return found;
}

// The parent of a process, 0 for one that is gone or dead already. The name in the second field may
// hold anything, brackets and spaces included, so what follows its last bracket counts.
pid_t parent_of(pid_t process) {
  const std::string stat = read_file(fmt::format("/proc/{}/stat", process));
  const std::size_t bracket = stat.rfind(')');
  if (bracket == std::string::npos || bracket + 4 >= stat.size()) return 0;
  const char state = stat[bracket + 2];
  if (state == 'Z' || state == 'X') return 0;
  return static_cast<pid_t>(std::atoi(stat.c_str() + bracket + 4));
}

// A process that stays the one it was when the handle was made: its number may be used again, and
// its new owner must not be killed for it.
class Handle {
 public:
  explicit Handle(pid_t process) : process_(process), descriptor_(open_process(process)) {}
  Handle(Handle&& other) noexcept
      : process_(other.process_), descriptor_(std::exchange(other.descriptor_, -1)) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  pid_t process() const { return process_; }
  bool send(int signal) const {
    return descriptor_ >= 0 && syscall(SYS_pidfd_send_signal, descriptor_, signal, nullptr, 0) == 0;
  }

 private:
  // Debian 12's header for these two cannot be used from C++.
  static int open_process(pid_t process) {
    return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  }

  pid_t process_;
  int descriptor_;
};

bool below(pid_t process, pid_t root) {
  while (process > 1 && process != root) process = parent_of(process);
  return process == root;
}

}  // namespace

std::vector<pid_t> descendants(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t process : all_processes()) {
    if (const pid_t parent = parent_of(process); parent > 0) children.emplace(parent, process);
  }
  std::vector<pid_t> found;
  const auto add = [&](pid_t parent) {
    const auto [begin, end] = children.equal_range(parent);
    for (auto child = begin; child != end; ++child) found.push_back(child->second);
  };
  add(root);
  // The list grows as it is walked.
  for (std::size_t i = 0; i < found.size(); ++i) add(found[i]);  // NOLINT(modernize-loop-convert)
  return found;
}

int kill_descendants() {
  std::vector<Handle> stopped;
  // Every pass finds what was started before all its parents stood still; depth bounds the passes,
  // and the limit a tree that grows faster than we walk it. The caller comes again in that case.
  for (int pass = 0; pass < 20; ++pass) {
    bool news = false;
    for (const pid_t process : descendants(getpid())) {
      const auto known = [&](const Handle& handle) { return handle.process() == process; };
      if (std::any_of(stopped.begin(), stopped.end(), known)) continue;
      Handle handle(process);
      // Still one of ours, now that its number cannot become another's.
      if (!below(process, getpid())) continue;
      handle.send(SIGSTOP);
      stopped.push_back(std::move(handle));
      news = true;
    }
    if (!news) break;
  }
  for (const Handle& handle : stopped) handle.send(SIGKILL);
  return static_cast<int>(stopped.size());
}

int kill_marked(std::string_view name, std::string_view value) {
  const std::string mark = fmt::format("{}={}", name, value);
  int killed = 0;
  for (const pid_t process : all_processes()) {
    if (process == getpid()) continue;
    const Handle handle(process);
    const std::string environment = read_file(fmt::format("/proc/{}/environ", process));
    const std::vector<std::string_view> variables = split(environment, '\0');
    if (std::find(variables.begin(), variables.end(), mark) == variables.end()) continue;
    if (handle.send(SIGKILL)) ++killed;
  }
  return killed;
}

}  // namespace muster
