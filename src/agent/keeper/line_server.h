// Lines of text over a Unix socket, for a process that waits in poll(2). Only processes of our own
// user, of a guest and root are let in; lines and unread output are bounded.
#pragma once

#include <functional>
#include <map>
#include <poll.h>
#include <string>
#include <string_view>
#include <vector>

#include "agent/keeper/identity.h"
#include "base/result.h"

namespace muster {

class LineServer {
 public:
  // False from `heard` closes the connection once its output is written.
  using Heard = std::function<bool(int client, std::string_view line)>;
  using Closed = std::function<void(int client)>;

  // Listens at `name` in the current folder, in place of whatever socket was there.
  static Result<LineServer> listen(const std::string& name, const Identity* guest = nullptr);
  LineServer(LineServer&& other) noexcept;
  LineServer& operator=(LineServer&&) = delete;
  ~LineServer();

  void add_polls(std::vector<pollfd>& polls) const;
  // Does what poll(2) says is possible. Clients have numbers of their own, never used twice.
  void serve(const std::vector<pollfd>& polls, const Heard& heard, const Closed& closed);
  void send(int client, std::string_view line);
  void send_all(std::string_view line);

 private:
  struct Client {
    int socket = -1;
    std::string in;
    std::string out;
    bool ending = false;
  };

  LineServer(int socket, uid_t guest) : socket_(socket), guest_(guest) {}
  void accept_one();
  bool read_lines(int number, Client& client, const Heard& heard);
  static bool flush(Client& client);

  int socket_ = -1;
  uid_t guest_;  // our own user where there is none
  int next_ = 0;
  std::map<int, Client> clients_;
};

}  // namespace muster
