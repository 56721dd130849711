#include "daemon/api/tokens.h"

#include <array>
#include <cstdlib>
#include <sys/random.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "workload/data/sha256.h"

namespace muster {
namespace {

constexpr std::string_view kTokenMark = "muster";

// Without randomness there are no secrets: nothing sensible can follow.
template <std::size_t kBytes>
std::string random_digits() {
  std::array<unsigned char, kBytes> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// Takes as long for a wrong hash as for one that is nearly right.
bool same_hash(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  int difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

}  // namespace

Status Tokens::load(const std::vector<StoredUser>& users) {
  for (const StoredUser& user : users) {
    const nlohmann::json settings = nlohmann::json::parse(user.settings, nullptr, false);
    try {
      for (const nlohmann::json& row : settings.at("tokens")) {
        Token token;
        token.user = user.name;
        token.name = row.at("name").get<std::string>();
        token.hash = row.at("hash").get<std::string>();
        token.is_operator = row.at("role").get<std::string>() == "operator";
        token.created = row.at("created").get<double>();
        token.expires = row.at("expires").get<double>();
        tokens_[token.name] = token;
      }
    } catch (const nlohmann::json::exception& problem) {
      return Error{fmt::format("the tokens of '{}' in the store cannot be read: {}", user.name,
                               problem.what())};
    }
  }
  return Done{};
}

StoredUser Tokens::row_of(const std::string& user) const {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [name, token] : tokens_) {
    if (token.user != user) continue;
    list.push_back({{"name", name},
                    {"hash", token.hash},
                    {"role", token.is_operator ? "operator" : "user"},
                    {"created", token.created},
                    {"expires", token.expires}});
  }
  return {user, "user", nlohmann::json{{"tokens", list}}.dump()};
}

void Tokens::commit(const std::string& user, Told told) {
  Batch batch;
  batch.users.push_back(row_of(user));
  committer_.submit(std::move(batch), std::move(told));
}

void Tokens::create(const std::string& user, bool is_operator, double now, double seconds,
                    std::function<void(const Result<std::string>&)> told) {
  const std::lock_guard lock(mutex_);
  Token token;
  do {
    token.name = random_digits<4>();
  } while (tokens_.contains(token.name));
  const std::string secret = random_digits<32>();
  token.hash = sha256_of(secret);
  token.user = user;
  token.is_operator = is_operator;
  token.created = now;
  token.expires = now + seconds;
  tokens_[token.name] = token;
  // What has expired long ago is dropped with the next change.
  std::erase_if(tokens_,
                [now](const auto& entry) { return entry.second.expires < now - 30 * 86400; });
  const std::string text = fmt::format("{}_{}_{}", kTokenMark, token.name, secret);
  commit(user, [this, name = token.name, text, told = std::move(told)](const Status& status) {
    if (status) return told(text);
    {
      const std::lock_guard inner(mutex_);
      tokens_.erase(name);
    }
    told(status.error());
  });
}

bool Tokens::revoke(const std::string& name, const std::string& user, Told told) {
  const std::lock_guard lock(mutex_);
  const auto found = tokens_.find(name);
  if (found == tokens_.end() || (!user.empty() && found->second.user != user)) return false;
  const Token token = found->second;
  tokens_.erase(found);
  commit(token.user, [this, token, told = std::move(told)](const Status& status) {
    if (!status) {
      const std::lock_guard inner(mutex_);
      tokens_[token.name] = token;  // it is still good after a restart: say so
    }
    told(status);
  });
  return true;
}

std::vector<Token> Tokens::list(const std::string& user) const {
  const std::lock_guard lock(mutex_);
  std::vector<Token> found;
  for (const auto& [name, token] : tokens_) {
    if (user.empty() || token.user == user) found.push_back(token);
  }
  return found;
}

std::optional<Token> Tokens::find(std::string_view text, double now) const {
  const std::vector<std::string_view> parts = split(text, '_');
  if (parts.size() != 3 || parts[0] != kTokenMark) return std::nullopt;
  const std::string hash = sha256_of(parts[2]);
  const std::lock_guard lock(mutex_);
  const auto found = tokens_.find(std::string(parts[1]));
  if (found == tokens_.end() || !same_hash(found->second.hash, hash) ||
      now >= found->second.expires) {
    return std::nullopt;
  }
  return found->second;
}

}  // namespace muster
