// What a shadow knows of a Slurm that schedules by itself: which of its jobs we would have started
// and when, and when Slurm did. Nothing is ever asked of Slurm but how things are.
//
// How long a job runs is known when Slurm has run it. A launch that is pretended ends when it has
// lasted as long, and not before Slurm's own has ended: a job that we start earlier gives its GPUs
// back late. So what is said of the gain is too little rather than too much.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/live/executor.h"
#include "backend/slurm/slurm_cluster.h"

namespace muster {

class ShadowBook {
 public:
  // `say` is called with what would have been done. Times are seconds since 1970.
  ShadowBook(std::vector<std::string> partitions, SlurmCluster cluster,
             std::function<void(Report)> tell, std::function<void(const std::string&)> say,
             double now);

  void prepare(const RunOrder& order);
  void go(RunId run, double now);
  void stop(RunId run, double now);
  void census(std::uint64_t number);
  void acknowledge(RunId run) { runs_.erase(run); }

  // What Slurm answered.
  void look(const std::vector<SlurmJob>& jobs, const std::vector<SlurmNode>& nodes, double now);
  // Ends the launches that have lasted long enough.
  void pass(double now);
  // Slurm's waits and completion times beside ours, in a sentence.
  std::string gain() const;

 private:
  // A job of Slurm.
  struct Watched {
    std::string origin;
    std::string name;
    // It waited when we first saw it, or came later than we: its times can be compared.
    bool fair = false;
    double from = 0;         // since when it waits
    double slurm_start = 0;  // 0: not yet
    double length = -1;      // of its run, once it is over
    double our_start = 0;
    double our_end = 0;  // 0: not yet
    double lasted = 0;   // of our launches that are over
    bool done = false;   // for us, too
  };
  struct Pretended {
    std::uint32_t job = 0;  // Slurm's number
    double since = 0;       // 0: not started
    std::string where;
  };

  bool ours(const SlurmJob& job) const;
  void watch(const SlurmJob& job, double now);
  void follow(const SlurmJob& job, Watched& watched);
  void take_back(const Watched& watched, const std::string& owner, const std::string& why);
  void tell_run(RunId run, RunEvent event, RunOutcome outcome = RunOutcome::kStopped);
  void tell_nodes(const std::vector<SlurmJob>& jobs, const std::vector<SlurmNode>& nodes);
  std::string where(const GpuSet& gpus) const;

  std::vector<std::string> partitions_;
  SlurmCluster cluster_;
  std::function<void(Report)> tell_;
  std::function<void(const std::string&)> say_;
  double begun_;
  double first_second_;  // Slurm writes whole seconds
  bool looked_ = false;
  std::map<std::uint32_t, Watched> watched_;  // by Slurm's number
  std::map<std::uint32_t, std::string> owners_;
  std::map<std::string, std::uint32_t> by_origin_;
  std::map<RunId, Pretended> runs_;
  std::set<std::uint32_t> left_out_;
  std::set<std::uint32_t> not_due_;
  std::map<NodeId, NodeReport> told_;
};

}  // namespace muster
