#include "local_server.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "support/paths.h"

namespace muster {

LocalServer::LocalServer() {
  int to_child[2];
  int from_child[2];
  if (pipe(to_child) != 0 || pipe(from_child) != 0) return;
  const std::string script = (source_dir() / "tests/workload_data/server.py").string();
  process_ = fork();
  if (process_ == 0) {
    dup2(to_child[0], STDIN_FILENO);
    dup2(from_child[1], STDOUT_FILENO);
    for (const int end : {to_child[0], to_child[1], from_child[0], from_child[1]}) close(end);
    execlp("python3", "python3", script.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(to_child[0]);
  close(from_child[1]);
  input_ = to_child[1];
  std::string text;
  char letter = 0;
  while (read(from_child[0], &letter, 1) == 1 && letter != '\n') text += letter;
  close(from_child[0]);
  port_ = std::atoi(text.c_str());
}

LocalServer::~LocalServer() {
  if (input_ >= 0) close(input_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

std::string LocalServer::url(const std::string& path) const {
  return fmt::format("http://127.0.0.1:{}/{}", port_, path);
}

std::string LocalServer::body() {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += fmt::format("line {} of the published file\n", i);
  return text;
}

}  // namespace muster
