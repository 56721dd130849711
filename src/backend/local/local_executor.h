// Launches as processes of this machine: one keeper each (agent/keeper), which outlives us. One
// thread talks to all of them; their reports go to the mailbox.
//
// Folders of launches are in `runs` until their end is acknowledged, and in `ended` after that.
// They are what a new executor finds after a crash: whatever has a folder in `runs` is running, or
// has an exit record, or is cleared away as one whose keeper and guard were killed together.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backend/live/mailbox.h"
#include "backend/local/kept_run.h"

namespace muster {

struct LocalSettings {
  std::filesystem::path runs;
  std::filesystem::path ended;
  std::filesystem::path keeper;  // the program muster-keeper
  std::string cgroup;            // a cgroup v2 folder to make those of launches in; empty: none
  // By GPU, the processors near it, to which its ranks are pinned; empty: to none.
  std::vector<std::vector<int>> cpus_of_gpu;
  Abilities abilities;
};

class LocalExecutor final : public Executor {
 public:
  // Makes the folders. `generation` is that of the daemon: keepers refuse older ones.
  static Result<std::unique_ptr<LocalExecutor>> make(LocalSettings settings,
                                                     std::uint64_t generation, Mailbox& mailbox);
  // Leaves everything running.
  ~LocalExecutor() override;

  Abilities abilities() const override { return settings_.abilities; }
  void prepare(const RunOrder& order) override;
  void go(RunId run) override;
  void stop(RunId run, Grace grace) override;
  void lease(RunId run, Seconds seconds) override;
  void census(std::uint64_t number) override;
  void acknowledge(RunId run) override;

 private:
  LocalExecutor(LocalSettings settings, std::uint64_t generation, Mailbox& mailbox);
  // Has the thread do it.
  void later(std::function<void()> work);
  void work();
  void wait_and_hear();
  int milliseconds_to_wait(double now) const;

  // local_executor.cc: what is asked
  // The launch if it is known or has a folder; else null.
  KeptRun* find(RunId run);
  void prepare_now(const RunOrder& order);
  void stop_now(RunId run, Grace grace);
  void census_now(std::uint64_t number);
  void acknowledge_now(RunId run);

  // local_talk.cc: reports of keepers
  void look(KeptRun& kept, double now);
  void greet(KeptRun& kept);
  void hear(KeptRun& kept);
  void heard_state(KeptRun& kept, std::string_view state);
  void look_for_end(KeptRun& kept, double now);
  void ended(KeptRun& kept, RunReport report);
  void tell(const KeptRun& kept, RunEvent event);
  void tell_census();
  void pass_progress_on(KeptRun& kept, double now);

  LocalSettings settings_;
  std::uint64_t generation_;
  Mailbox& mailbox_;
  std::map<RunId, KeptRun> kept_;
  std::vector<pid_t> guards_;  // of launches that are over, to be reaped
  std::set<RunId> refused_;    // told to stop before they were known: never prepared
  std::uint64_t census_ = 0;   // the one that is being answered; 0: none
  int wake_ = -1;              // an eventfd
  std::mutex mutex_;
  std::vector<std::function<void()>> todo_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace muster
