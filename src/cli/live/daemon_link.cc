#include "cli/live/daemon_link.h"

#include <algorithm>
#include <cstdlib>
#include <strings.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "daemon/daemon.h"

namespace muster {

void add_link_options(CLI::App& command, LinkOptions& options) {
  command
      .add_option("--state", options.state,
                  "state folder of the daemon; by default MUSTER_STATE, or the usual one")
      ->type_name("FOLDER");
  command.add_flag("--json", options.json, "print what the daemon answers, as JSON");
}

std::string state_folder(const std::string& given) {
  if (!given.empty()) return given;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string state = variable("MUSTER_STATE"); !state.empty()) return state;
  if (const std::string base = variable("XDG_STATE_HOME"); !base.empty()) return base + "/muster";
  const std::string home = variable("HOME");
  return home.empty() ? "/var/lib/muster" : home + "/.local/state/muster";
}

Result<DaemonLink> DaemonLink::open(const LinkOptions& options) {
  const std::string folder = state_folder(options.state);
  auto client = HttpClient::connect(api_socket(folder));
  if (!client) {
    return Error{fmt::format(
        "no daemon answers at {} ({}); start one with `muster serve --state {}`, or name the state "
        "folder of the one that runs with --state or MUSTER_STATE",
        folder, client.error().message, folder)};
  }
  return DaemonLink(std::move(*client));
}

Result<HttpResponse> DaemonLink::call(std::string_view method, const std::string& target,
                                      const std::string& body) {
  auto response = client_->call(method, target, body, std::chrono::seconds(120));
  if (!response) return response.error();
  if (response->status < 400) return response;
  const auto json = nlohmann::json::parse(response->body, nullptr, false);
  if (json.is_object() && json.contains("error") && json["error"].is_string()) {
    return Error{json["error"].get<std::string>()};
  }
  return Error{fmt::format("the daemon answered with HTTP status {}", response->status)};
}

Result<std::string> DaemonLink::get(const std::string& target) {
  auto response = call("GET", target);
  if (!response) return response.error();
  return std::move(response->body);
}

Result<std::string> DaemonLink::post(const std::string& target, const std::string& body) {
  auto response = call("POST", target, body);
  if (!response) return response.error();
  return std::move(response->body);
}

std::string header_of(const HttpResponse& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key.size() == name.size() && strncasecmp(key.data(), name.data(), name.size()) == 0) {
      return value;
    }
  }
  return {};
}

}  // namespace muster
