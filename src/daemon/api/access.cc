#include "daemon/api/access.h"

#include <pwd.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

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

bool user_exists(const std::string& name) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16 << 10);
  return getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
         found != nullptr;
}

std::string Access::cannot_run(const std::string& user) {
  const std::string own = user_name(geteuid());
  if (user == own) return {};
  if (geteuid() != 0) {
    return fmt::format(
        "jobs run as the user who submits them, and this daemon, which runs as '{}', cannot start "
        "processes "
        "of '{}': run it as root",
        own, user);
  }
  if (user_exists(user)) return {};
  return fmt::format("there is no user '{}' on this machine whose job it could be", user);
}

Caller Access::of_user(std::uint32_t user) const {
  Caller caller;
  caller.name = user_name(user);
  caller.is_operator = user == 0 || user == geteuid() || operators_.contains(caller.name);
  return caller;
}

}  // namespace muster
