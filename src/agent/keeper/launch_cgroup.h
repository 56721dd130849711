// A cgroup v2 of a launch's own, where the machine lets us: limits of memory and CPU time, and an
// end that no process escapes. Everything works without it.
#pragma once

#include <string>

#include "agent/keeper/order.h"

namespace muster {

class LaunchCgroup {
 public:
  // Makes muster-JOB-LAUNCH in the order's cgroup; what could not be done is told in `note`.
  LaunchCgroup(const KeeperOrder& order, std::string& note);

  // The file through which a process enters; empty where there is no cgroup.
  std::string procs() const { return path_.empty() ? "" : path_ + "/cgroup.procs"; }
  void kill() const;
  // After all its processes have ended.
  void remove();

 private:
  std::string path_;
};

}  // namespace muster
