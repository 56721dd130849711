// What the executor asks of Slurm. SlurmCommands (slurm_commands.h) does it with Slurm's own
// programs; tests have a cluster in memory.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backend/slurm/rows.h"

namespace muster {

// A script to be queued and held.
struct SlurmSubmission {
  std::string name;
  std::string comment;
  std::string partition;
  std::string script;
  std::string output;  // a file
  double memory_gb = 0;
  // Whether it has GPUs or shards of them cannot be changed later, how many can.
  std::string gres = "gpu:1";
};

// Where a held job is to run, and with what.
struct SlurmPlacement {
  std::string partition;  // empty: as it is
  std::vector<std::string> nodes;
  std::string per_node;     // "gres:gpu:2"; empty: none
  std::string per_job;      // where the nodes give different numbers
  int tasks = 0;            // 0: as it is
  int cpus_per_node = 0;    // 0: as it is
  std::uint32_t ranks = 0;  // of ours, in the mark
  std::string mark;
  bool own = true;        // it was submitted by us: the mark is its comment
  bool requeued = false;  // Slurm keeps it back for a while unless told otherwise
};

class SlurmControl {
 public:
  virtual ~SlurmControl() = default;
  virtual Result<SlurmRows<SlurmJob>> jobs() = 0;
  virtual Result<SlurmRows<SlurmNode>> nodes() = 0;
  // Their numbers, in the same order. Several are submitted at a time.
  virtual std::vector<Result<std::uint32_t>> submit(
      const std::vector<SlurmSubmission>& submissions) = 0;
  virtual Status place(std::uint32_t job, const SlurmPlacement& placement) = 0;
  // Writes the mark into the comment that only administrators write.
  virtual Status mark(std::uint32_t job, const std::string& text) = 0;
  // Leaves a job that runs these of its nodes, the first of them among them, and marks it, in one
  // word. Without accounting Slurm 22.05 changes nothing more of it before it is requeued.
  virtual Status shrink(std::uint32_t job, const std::vector<std::string>& nodes,
                        const std::string& mark) = 0;
  virtual Status release(std::uint32_t job) = 0;
  // As its user would: a later release of an administrator is then told from ours.
  virtual Status hold(std::uint32_t job) = 0;
  // Ends it if it runs, and holds it in the queue; also one that has ended a while ago.
  virtual Status requeue_and_hold(std::uint32_t job) = 0;
  // To its steps, or to its script where it has none.
  virtual Status signal(std::uint32_t job, const std::string& name) = 0;
  virtual Status cancel(std::uint32_t job) = 0;
  // When its controller began: what it had not written down by then is forgotten.
  virtual Result<double> up_since() = 0;
  // What the accounts say of a job with this number, the latest last; empty where there are none.
  virtual Result<std::vector<SlurmJob>> accounts(std::uint32_t job) = 0;
};

}  // namespace muster
