// A separate process for the policies of one Python file: it is started, asked with a time limit,
// ended if it does not answer, and started again.
//
// Starting takes a while; only the daemon's own start waits for it. Until the process is ready
// every question fails at once, and the cluster is scheduled without it. A process that keeps dying
// or hanging is restarted with growing delays.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

#include "daemon/outside/wire.h"
#include "run/config/choice.h"

namespace muster {

struct HostSettings {
  std::function<Result<std::string>()> find_python;  // one with the package muster
  double time_limit = 2;                             // seconds for one answer
  double start_limit = 60;  // seconds for the start, in which it executes the file
  std::function<void(const std::string&)> log;
};

class PolicyHost {
 public:
  // `file` is the one whose policies it is for; it appears in messages.
  PolicyHost(HostSettings settings, std::string file);
  ~PolicyHost();
  PolicyHost(const PolicyHost&) = delete;
  PolicyHost& operator=(const PolicyHost&) = delete;

  // Starts it when it is time to, reads its messages, and never waits. True: it can be
  // asked; false: it is being started, or makes a policy.
  bool ready();
  // Waits until it can be asked.
  Status wait(double seconds);
  // Rises with every start: what earlier processes held is gone.
  std::uint64_t epoch() const { return epoch_; }
  const HostSettings& settings() const { return settings_; }

  // Lets it make a policy; the number is how it is called from then on. Once the host is ready
  // again, made() has what the policy declares, as JSON, or why it could not be made.
  std::uint64_t begin_make(std::string_view kind, const Choice& choice);
  Result<std::string> made(std::uint64_t number);
  // A copy of the policy of that number, with a number of its own.
  Result<std::uint64_t> copy(std::uint64_t of);
  void drop(std::uint64_t number);
  // One question, from its text to its answer; what the process wants to know for it is told.
  Result<Message> ask(std::uint64_t number, const PolicyQuestion& question, const Symbols& symbols);

  void say(const std::string& line) const {
    if (settings_.log) settings_.log(line);
  }
  const std::string& file() const { return file_; }
  pid_t process() const { return process_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Tell = std::function<Result<std::string>(std::string_view name)>;

  Status start();
  // Ends the process; `why` is for the log. It is started again after a while.
  Error end(std::string why);
  void forget();
  void reap();
  bool settled() const { return greeted_ && making_.empty() && trouble_.empty(); }
  void hear(const Message& said);
  void hear_all();
  // Sends a message and waits for the answer; `tell` has the values that the process may ask for.
  Result<Message> exchange(char kind, const std::string& payload, double seconds, const Tell& tell);
  Result<Message> receive(Clock::time_point until);
  // Takes in what has come; false: it is gone.
  bool fill();
  Status send(const std::string& bytes, Clock::time_point until);

  HostSettings settings_;
  std::string file_;
  std::string python_;
  pid_t process_ = -1;
  int socket_ = -1;
  bool greeted_ = false;
  bool awaited_ = false;  // a caller waits for it, and is told what is wrong
  std::string trouble_;   // why it is to be ended, or was
  MessageReader reader_;
  std::uint64_t epoch_ = 0;
  std::uint64_t last_number_ = 0;
  std::deque<std::uint64_t> making_;  // in the order in which they were asked for
  std::map<std::uint64_t, Result<std::string>> made_;
  Clock::time_point settled_by_{};  // it is ready by then, or ended
  int deaths_ = 0;                  // in a row, without an answer in between
  Clock::time_point start_at_{};
  std::vector<pid_t> ended_;  // told to die, not yet reaped
};

}  // namespace muster
