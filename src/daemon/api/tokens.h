// Tokens identify callers on the network. Each is bound to a user of this machine and a role, and
// expires. A token is muster_NAME_SECRET; the store holds the name and a hash of the secret, so
// that a reader of the store cannot use any token.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/committer.h"

namespace muster {

struct Token {
  std::string name;  // eight hexadecimal digits; what people revoke it by
  std::string hash;  // SHA-256 of the secret
  std::string user;
  bool is_operator = false;
  double created = 0;  // seconds since 1970
  double expires = 0;
};

class Tokens {
 public:
  using Told = std::function<void(const Status&)>;

  explicit Tokens(Committer& committer) : committer_(committer) {}
  // Those of the store. An error where a row cannot be read: better no daemon than one that has
  // forgotten whom it let in.
  Status load(const std::vector<StoredUser>& users);

  // A new one; its whole text is told once it is durable, and never again.
  void create(const std::string& user, bool is_operator, double now, double seconds,
              std::function<void(const Result<std::string>&)> told);
  // False: there is none of that name, or it is not this user's (empty: whoever's).
  bool revoke(const std::string& name, const std::string& user, Told told);
  // Of this user (empty: of all), those that have expired included.
  std::vector<Token> list(const std::string& user) const;

  // Whose token this is, if it is one, is not revoked and has not expired.
  std::optional<Token> find(std::string_view text, double now) const;

 private:
  StoredUser row_of(const std::string& user) const;
  void commit(const std::string& user, Told told);

  Committer& committer_;
  mutable std::mutex mutex_;
  std::map<std::string, Token> tokens_;  // by name
};

}  // namespace muster
