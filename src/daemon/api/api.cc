#include "daemon/api/api.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

// Whether the path has the shape of the pattern; `name` is what stands where the pattern has
// braces.
bool matches(std::string_view pattern, std::string_view path, std::string& name) {
  const std::vector<std::string_view> wanted = split(pattern, '/');
  const std::vector<std::string_view> given = split(path, '/');
  if (wanted.size() != given.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].starts_with('{')) {
      if (given[i].empty()) return false;
      name = std::string(given[i]);
    } else if (wanted[i] != given[i]) {
      return false;
    }
  }
  return true;
}

constexpr std::array kListQuery = {
    ApiParameter{"state", "string", "only those in this state"},
    ApiParameter{"owner", "string", "only those of this user"},
    ApiParameter{"active", "boolean", "only those that have not left"},
    ApiParameter{"limit", "integer", "only the last so many"},
};
constexpr std::array kLogQuery = {
    ApiParameter{"launch", "integer", "which launch; by default the last"},
    ApiParameter{"rank", "integer", "which rank; by default 0"},
    ApiParameter{"offset", "integer", "from this byte on"},
    ApiParameter{"most", "integer", "at most so many bytes"},
};
constexpr std::array kQuestionQuery = {
    ApiParameter{"as", "string", "text: the answer for people"},
};

// What is wrong with the names in the query; empty: nothing.
std::string check_query(const ApiRoute& route, const HttpRequest& request) {
  std::vector<std::string_view> known;
  for (const ApiParameter& parameter : route.query) known.push_back(parameter.name);
  for (const auto& [name, value] : request.query) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (known.empty()) return fmt::format("{} takes no parameters", route.path);
    return unknown_name("parameter", name.substr(0, 64), known);
  }
  return {};
}

}  // namespace

// Long: it is one table.
std::span<const ApiRoute> Api::routes() {
  static constexpr std::array kRoutes = {
      ApiRoute{"GET", "/v1/status", "What the daemon is doing", false, &Api::get_status, "Status"},
      ApiRoute{"GET", "/v1/jobs", "Jobs, in order of their numbers", false, &Api::list_jobs, "Jobs",
               "", kListQuery},
      ApiRoute{"POST", "/v1/jobs", "Submit a job; answered once it is durable", false, &Api::submit,
               "Submitted", "Submission"},
      ApiRoute{"GET", "/v1/jobs/{id}", "One job with its launches", false, &Api::show_job,
               "DetailedJob"},
      ApiRoute{"PATCH", "/v1/jobs/{id}", "Change what a job asks for", false, &Api::revise, "Done",
               "Change"},
      ApiRoute{"GET", "/v1/jobs/{id}/logs", "Output of a rank of a launch", false, &Api::show_log,
               "", "", kLogQuery},
      ApiRoute{"GET", "/v1/jobs/{id}/explain", "Why the job is where it is", false, &Api::explain,
               "Story"},
      ApiRoute{"POST", "/v1/jobs/{id}/cancel", "Take the job back", false, &Api::cancel, "Done"},
      ApiRoute{"POST", "/v1/jobs/{id}/hold", "Do not start it before it is released", false,
               &Api::hold, "Done"},
      ApiRoute{"POST", "/v1/jobs/{id}/release", "Let a held job be started", false, &Api::release,
               "Done"},
      ApiRoute{"GET", "/v1/nodes", "Nodes, and the jobs on their GPUs", false, &Api::list_nodes,
               "Nodes"},
      ApiRoute{"POST", "/v1/nodes/{node}/drain", "Start nothing new on the node", true, &Api::drain,
               "Done"},
      ApiRoute{"POST", "/v1/nodes/{node}/undrain", "Use the node again", true, &Api::undrain,
               "Done"},
      ApiRoute{"POST", "/v1/what-if", "When jobs will start and end, and what a change would do",
               false, &Api::what_if, "Answer", "Question", kQuestionQuery},
      ApiRoute{"GET", "/v1/tokens", "Tokens, without their secrets", false, &Api::list_tokens,
               "Tokens"},
      ApiRoute{"POST", "/v1/tokens", "Make a token for callers from the network", false,
               &Api::create_token, "NewToken", "TokenRequest"},
      ApiRoute{"POST", "/v1/tokens/{token}/revoke", "Revoke a token", false, &Api::revoke_token,
               "Done"},
      ApiRoute{"POST", "/v1/reload", "Read the configuration again", true, &Api::reload, "Done"},
      ApiRoute{"POST", "/v1/shutdown", "End the daemon; jobs go on unless drain is true", true,
               &Api::shut_down, "Done", "Ending"},
      ApiRoute{"GET", "/metrics", "Figures for Prometheus", false, &Api::metrics, ""},
      ApiRoute{"GET", "/openapi.json", "This description", false, &Api::openapi, "Description"},
  };
  return kRoutes;
}

std::optional<Caller> Api::caller_of(const HttpRequest& request, const HttpReply& reply) const {
  if (request.peer.local) return parts_.access.of_user(request.peer.user);
  constexpr std::string_view kBearer = "Bearer ";
  const auto given = request.headers.find("authorization");
  const bool there = given != request.headers.end() && given->second.starts_with(kBearer);
  const std::optional<Token> token =
      there ? parts_.tokens.find(std::string_view(given->second).substr(kBearer.size()),
                                 LiveClock::unix_now())
            : std::nullopt;
  if (token) return Caller{token->user, token->is_operator, false};
  // Nobody learns whether a token was ever valid.
  HttpResponse refused = error_response(
      401, there ? "this token is not valid: it is unknown, revoked or has expired"
                 : "from the network a token is needed (`muster token create` on the daemon's "
                   "machine makes one): Authorization: Bearer TOKEN");
  refused.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"muster\"");
  reply(std::move(refused));
  return std::nullopt;
}

void Api::handle(const HttpRequest& request, HttpReply reply) {
  std::optional<Caller> caller = caller_of(request, reply);
  if (!caller) return;
  if (!parts_.rate.allow(caller->name, parts_.clock.now())) {
    HttpResponse refused =
        error_response(429, fmt::format("'{}' asks more than {:g} times a second; try again later",
                                        caller->name, parts_.rate.per_second()));
    refused.headers.emplace_back("Retry-After", "1");
    return reply(std::move(refused));
  }
  ApiCall call{request, std::move(*caller), {}, std::move(reply)};
  std::string other_methods;
  for (const ApiRoute& route : routes()) {
    if (!matches(route.path, request.path, call.name)) continue;
    if (route.method != request.method) {
      other_methods += (other_methods.empty() ? "" : ", ") + std::string(route.method);
      continue;
    }
    if (route.operators_only && !call.caller.is_operator) {
      return call.reply(error_response(
          403, fmt::format("'{}' is not an operator of this daemon", call.caller.name)));
    }
    if (const std::string wrong = check_query(route, request); !wrong.empty()) {
      return call.reply(error_response(400, wrong));
    }
    return (this->*route.handle)(call);
  }
  if (other_methods.empty()) {
    return call.reply(error_response(
        404, fmt::format("there is no {}; GET /openapi.json says what there is", request.path)));
  }
  HttpResponse refused = error_response(
      405, fmt::format("{} takes {}, not {}", request.path, other_methods, request.method));
  refused.headers.emplace_back("Allow", other_methods);
  call.reply(std::move(refused));
}

}  // namespace muster
