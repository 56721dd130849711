#include "agent/keeper/rank.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

// 0, or why the file cannot be executed.
int cannot_execute(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return errno;
  if (S_ISDIR(about.st_mode)) return EISDIR;
  return eaccess(path.c_str(), X_OK) == 0 ? 0 : errno;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

[[noreturn]] void give_up(int failures, int rank, int error) {
  const StartFailure failure{rank, error};
  static_cast<void>(write(failures, &failure, sizeof failure));
  _exit(127);
}

void reset_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) sigaction(number, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Neither is worth failing for: limits and pinning are asked for "where the machine allows".
void take_place_on_node(const LaunchPlace& place, const KeeperRank& rank) {
  if (!place.cgroup.empty()) {
    const int file = open(place.cgroup.c_str(), O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
      static_cast<void>(write(file, "0", 1));
      close(file);
    }
  }
  if (!rank.cpus.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : rank.cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
    static_cast<void>(sched_setaffinity(0, sizeof set, &set));
  }
}

[[noreturn]] void become_rank(const LaunchPlace& place, const KeeperRank& rank, int output,
                              pid_t keeper) {
  setpgid(0, 0);
  reset_signals();
  umask(022);  // ours is for the run folder
  close(place.gate_opener);
  take_place_on_node(place, rank);
  const std::optional<Identity>& identity = place.order->identity;
  if (identity && !become(*identity)) give_up(place.failures, rank.rank, EPERM);
  // The kernel resets this when a process changes its user, so it comes after that.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) _exit(127);  // it died before we asked
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) {
    give_up(place.failures, rank.rank, errno);
  }
  if (nothing > 2) close(nothing);
  if (chdir(place.order->working_directory.c_str()) != 0) {
    give_up(place.failures, rank.rank, errno);
  }
  std::vector<std::string> variables = rank_environment(place, rank);
  std::vector<std::string> words = place.order->command;
  const std::vector<char*> environment = pointers(variables);
  const std::vector<char*> arguments = pointers(words);
  char opened = 0;
  ssize_t count = 0;
  while ((count = read(place.gate, &opened, 1)) < 0 && errno == EINTR) {
  }
  if (count != 1) _exit(127);
  execve(place.program.c_str(), arguments.data(), environment.data());
  give_up(place.failures, rank.rank, errno);
}

}  // namespace

Result<std::string> find_program(const KeeperOrder& order) {
  const std::string& name = order.command[0];
  if (eaccess(order.working_directory.c_str(), X_OK) != 0) {
    return Error{
        fmt::format("working directory {}: {}", order.working_directory, std::strerror(errno))};
  }
  if (name.find('/') != std::string::npos) {
    const std::string path = name[0] == '/' ? name : order.working_directory + "/" + name;
    if (const int error = cannot_execute(path); error != 0) {
      return Error{fmt::format("cannot execute {}: {}", path, std::strerror(error))};
    }
    return path;
  }
  std::string_view search = kDefaultPath;
  for (const auto& [variable, value] : order.environment) {
    if (variable == "PATH") search = value;
  }
  int worst = ENOENT;
  for (const std::string_view folder : split(search, ':')) {
    std::string path = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    if (path[0] != '/') path = fmt::format("{}/{}", order.working_directory, path);
    const int error = cannot_execute(path);
    if (error == 0) return path;
    if (error == EACCES) worst = error;
  }
  return Error{fmt::format("cannot execute '{}': {} (looked for in {})", name, std::strerror(worst),
                           search)};
}

std::vector<std::string> rank_environment(const LaunchPlace& place, const KeeperRank& rank) {
  const KeeperOrder& order = *place.order;
  std::map<std::string, std::string> all(order.environment.begin(), order.environment.end());
  const std::string gpus = fmt::format("{}", fmt::join(rank.gpus, ","));
  all["CUDA_VISIBLE_DEVICES"] = gpus;
  all["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  all["RANK"] = std::to_string(rank.rank);
  all["LOCAL_RANK"] = std::to_string(rank.local_rank);
  all["WORLD_SIZE"] = std::to_string(order.world_size);
  all["LOCAL_WORLD_SIZE"] = std::to_string(order.ranks.size());
  all["MASTER_ADDR"] = order.master_address;
  all["MASTER_PORT"] = std::to_string(order.master_port);
  all["MUSTER_JOB"] = std::to_string(order.job);
  all["MUSTER_LAUNCH"] = std::to_string(order.launch);
  all["MUSTER_GPUS"] = gpus;
  all["MUSTER_JOB_SOCKET"] = place.socket;
  all["MUSTER_JOB_TOKEN"] = place.token;
  all["MUSTER_RUN_FOLDER"] = place.mark;
  std::vector<std::string> variables;
  variables.reserve(all.size());
  for (const auto& [name, value] : all) {
    variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

Result<pid_t> place_rank(const LaunchPlace& place, const KeeperRank& rank, int output) {
  const pid_t keeper = getpid();
  const pid_t child = fork();
  if (child < 0) {
    return Error{fmt::format("cannot start rank {}: {}", rank.rank, std::strerror(errno))};
  }
  if (child == 0) become_rank(place, rank, output, keeper);
  setpgid(child, child);  // both do, so that neither has to wait for the other
  return child;
}

}  // namespace muster
