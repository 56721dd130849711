#include "agent/keeper/launch_cgroup.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace muster {
namespace {

bool put(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return done;
}

}  // namespace

LaunchCgroup::LaunchCgroup(const KeeperOrder& order, std::string& note) {
  if (order.cgroup.empty()) {
    if (order.memory_bytes > 0) note = "no memory limit: no cgroup was given";
    return;
  }
  path_ = fmt::format("{}/muster-{}-{}", order.cgroup, order.job, order.launch);
  if (mkdir(path_.c_str(), 0755) != 0 && errno != EEXIST) {
    note = fmt::format("no cgroup, so no limits: {}: {}", path_, std::strerror(errno));
    path_.clear();
    return;
  }
  const auto limit = [&](const char* what, const char* file, const std::string& value) {
    if (put(fmt::format("{}/{}", path_, file), value)) return;
    if (!note.empty()) note += "; ";
    note += fmt::format("no {} limit: {}/{}: {}", what, path_, file, std::strerror(errno));
  };
  if (order.memory_bytes > 0) limit("memory", "memory.max", std::to_string(order.memory_bytes));
  // So many microseconds in every tenth of a second. Who has no cores of its own may use all.
  constexpr int kPeriod = 100'000;
  if (order.cores > 0)
    limit("CPU", "cpu.max", fmt::format("{:.0f} {}", order.cores * kPeriod, kPeriod));
}

void LaunchCgroup::kill() const {
  if (!path_.empty()) put(path_ + "/cgroup.kill", "1");
}

void LaunchCgroup::remove() {
  if (path_.empty()) return;
  // A process that has just been reaped may be in it for another moment.
  for (int attempt = 0; attempt < 50 && rmdir(path_.c_str()) != 0 && errno == EBUSY; ++attempt) {
    usleep(2000);
  }
  path_.clear();
}

}  // namespace muster
