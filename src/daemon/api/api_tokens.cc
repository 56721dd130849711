// Tokens for callers from the network: made, listed and revoked only on the daemon's machine, so
// that a stolen token cannot make others.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/shared_library.h"
#include "daemon/api/api.h"

namespace muster {
namespace {

constexpr double kDay = 86400;
constexpr double kMostDays = 3660;

struct TokenRequest {
  std::string user;
  std::string role = "user";
  double days = 90;
};

// What is wrong with it; empty: nothing.
std::string read_token_request(const std::string& body, TokenRequest& request) {
  const nlohmann::json json =
      body.empty() ? nlohmann::json::object() : nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object()) return "expected an object with user, role and days";
  for (const auto& [name, value] : json.items()) {
    if (name == "user" && value.is_string()) {
      request.user = value.get<std::string>();
    } else if (name == "role" && (value == "user" || value == "operator")) {
      request.role = value.get<std::string>();
    } else if (name == "days" && value.is_number() && value.get<double>() > 0 &&
               value.get<double>() <= kMostDays) {
      request.days = value.get<double>();
    } else {
      return fmt::format(
          "'{}': expected user (a name), role (user or operator) and days (above 0, up to {})",
          name.substr(0, 64), kMostDays);
    }
  }
  return {};
}

bool only_local(const ApiCall& call) {
  if (call.caller.local) return true;
  call.reply(error_response(
      403, "tokens are made, listed and revoked on the daemon's own machine, over its socket"));
  return false;
}

}  // namespace

void Api::list_tokens(const ApiCall& call) {
  if (!only_local(call)) return;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Token& token : parts_.tokens.list(call.caller.is_operator ? "" : call.caller.name)) {
    list.push_back({{"name", token.name},
                    {"user", token.user},
                    {"role", token.is_operator ? "operator" : "user"},
                    {"created", token.created},
                    {"expires", token.expires},
                    {"expired", token.expires <= LiveClock::unix_now()}});
  }
  HttpResponse response;
  response.body = list.dump() + "\n";
  call.reply(std::move(response));
}

void Api::create_token(const ApiCall& call) {
  if (!only_local(call)) return;
  TokenRequest request;
  request.user = call.caller.name;
  if (const std::string wrong = read_token_request(call.request.body, request); !wrong.empty()) {
    return call.reply(error_response(400, wrong));
  }
  if (!call.caller.is_operator && (request.user != call.caller.name || request.role != "user")) {
    return call.reply(error_response(
        403,
        fmt::format("'{}' is not an operator and may make tokens of role user only for themselves",
                    call.caller.name)));
  }
  if (!user_exists(request.user)) {
    return call.reply(
        error_response(400, fmt::format("there is no user '{}' on this machine", request.user)));
  }
  try {
    parts_.tokens.create(request.user, request.role == "operator", LiveClock::unix_now(),
                         request.days * kDay,
                         [reply = call.reply](const Result<std::string>& made) {
                           if (!made) return reply(error_response(503, made.error().message));
                           HttpResponse response;
                           response.status = 201;
                           response.body = nlohmann::json{{"token", *made}}.dump() + "\n";
                           reply(std::move(response));
                         });
  } catch (const MissingLibrary& missing) {
    call.reply(error_response(503, missing.what()));
  }
}

void Api::revoke_token(const ApiCall& call) {
  if (!only_local(call)) return;
  const bool found =
      parts_.tokens.revoke(call.name, call.caller.is_operator ? "" : call.caller.name,
                           [reply = call.reply](const Status& status) {
                             if (!status) return reply(error_response(503, status.error().message));
                             HttpResponse response;
                             response.body = "{\"done\":true}\n";
                             reply(std::move(response));
                           });
  if (!found) call.reply(error_response(404, fmt::format("there is no token {}", call.name)));
}

}  // namespace muster
