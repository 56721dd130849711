// Submissions, from any thread: checked against the limits, numbered, made durable, and then passed
// to the engine's thread in order of numbers. No submission waits for a turn of the engine.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/board.h"
#include "daemon/committer.h"

namespace muster {

struct IntakeLimits {
  std::size_t jobs_per_user = 200'000;  // that are not over
  // What the one machine has on which jobs run; 0: there are others, or it is unknown.
  double cpus = 0;
  double memory_gb = 0;
  bool limits_memory = true;  // jobs are held to what they ask for
};

class Intake {
 public:
  // How a submission ended: a number, or why not and with which HTTP status.
  struct Answer {
    JobId id = kNoJob;
    bool again = false;  // the same request id was used before
    int status = 201;
    std::string error;
    std::vector<std::string> notes;  // what will not be done as its owner may think
  };
  using Told = std::function<void(const Answer&)>;
  // A job that is durable; called in order of numbers.
  using Submitted = std::function<void(StoredJob, std::shared_ptr<const JobRequest>)>;

  Intake(Board& board, Committer& committer, IntakeLimits limits, std::uint32_t next,
         std::function<Seconds()> clock, Submitted submitted);

  // `told` is called at once, or by the committer's thread.
  void submit(JobRequest request, const std::string& owner, Told told);

 private:
  Board& board_;
  Committer& committer_;
  IntakeLimits limits_;
  std::function<Seconds()> clock_;
  Submitted submitted_;
  std::mutex mutex_;  // numbers are given and queued for the disk in one step
  std::uint32_t next_;
  std::unordered_map<std::string, std::size_t> waiting_;    // for the disk, by owner
  std::set<std::pair<std::string, std::string>> requests_;  // that wait for the disk
};

}  // namespace muster
