// A backend that runs every job as a child process, in real time: tests/programs/worker. It proves
// that engine and policies need not know what is behind the contract.
//
// GPUs are only numbers here, but they are checked as if they were real: a process starts only when
// nobody else is on its GPUs. To that end what a turn starts, resizes or moves is stopped at once
// and launched when the turn is over, at the beginning of the next advance().
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "engine/backend.h"

namespace muster {

// How a job breaks, by its name; most do not.
struct Breakage {
  double at_work = 0;
  int times = 0;
  bool by_signal = false;  // SIGKILL instead of a bad exit status
};

class ProcessBackend final : public Backend {
 public:
  ProcessBackend(std::shared_ptr<const PerfModel> perf, std::filesystem::path folder,
                 std::map<std::string, Breakage> breakages = {});
  ~ProcessBackend() override;
  ProcessBackend(const ProcessBackend&) = delete;
  ProcessBackend& operator=(const ProcessBackend&) = delete;

  JobProgress act(const Command& command, Seconds now) override;
  Seconds advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) override;
  Seconds next_event() override { return kNever; }
  bool has_external_events() const override { return true; }

  int launches() const { return launches_; }
  // The first breach of the contract that it saw; empty if there was none.
  const std::string& complaint() const { return complaint_; }

 private:
  struct Child {
    pid_t pid = -1;  // -1: to be launched
    int pipe = -1;
    JobId job{};
    GpuSet gpus;
    double total = 0;
    double work = 0;   // as last heard
    double saved = 0;  // as last saved
    double speed = 0;
    std::string name;
    std::string unread;  // the beginning of a line
    bool done = false;
    bool heard = false;  // since the last progress event
  };

  Seconds clock() const;
  std::filesystem::path state_file(const std::string& name) const { return folder_ / name; }
  void launch(Child& child);
  void launch_all();
  // Reads what the child has said; false at the end of its output.
  bool listen(Child& child);
  // Waits for the child to end and returns whether it ended well.
  bool reap(Child& child);
  // Asks the child to save and leave, and waits for that.
  void stop(Child& child, bool graceful);
  void report_progress(std::vector<JobEvent>& events);
  void complain(const std::string& what);

  std::shared_ptr<const PerfModel> perf_;
  std::filesystem::path folder_;
  std::map<std::string, Breakage> breakages_;
  std::chrono::steady_clock::time_point start_;
  std::map<Slot, Child> children_;
  std::string complaint_;
  int launches_ = 0;
};

}  // namespace muster
