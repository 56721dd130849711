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

LaunchCgroup::LaunchCgroup(const std::string& parent, std::uint32_t job, std::uint32_t launch,
                           std::int64_t memory_bytes, std::string& note) {
  if (parent.empty()) {
    if (memory_bytes > 0) note = "no memory limit: no cgroup was given";
    return;
  }
  path_ = fmt::format("{}/muster-{}-{}", parent, job, launch);
  if (mkdir(path_.c_str(), 0755) != 0 && errno != EEXIST) {
    note = fmt::format("no cgroup, so no limits: {}: {}", path_, std::strerror(errno));
    path_.clear();
    return;
  }
  if (memory_bytes > 0 && !put(path_ + "/memory.max", std::to_string(memory_bytes))) {
    note = fmt::format("no memory limit: {}/memory.max: {}", path_, std::strerror(errno));
  }
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
