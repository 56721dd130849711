#include "agent/keeper/live_keeper.h"

#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/keeper/process_tree.h"
#include "base/out_file.h"
#include "base/text.h"

extern char** environ;  // NOLINT: declared by POSIX

namespace muster {
namespace {

std::string contents(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path.string());
  return text ? *text : std::string();  // a process may be gone before it is read
}

std::filesystem::path keeper_program() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "muster-keeper";
}

}  // namespace

void signal_one(pid_t process, int signal) {
  if (process <= 1) {
    ADD_FAILURE() << "no process to send signal " << signal << " to";
    return;
  }
  kill(process, signal);
}

bool eventually(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    usleep(2000);
  }
  return true;
}

int processes_with(const std::string& word) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (!parse_integer(entry.path().filename().string())) continue;
    const std::string line = contents(entry.path() / "cmdline");
    for (const std::string_view argument : split(line, '\0')) count += argument == word ? 1 : 0;
  }
  return count;
}

std::string unique_sleep() {
  static int number = 0;
  return fmt::format("{}.{:03}", 1000 + getpid(), ++number);
}

KeeperOrder simple_order(const std::filesystem::path& folder, std::vector<std::string> command) {
  KeeperOrder order;
  order.job = 7;
  order.launch = 3;
  order.ranks.push_back({});
  order.command = std::move(command);
  order.working_directory = folder.string();
  order.environment = {{"PATH", "/usr/bin:/bin"}};
  order.grace_seconds = 5;
  order.fence_seconds = 60;  // so that a test that is killed leaves nothing behind
  return order;
}

LiveKeeper::LiveKeeper(const std::filesystem::path& folder, const KeeperOrder& order)
    : folder_(folder) {
  std::ofstream(folder / "order.json") << order_text(order);
  const std::string program = keeper_program().string();
  std::string name = "muster-keeper";
  std::string place = folder.string();
  char* arguments[] = {name.data(), place.data(), nullptr};
  EXPECT_EQ(posix_spawn(&guard_, program.c_str(), nullptr, nullptr, arguments, environ), 0)
      << program;
}

LiveKeeper::~LiveKeeper() {
  hang_up();
  if (guard_ <= 0) return;
  for (const pid_t process : descendants(guard_)) signal_one(process, SIGKILL);
  signal_one(guard_, SIGKILL);
  waitpid(guard_, nullptr, 0);
}

void LiveKeeper::greet(std::uint64_t generation) {
  hang_up();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Through the folder, whose name may be longer than that of a socket.
  const int folder = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::string path = fmt::format("/proc/self/fd/{}/control.sock", folder);
  std::memcpy(address.sun_path, path.data(), path.size());
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_TRUE(eventually([&] {
    return connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  })) << contents(folder_ / "keeper.log")
      << contents(folder_ / "exit.json");
  close(folder);
  say(fmt::format("hello {}", generation));
}

void LiveKeeper::say(const std::string& line) {
  const std::string whole = line + "\n";
  EXPECT_EQ(send(socket_, whole.data(), whole.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(whole.size()));
}

std::string LiveKeeper::hear(const std::string& expected) {
  std::string all;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (true) {
    std::size_t end = 0;
    while ((end = heard_.find('\n')) != std::string::npos) {
      const std::string line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      all += line + "\n";
      if (line.starts_with(expected)) return line;
    }
    pollfd ready{socket_, POLLIN, 0};
    char buffer[512];
    const ssize_t count =
        poll(&ready, 1, 10'000) > 0 ? read(socket_, buffer, sizeof buffer) : ssize_t{0};
    if (count <= 0 || std::chrono::steady_clock::now() > until) {
      ADD_FAILURE() << "expected '" << expected << "', heard:\n" << all;
      return {};
    }
    heard_.append(buffer, static_cast<std::size_t>(count));
  }
}

void LiveKeeper::hang_up() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  heard_.clear();
}

void LiveKeeper::start() {
  greet();
  hear("state ready");
  say("go");
  hear("state running");
}

ExitRecord LiveKeeper::record() {
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(folder_ / "exit.json"); }))
      << contents(folder_ / "keeper.log");
  Result<ExitRecord> record = parse_record(contents(folder_ / "exit.json"));
  if (!record) {
    ADD_FAILURE() << record.error().message;
    return {};
  }
  return *record;
}

bool LiveKeeper::ends() {
  return eventually([&] {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(guard_), &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
           info.si_pid == guard_;
  });
}

pid_t LiveKeeper::keeper() const {
  const std::vector<pid_t> below = descendants(guard_);
  return below.empty() ? -1 : below[0];
}

std::string LiveKeeper::log(int rank) const {
  return contents(folder_ / fmt::format("rank-{}.log", rank));
}

}  // namespace muster
