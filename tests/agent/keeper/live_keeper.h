// A real keeper with real processes, for tests: writes the order, starts the program, talks to its
// control socket, waits for its record, and looks for what is left.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "agent/keeper/exit_record.h"
#include "agent/keeper/order.h"
#include "support/temporary_folder.h"

namespace muster {

// One rank without GPUs that runs the command in the folder.
KeeperOrder simple_order(const std::filesystem::path& folder, std::vector<std::string> command);

class LiveKeeper {
 public:
  // Starts the keeper in `folder`, which must exist.
  LiveKeeper(const std::filesystem::path& folder, const KeeperOrder& order);
  // One that somebody else has started.
  explicit LiveKeeper(const std::filesystem::path& folder) : folder_(folder) {}
  // Kills what is left.
  ~LiveKeeper();
  LiveKeeper(const LiveKeeper&) = delete;
  LiveKeeper& operator=(const LiveKeeper&) = delete;

  // Connects and greets as the daemon of a generation; waits until the keeper listens.
  void greet(std::uint64_t generation = 0);
  void say(const std::string& line);
  // Reads until a line begins with `expected`; fails the test after ten seconds, or at the end of
  // the connection.
  std::string hear(const std::string& expected);
  void hang_up();
  // Greets, waits for "state ready", says go, waits for "state running".
  void start();

  // The exit record, once it is there.
  ExitRecord record();
  // Whether guard and keeper end within ten seconds.
  bool ends();

  pid_t guard() const { return guard_; }
  pid_t keeper() const;  // its child
  std::string log(int rank = 0) const;

 private:
  std::filesystem::path folder_;
  pid_t guard_ = -1;
  int socket_ = -1;
  std::string heard_;
};

// Sends a signal to one process: never to a group, or to all of them, because a number is missing.
void signal_one(pid_t process, int signal);
// Waits up to ten seconds for it.
bool eventually(const std::function<bool()>& condition);
// Living processes that have this word among their arguments.
int processes_with(const std::string& word);
// A word that no other process has: a number of seconds to sleep.
std::string unique_sleep();

}  // namespace muster
