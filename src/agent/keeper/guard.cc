#include "agent/keeper/guard.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "agent/keeper/keeper.h"
#include "agent/keeper/process_tree.h"

namespace muster {
namespace {

// Detaches from its parent: a session of our own, no descriptors, output into a file.
Status detach() {
  setsid();
  umask(077);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  close_range(3, ~0U, 0);
  const int nothing = open("/dev/null", O_RDONLY);
  const int log = open("keeper.log", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  if (nothing < 0 || log < 0 || dup2(nothing, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0) {
    return Error{fmt::format("keeper.log: {}", std::strerror(errno))};
  }
  if (nothing > 2) close(nothing);
  if (log > 2) close(log);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return Error{"this kernel has no child subreapers"};
  return Done{};
}

Result<KeeperOrder> read_order() {
  std::ifstream file("order.json", std::ios::binary);
  if (!file) return Error{fmt::format("order.json: {}", std::strerror(errno))};
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_order(text);
}

// Kills until the kernel says that we have no children.
void end_everything() {
  while (true) {
    kill_descendants();
    pid_t process = 0;
    while ((process = waitpid(-1, nullptr, WNOHANG)) > 0 || (process < 0 && errno == EINTR)) {
    }
    if (process < 0 && errno == ECHILD) return;
    usleep(10'000);
  }
}

int wait_for_keeper(pid_t keeper) {
  while (true) {
    int status = 0;
    const pid_t process = waitpid(-1, &status, 0);
    if (process == keeper) return status;
    if (process < 0 && errno != EINTR) return -1;
  }
}

// Until it works; a full disk does not last, and a folder that is gone needs no record.
void write_at_last(RecordFile& file, const ExitRecord& record) {
  while (!file.write(record) && access(".", W_OK) == 0) sleep(1);
}

}  // namespace

int guard_launch(const std::string& folder) {
  if (chdir(folder.c_str()) != 0) {
    fmt::print(stderr, "muster-keeper: {}: {}\n", folder, std::strerror(errno));
    return 2;
  }
  const std::string here = std::filesystem::current_path().string();
  if (Status detached = detach(); !detached) {
    fmt::print(stderr, "muster-keeper: {}\n", detached.error().message);
    return 2;
  }
  Result<RecordFile> file = RecordFile::reserve(".");
  if (!file) {
    fmt::print(stderr, "muster-keeper: {}\n", file.error().message);
    return 2;
  }
  Result<KeeperOrder> order = read_order();
  ExitRecord record;
  if (!order) {
    record.cause = order.error().message;
    write_at_last(*file, record);
    return 1;
  }
  record.job = order->job;
  record.launch = order->launch;
  const pid_t self = getpid();
  const pid_t keeper = fork();
  if (keeper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (getppid() != self) _exit(1);
    Keeper(std::move(*order), *file, here).run();
    _exit(0);
  }
  if (keeper < 0) {
    record.cause = fmt::format("cannot start a keeper: {}", std::strerror(errno));
    write_at_last(*file, record);
    return 1;
  }
  const int status = wait_for_keeper(keeper);
  end_everything();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  if (access("exit.json", F_OK) == 0) return 0;  // killed after its work was done
  record.outcome = KeeperOutcome::kStopped;      // it may have run, and it is not to blame
  record.cause = "its keeper was killed";
  write_at_last(*file, record);
  return 1;
}

}  // namespace muster
