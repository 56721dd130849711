// Access rights. Users see and change only their own jobs; operators see and change all jobs, the
// nodes and the daemon. Over the Unix socket the kernel identifies the caller, over the network a
// token does.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "daemon/board.h"

namespace muster {

struct Caller {
  std::string name;
  bool is_operator = false;
  bool local = true;  // on this machine, as the kernel says

  bool may_see(const BoardJob& job) const { return is_operator || job.row->owner == name; }
};

class Access {
 public:
  // Our own user and root are operators; so are those named.
  explicit Access(std::set<std::string> operators) : operators_(std::move(operators)) {}
  Caller of_user(std::uint32_t user) const;
  // Why jobs of this user cannot be run; empty: they can. Jobs run as who submitted them.
  static std::string cannot_run(const std::string& user);

 private:
  std::set<std::string> operators_;
};

// The name of a user of this machine; its number where it has none.
std::string user_name(std::uint32_t user);
// Whether there is a user of this name.
bool user_exists(const std::string& name);

}  // namespace muster
