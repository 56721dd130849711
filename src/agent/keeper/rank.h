// One rank of a launch: a process in a group of its own that is put in place, waits at a gate, and
// becomes the job's program when the gate opens. No shell sees its command.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "agent/keeper/order.h"

namespace muster {

// What all ranks of a launch have in common.
struct LaunchPlace {
  const KeeperOrder* order = nullptr;
  std::string program;   // the file that is executed
  std::string socket;    // of the job protocol
  std::string token;     // for it
  std::string mark;      // names the launch in every environment
  std::string cgroup;    // the cgroup.procs file to enter; empty: none
  int gate = -1;         // one byte per rank lets them go
  int gate_opener = -1;  // the other end, which ranks must not keep open
  int failures = -1;     // a rank that cannot become its program says so here
};

// Said on the pipe of failures.
struct StartFailure {
  int rank = 0;
  int error = 0;
};

// The file that a command names, as the system would find it: relative to the working directory, or
// in the PATH of the job's own environment.
Result<std::string> find_program(const KeeperOrder& order);

// The environment of a rank, as NAME=VALUE. What Muster sets wins over what the job brings.
std::vector<std::string> rank_environment(const LaunchPlace& place, const KeeperRank& rank);

// Forks the rank; its output goes to `output`. The child dies with this process.
Result<pid_t> place_rank(const LaunchPlace& place, const KeeperRank& rank, int output);

}  // namespace muster
