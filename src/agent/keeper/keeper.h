// The process that keeps one launch on one node: it starts the ranks, collects their output, passes
// words between job and scheduler, ends everything the launch has started, and writes the exit
// record. It lives as long as the launch, whatever happens to the scheduler.
//
// A guard is its parent (guard.h): if either is killed the other ends the launch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

#include "agent/keeper/exit_record.h"
#include "agent/keeper/job_desk.h"
#include "agent/keeper/launch_cgroup.h"
#include "agent/keeper/launch_end.h"
#include "agent/keeper/line_server.h"
#include "agent/keeper/log_file.h"
#include "agent/keeper/order.h"
#include "agent/keeper/rank.h"

namespace muster {

class Keeper {
 public:
  // In the run folder, which is the current one. `record` is written in the end.
  Keeper(KeeperOrder order, RecordFile& record, std::string folder);
  // Until the record is written.
  void run();

 private:
  enum class State : std::uint8_t {
    kReady,     // all ranks are in place
    kStarting,  // the gate is open
    kRunning,   // all ranks have become their program
    kStopping,  // told to leave
    kClearing,  // killing what is left
    kOver,
  };
  struct Child {
    pid_t process = -1;
    bool ended = false;
    int output = -1;  // our end of its pipe
    std::unique_ptr<LogFile> log;
  };

  // keeper.cc: the loop and the course of things
  Status prepare();
  Status open_rank(const KeeperRank& rank);
  void set(State state);
  void go();
  void stop(double grace, const std::string& cause);
  // When ranks that do not listen get the stop signal.
  double signal_at(double now) const;
  void signal_ranks();
  void clear(const std::string& cause);
  void reap();
  void rank_ended(Child& child, const KeeperRank& rank, int status);
  void pass_time(double now);
  double next_deadline(double now) const;
  void write_record();

  // keeper_talk.cc: what comes in through pipes and sockets
  void wait_and_serve(int milliseconds);
  void read_signals();
  void read_failures();
  void read_output(Child& child);
  bool heard_control(int client, std::string_view line);
  bool command(std::string_view verb, std::string_view argument);
  void pass_on();
  std::string state_line() const;

  KeeperOrder order_;
  RecordFile& record_;
  std::string folder_;
  State state_ = State::kReady;
  LaunchPlace place_;
  std::vector<Child> children_;  // by position in order_.ranks
  LaunchEnd end_;
  std::string cause_;
  std::vector<std::string> notes_;
  std::optional<LaunchCgroup> cgroup_;
  std::optional<LineServer> control_;
  std::optional<LineServer> jobs_;
  std::optional<JobDesk> desk_;
  pid_t guard_ = getppid();
  int signals_ = -1;
  std::set<int> greeted_;  // clients of the control socket that gave a generation
  std::uint64_t generation_ = 0;
  bool signalled_ = false;
  bool recorded_ = false;
  double began_ = 0;
  double contact_ = 0;
  double stop_deadline_ = 0;
  double warning_ = 0;  // the latest moment for the stop signal
  double left_since_ = 0;
  double lease_until_ = 0;
  double next_try_ = 0;
};

// Seconds that also pass while the machine sleeps.
double keeper_clock();

}  // namespace muster
