// The misbehaving web server of server.py as a child process, for as long as the object lives.
#pragma once

#include <string>

namespace muster {

class LocalServer {
 public:
  LocalServer();
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // False when there is no Python to run it.
  bool running() const { return port_ != 0; }
  std::string url(const std::string& path) const;

  // What it serves.
  static std::string body();

 private:
  int process_ = -1;
  int input_ = -1;  // the server ends when this is closed
  int port_ = 0;
};

}  // namespace muster
