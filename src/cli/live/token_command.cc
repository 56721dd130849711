// token create, list, revoke: tokens for callers from the network.
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/live/daemon_link.h"
#include "daemon/clock.h"

namespace muster {
namespace {

using TokenJson = nlohmann::json;

struct TokenOptions {
  LinkOptions link;
  std::string user;
  std::string role = "user";
  double days = 90;
  std::vector<std::string> names;
};

int create_token(const TokenOptions& options) {
  auto link = DaemonLink::open(options.link);
  if (!link) return complain(link.error(), kExitFailed);
  TokenJson request = {{"role", options.role}, {"days", options.days}};
  if (!options.user.empty()) request["user"] = options.user;
  const auto answer = link->post("/v1/tokens", request.dump());
  if (!answer) return complain(answer.error(), kExitFailed);
  if (options.link.json) {
    fmt::print("{}", *answer);
  } else {
    fmt::print("{}\n", TokenJson::parse(*answer)["token"].get<std::string>());
    note("the token is shown only once; keep it secret, because it acts in your name");
  }
  return kExitOk;
}

int list_tokens(const TokenOptions& options) {
  auto link = DaemonLink::open(options.link);
  if (!link) return complain(link.error(), kExitFailed);
  const auto answer = link->get("/v1/tokens");
  if (!answer) return complain(answer.error(), kExitFailed);
  if (options.link.json) {
    fmt::print("{}", *answer);
    return kExitOk;
  }
  for (const TokenJson& token : TokenJson::parse(*answer)) {
    const double days = (token["expires"].get<double>() - LiveClock::unix_now()) / 86400;
    fmt::print("{}  {:<16} {:<9} {}\n", token["name"].get<std::string>(),
               token["user"].get<std::string>(), token["role"].get<std::string>(),
               days > 0 ? fmt::format("good for {:.1f} days", days) : std::string("expired"));
  }
  return kExitOk;
}

int revoke_tokens(const TokenOptions& options) {
  auto link = DaemonLink::open(options.link);
  if (!link) return complain(link.error(), kExitFailed);
  int status = kExitOk;
  for (const std::string& name : options.names) {
    const auto answer = link->post("/v1/tokens/" + percent_encoded(name) + "/revoke");
    if (!answer) {
      status = complain(answer.error(), kExitFailed);
    } else if (options.link.json) {
      fmt::print("{}", *answer);
    }
  }
  return status;
}

}  // namespace

void add_token_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("token", "Make, list and revoke tokens for callers from the network");
  command->require_subcommand(1);
  const auto options = std::make_shared<TokenOptions>();
  const auto add = [&](const char* name, const char* sentence, int (*run)(const TokenOptions&)) {
    CLI::App* one = command->add_subcommand(name, sentence);
    add_local_link_options(*one, options->link);
    one->callback(
        [options, run, &chosen] { chosen.run = [options, run] { return run(*options); }; });
    return one;
  };
  CLI::App* create = add("create", "Print a new token", create_token);
  create->add_option("--user", options->user, "user whose jobs it submits and sees (default: you)")
      ->type_name("NAME");
  create->add_option("--role", options->role, "user, or operator (may see and change everything)")
      ->check(CLI::IsMember({"user", "operator"}))
      ->capture_default_str();
  create->add_option("--days", options->days, "days until it expires")
      ->type_name("N")
      ->check(CLI::Range(0.0, 3660.0))
      ->capture_default_str();
  create->footer("Examples:\n  muster token create --days 30 > my.token");
  add("list", "List tokens, without their secrets", list_tokens)
      ->footer("Examples:\n  muster token list");
  CLI::App* revoke = add("revoke", "Revoke tokens", revoke_tokens);
  revoke->add_option("TOKEN", options->names, "names of tokens, as `muster token list` has them")
      ->required();
  revoke->footer("Examples:\n  muster token list | cut -c1-8 | xargs -r muster token revoke");
  command->footer(
      "Examples:\n"
      "  muster token create > my.token\n"
      "\n"
      "This works only on the daemon's own machine. From elsewhere, give --server "
      "https://HOST:PORT\n"
      "and --token-file to any command that talks to a daemon. See docs/live.md.");
}

}  // namespace muster
