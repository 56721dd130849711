#include "agent/keeper/identity.h"

#include <algorithm>
#include <cstdlib>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <fmt/format.h>

namespace muster {

Result<Identity> identity_of(const std::string& user) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16 << 10);
  if (getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return Error{fmt::format("there is no user '{}' on this machine", user)};
  }
  Identity identity;
  identity.user = found->pw_uid;
  identity.group = found->pw_gid;
  if (identity.user == 0) return Error{fmt::format("'{}' is root", user)};
  int count = 64;
  identity.groups.resize(static_cast<std::size_t>(count));
  while (getgrouplist(user.c_str(), identity.group, identity.groups.data(), &count) < 0) {
    identity.groups.resize(static_cast<std::size_t>(count));
  }
  identity.groups.resize(static_cast<std::size_t>(count));
  return identity;
}

bool become(const Identity& identity) {
  return setgroups(identity.groups.size(), identity.groups.data()) == 0 &&
         setresgid(identity.group, identity.group, identity.group) == 0 &&
         setresuid(identity.user, identity.user, identity.user) == 0 &&
         setuid(0) != 0;  // there is no way back
}

ActingAs::ActingAs(const Identity* identity) {
  if (identity == nullptr) return;
  groups_.resize(static_cast<std::size_t>(std::max(0, getgroups(0, nullptr))));
  if (getgroups(static_cast<int>(groups_.size()), groups_.data()) < 0) std::abort();
  acting_ = true;
  // Better no launch than one that looks with root's eyes.
  if (setgroups(identity->groups.size(), identity->groups.data()) != 0 ||
      setegid(identity->group) != 0 || seteuid(identity->user) != 0) {
    std::abort();
  }
}

ActingAs::~ActingAs() {
  if (!acting_) return;
  if (seteuid(getuid()) != 0 || setegid(getgid()) != 0 ||
      setgroups(groups_.size(), groups_.data()) != 0) {
    std::abort();
  }
}

}  // namespace muster
