// The profiling stage in parallel with the run: jobs are profiled as they arrive, on the nodes of
// the profiler, and go to the cluster when they leave it. Jobs need not be known in advance, so it
// works for streams and endless generators, and a service can do the same. If both can be used, it
// gives the same result as run_profiled(), job by job.
//
// As a source of jobs for the run it yields the jobs that leave the profiler unfinished, and those
// that are too large for it. Its own engine runs as far ahead as is needed to know which job comes
// next.
#pragma once

#include <memory>
#include <queue>

#include "run/assembly/partitions_apart.h"
#include "run/assembly/profiling.h"

namespace muster {

class OnlineProfiler final : public JobSource, private Observer {
 public:
  // Of `run` it uses the pacing and the forecast.
  static Result<std::unique_ptr<OnlineProfiler>> make(JobSource& jobs,
                                                      const ProfilingSettings& settings,
                                                      const ApartSettings& run);
  OnlineProfiler(const OnlineProfiler&) = delete;
  OnlineProfiler& operator=(const OnlineProfiler&) = delete;

  const JobSpec* peek() override;
  void pop() override;
  bool finished() override { return peek() == nullptr; }
  std::optional<Error> error() const override { return jobs_.error(); }

  // Its story, and the number in the whole of each job that it has passed on, in that order.
  PieceLog& log() { return log_; }
  const std::vector<JobId>& passed_on() const { return passed_on_; }
  // By its number in the profiler: whether the job ended there.
  bool ended_here(JobId job) const { return entries_[index(job)].ended; }
  // By its number in the whole.
  Symbol partition_of(JobId number) const { return partitions_[index(number)]; }

 private:
  // Gives the profiler what is small enough, and lets the others pass.
  class Feed final : public JobSource {
   public:
    explicit Feed(OnlineProfiler& profiler) : profiler_(profiler) {}
    const JobSpec* peek() override;
    void pop() override;
    bool finished() override { return peek() == nullptr && profiler_.jobs_.finished(); }

   private:
    OnlineProfiler& profiler_;
    JobSpec part_;
    bool ready_ = false;
  };
  struct Leaver {
    Seconds arrival = 0;
    JobId number{};
    JobSpec job;
    friend bool operator>(const Leaver& a, const Leaver& b) {
      return a.arrival != b.arrival ? a.arrival > b.arrival : a.number > b.number;
    }
  };
  struct Entry {
    JobSpec job;
    bool ended = false;
  };

  OnlineProfiler(JobSource& jobs, const ProfilingSettings& settings);
  void on_job_end(const JobRecord& record) override;
  // The number in the whole of the next job.
  JobId number(const JobSpec& job);
  void pass(JobSpec job, JobId number, Seconds arrival);

  JobSource& jobs_;
  ProfilingSettings settings_;
  int largest_;
  std::vector<Symbol> partitions_;  // of all jobs so far, by number in the whole
  std::shared_ptr<const ClusterSpec> cluster_;
  std::unique_ptr<Backend> backend_;
  Feed feed_;
  PieceLog log_;
  std::unique_ptr<Engine> engine_;
  std::vector<Entry> entries_;  // by number in the profiler
  std::priority_queue<Leaver, std::vector<Leaver>, std::greater<>> ready_;
  std::vector<JobId> passed_on_;
  bool begun_ = false;
  bool over_ = false;
};

// The whole run with the profiler beside it. The profiler is the last piece, as in run_profiled().
Result<ApartOutcome> run_profiled_online(const ClusterSpec& cluster, JobSource& jobs,
                                         const ProfilingSettings& settings,
                                         const ApartSettings& run);

}  // namespace muster
