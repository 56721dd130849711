// A Slurm without processes, for tests: it queues, holds, starts, requeues and forgets jobs as the
// real one does, with a clock of its own. People may act on it behind the back of whoever uses it,
// its words may be lost, and its controller may crash and forget what it had not written down.
//
// It keeps account of what no scheduler may cause: a GPU given twice, and a job restarted on a node
// within the second in which it left it, which the real one answers with a failure.
#pragma once

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "backend/slurm/slurm_control.h"

namespace muster {

class SlurmInMemory final : public SlurmControl {
 public:
  struct Job {
    SlurmJob row;
    SlurmPlacement placed;
    double runs_for = 1e9;  // seconds of work
    int exits_with = 0;
    bool heeds_signals = true;  // saves and leaves when it is told
    double eligible = 0;
    bool shrunk = false;  // nothing more of it can be changed until it is requeued
    double left_at = -1;  // when it was requeued
    double done = 0;      // seconds of work
    bool told = false;    // to leave, heard or not, since it started
    std::vector<std::string> signals;
  };

  SlurmInMemory(int nodes, int gpus);

  Result<SlurmRows<SlurmJob>> jobs() override;
  Result<SlurmRows<SlurmNode>> nodes() override;
  std::vector<Result<std::uint32_t>> submit(
      const std::vector<SlurmSubmission>& submissions) override;
  Status place(std::uint32_t id, const SlurmPlacement& placement) override;
  Status mark(std::uint32_t id, const std::string& text) override;
  Status shrink(std::uint32_t id, const std::vector<std::string>& nodes,
                const std::string& mark) override;
  Status release(std::uint32_t id) override;
  Status hold(std::uint32_t id) override;
  Status requeue_and_hold(std::uint32_t id) override;
  Status signal(std::uint32_t id, const std::string& name) override;
  Status cancel(std::uint32_t id) override;
  Result<double> up_since() override { return up_since_; }
  Result<std::vector<SlurmJob>> accounts(std::uint32_t job) override;

  // Time goes on: jobs start, work and end.
  void pass(double seconds);
  double now() const { return now_; }

  // What people do.
  std::uint32_t user_submits(int gpus, bool held = true);
  void admin_holds(std::uint32_t id);
  void admin_releases(std::uint32_t id);
  void admin_cancels(std::uint32_t id);
  void admin_requeues(std::uint32_t id);
  void node_fails(const std::string& name);
  void node_returns(const std::string& name);
  void drain(const std::string& name, bool drained);
  // Jobs of the last five seconds are forgotten, and their numbers used again.
  void controller_crashes();
  void give_shards(int of_each_gpu) {
    for (auto& [name, host] : hosts_) {
      host.row.gres.push_back({"shard", "v100", host.gpus * of_each_gpu});
    }
  }
  void controller_forgets_all() { jobs_.clear(); }
  // So do jobs that have ended; the accounts know them.
  void controller_forgets_ended();
  // So many GPUs of the node are counted as used that no job has.
  void count_wrongly(const std::string& node, int gpus) { hosts_.at(node).wrong = gpus; }

  Job& job(std::uint32_t id) { return jobs_.at(id); }
  const std::map<std::uint32_t, Job>& all() const { return jobs_; }
  int running() const;

  void use_cpus(const std::string& node, int used, int all) {
    hosts_.at(node).row.cpus_used = used;
    hosts_.at(node).row.cpus = all;
  }

  double work_of_new_jobs = 1e9;
  std::map<std::uint32_t, std::string> refuses;  // jobs that are not started, and why
  double lost = 0;  // chance that a command fails; half of those have taken effect all the same
  int silent = 0;   // so many answers are missing
  int accounts_silent = 0;
  std::vector<std::string> violations;
  std::mt19937 chance{1};

 private:
  bool fails(bool& done);
  Result<std::uint32_t> submit_one(const SlurmSubmission& submission);
  void start(Job& job);
  void leave(Job& job, SlurmState state, int code);
  void requeue(Job& job, bool held);
  bool fits(const Job& job) const;
  Status told(std::uint32_t id, const std::function<void(Job&)>& what, bool leaves = false);

  struct Host {
    SlurmNode row;
    int gpus = 0;
    int wrong = 0;
  };
  int used(const std::string& node) const;
  std::map<std::string, Host> hosts_;
  std::map<std::uint32_t, Job> jobs_;
  std::vector<SlurmJob> accounts_;
  std::uint32_t next_ = 1;
  double now_ = 1000;
  double up_since_ = 0;
};

}  // namespace muster
