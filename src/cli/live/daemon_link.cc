#include "cli/live/daemon_link.h"

#include <algorithm>
#include <cstdlib>
#include <strings.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/out_file.h"
#include "base/text.h"
#include "daemon/daemon.h"

namespace muster {

namespace {

void add_state_option(CLI::App& command, LinkOptions& options) {
  command
      .add_option("--state", options.state,
                  "state folder of the daemon; by default MUSTER_STATE, or the usual one")
      ->type_name("FOLDER");
}

void add_json_option(CLI::App& command, LinkOptions& options) {
  command.add_flag("--json", options.json, "print the answer as JSON");
}

}  // namespace

void add_local_link_options(CLI::App& command, LinkOptions& options) {
  options.local = true;
  add_state_option(command, options);
  add_json_option(command, options);
}

void add_link_options(CLI::App& command, LinkOptions& options) {
  add_state_option(command, options);
  command
      .add_option("--server", options.server,
                  "daemon on another machine, as https://HOST:PORT; by default MUSTER_SERVER")
      ->type_name("URL");
  command
      .add_option("--token-file", options.token_file,
                  "file with the token for --server; by default the token in MUSTER_TOKEN")
      ->type_name("FILE");
  command
      .add_option(
          "--ca", options.authorities,
          "CA certificates used to verify the server; by default MUSTER_CA, or the system's")
      ->type_name("FILE");
  add_json_option(command, options);
}

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A token as it is in the file or the variable; it must not smuggle a line into a request.
Result<std::string> token_of(const LinkOptions& options) {
  std::string text = variable("MUSTER_TOKEN");
  if (!options.token_file.empty()) {
    Result<std::string> file = read_file(options.token_file);
    if (!file) return file.error();
    text = std::move(*file);
  }
  const std::string token(trim(text));
  const bool plain =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c != 0x7f; });
  if (token.empty() || !plain) {
    return Error{fmt::format(
        "{} with the token for the daemon on the network; `muster token create` on its machine "
        "makes one",
        token.empty() ? "set MUSTER_TOKEN, or name a file with --token-file,"
                      : "there is no single word in MUSTER_TOKEN or the file of --token-file")};
  }
  return token;
}

Result<std::unique_ptr<HttpClient>> connect_to(const LinkOptions& options, const std::string& url) {
  HttpsServer server;
  server.url = url;
  Result<std::string> token = token_of(options);
  if (!token) return token.error();
  server.token = std::move(*token);
  server.authorities = options.authorities.empty() ? variable("MUSTER_CA") : options.authorities;
  return HttpClient::connect(server);
}

}  // namespace

std::string state_folder(const std::string& given) {
  if (!given.empty()) return given;
  if (const std::string state = variable("MUSTER_STATE"); !state.empty()) return state;
  if (const std::string base = variable("XDG_STATE_HOME"); !base.empty()) return base + "/muster";
  const std::string home = variable("HOME");
  return home.empty() ? "/var/lib/muster" : home + "/.local/state/muster";
}

Result<DaemonLink> DaemonLink::open(const LinkOptions& options) {
  // What is said on the command line goes before what is in the environment.
  std::string url = options.server;
  if (url.empty() && options.state.empty() && !options.local) url = variable("MUSTER_SERVER");
  if (!url.empty()) {
    if (!options.state.empty()) return Error{"--state and --server: name one daemon, not two"};
    auto client = connect_to(options, url);
    if (!client) return client.error();
    return DaemonLink(std::move(*client));
  }
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
  status_ = response ? response->status : 0;
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
