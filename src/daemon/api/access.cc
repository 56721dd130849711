#include "daemon/api/access.h"

#include <pwd.h>
#include <unistd.h>
#include <vector>

namespace muster {

std::string user_name(std::uint32_t user) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16 << 10);
  if (getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return std::to_string(user);
}

Caller Access::of_user(std::uint32_t user) const {
  Caller caller;
  caller.name = user_name(user);
  caller.is_operator = user == 0 || user == geteuid() || operators_.contains(caller.name);
  return caller;
}

}  // namespace muster
