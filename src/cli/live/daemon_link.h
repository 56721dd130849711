// A client command's way to the daemon: finds the state folder or the address, calls, and turns
// refusals into messages.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "daemon/http/http.h"

namespace CLI {
class App;
}

namespace muster {

// The options of every client command.
struct LinkOptions {
  std::string state;
  std::string server;      // https://HOST:PORT; empty: the daemon of this machine
  std::string token_file;  // who we are there
  std::string authorities;
  bool json = false;
  bool local = false;  // never a server, whatever the environment says
};
void add_link_options(CLI::App& command, LinkOptions& options);
// For commands that only the daemon's own machine may use: --state and --json alone.
void add_local_link_options(CLI::App& command, LinkOptions& options);

// The folder that was named, or MUSTER_STATE, or the usual one of this user.
std::string state_folder(const std::string& given);

class DaemonLink {
 public:
  static Result<DaemonLink> open(const LinkOptions& options);
  // The answer's body; an error where the daemon refuses, with its reason.
  Result<std::string> get(const std::string& target);
  Result<std::string> post(const std::string& target, const std::string& body = {});
  // The whole answer, for those who want its headers.
  Result<HttpResponse> call(std::string_view method, const std::string& target,
                            const std::string& body = {});
  // Whether the last call was answered at all, be it with a refusal.
  bool answered() const { return status_ != 0; }
  // Whether it was refused in a way that asking again does not change.
  bool refused() const { return status_ >= 400 && status_ < 500 && status_ != 429; }

 private:
  explicit DaemonLink(std::unique_ptr<HttpClient> client) : client_(std::move(client)) {}
  std::unique_ptr<HttpClient> client_;
  int status_ = 0;  // of the last answer; 0: none
};

std::string header_of(const HttpResponse& response, std::string_view name);

}  // namespace muster
