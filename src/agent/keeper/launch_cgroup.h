// A cgroup v2 of a launch's own, where the machine lets us: a memory limit, and an end that nobody
// escapes. Everything works without it.
#pragma once

#include <cstdint>
#include <string>

namespace muster {

class LaunchCgroup {
 public:
  // Makes `parent`/muster-JOB-LAUNCH; what could not be done is told in `note`.
  LaunchCgroup(const std::string& parent, std::uint32_t job, std::uint32_t launch,
               std::int64_t memory_bytes, std::string& note);

  // The file through which a process enters; empty where there is no cgroup.
  std::string procs() const { return path_.empty() ? "" : path_ + "/cgroup.procs"; }
  void kill() const;
  // After all its processes have ended.
  void remove();

 private:
  std::string path_;
};

}  // namespace muster
