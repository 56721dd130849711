// What `squeue --json` and `sinfo --json` say, as far as it matters here. Field names and forms
// differ between releases (a state is a text or a list, a number may be an object); all of them are
// read. A row that makes no sense is left out and counted; an answer that is none is an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/formats/slurm_gres.h"

namespace muster {

enum class SlurmState : std::uint8_t {
  kPending,
  kStarting,  // it has its nodes, and they are made ready
  kRunning,
  kCompleting,  // it has ended, or was requeued, and its nodes are being cleaned up
  kCompleted,
  kFailed,  // also: out of time, out of memory
  kCancelled,
  kLost,  // its node failed, or Slurm itself took its nodes for another
  kUnknown,
};
constexpr bool slurm_ended(SlurmState state) {
  return state == SlurmState::kCompleted || state == SlurmState::kFailed ||
         state == SlurmState::kCancelled || state == SlurmState::kLost;
}

// Of one word, as COMPLETED.
SlurmState slurm_state(const std::string& word);

struct SlurmJob {
  std::uint32_t id = 0;
  SlurmState state = SlurmState::kUnknown;
  std::string state_name;  // as Slurm says it
  std::string reason;
  bool held = false;           // its priority is 0
  bool batch = true;           // it has a script
  bool array = false;          // it stands for tasks that have not been split off
  bool heterogeneous = false;  // several jobs that start together
  bool requeue = true;         // it may be started again
  std::uint32_t group = 0;     // the array or the heterogeneous job that it belongs to; 0: none
  std::uint32_t user_id = 0;
  std::string user;
  std::string name;
  std::string comment;
  std::string admin_comment;
  std::string partition;
  std::string command;
  std::string directory;
  std::uint32_t restarts = 0;
  int exit_code = 0;  // 128 + n for signal n
  double submitted = 0;
  double started = 0;
  double ended = 0;
  double eligible = 0;    // it must not start before; 0: at once
  double time_limit = 0;  // seconds; 0: none
  int tasks = 1;
  int cpus = 1;
  int nodes_wanted = 1;
  int max_nodes = 0;       // 0: not given
  int tasks_per_node = 0;  // 0: not given
  std::string nodes;       // that it is on, as a list of hosts
  std::string batch_host;  // where its script runs
  std::string required;    // that it must be on
  std::string excluded;    // that it must not be on
  std::string features;    // that they must have, as an expression
  std::string dependency;  // on other jobs, as Slurm writes it
  std::string reservation;
  std::vector<std::vector<Gres>> gres;  // on each of them
  std::vector<Gres> per_job;            // that it asks for
  std::vector<Gres> per_node;
  std::vector<Gres> per_task;
  std::vector<Gres> per_socket;
};

struct SlurmNode {
  std::string name;
  std::vector<std::string> partitions;
  std::vector<Gres> gres;
  std::vector<Gres> used;  // of those, as the controller counts
  std::string features;    // with commas
  int cpus = 0;
  int cpus_used = 0;
  double memory_mb = 0;
  bool up = true;        // it may run jobs, or still does
  bool drained = false;  // it takes no new ones
  std::string state;     // for people
};

template <typename Row>
struct SlurmRows {
  std::vector<Row> rows;
  std::size_t left_out = 0;
};

Result<SlurmRows<SlurmJob>> parse_jobs(std::string_view json);
Result<SlurmRows<SlurmNode>> parse_nodes(std::string_view json);

}  // namespace muster
