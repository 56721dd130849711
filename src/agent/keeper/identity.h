// Whose processes a launch consists of: a user of this machine with all his groups. Only root can
// become another user.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"

namespace muster {

struct Identity {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;  // all of them

  friend bool operator==(const Identity&, const Identity&) = default;
};

// By name; an error for an unknown user, and for root, because jobs of others never run as root.
Result<Identity> identity_of(const std::string& user);

// Becomes this user for good; false if any part of that failed.
bool become(const Identity& identity);

// Looks at files as this user does, while it lives. The process has one thread.
class ActingAs {
 public:
  explicit ActingAs(const Identity* identity);
  ~ActingAs();
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

 private:
  bool acting_ = false;
  std::vector<gid_t> groups_;  // our own
};

}  // namespace muster
