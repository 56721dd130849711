#include "backend/slurm/child.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "backend/slurm/command.h"

namespace muster {
namespace {

struct BothEnds {
  Pipe reads;
  Pipe writes;
};

bool make_pipe(BothEnds& ends) {
  std::array<int, 2> files{};
  if (pipe2(files.data(), O_CLOEXEC) != 0) return false;
  ends.reads = Pipe(files[0]);
  ends.writes = Pipe(files[1]);
  return true;
}

void do_not_wait(const Pipe& pipe) {
  fcntl(pipe.get(), F_SETFL, fcntl(pipe.get(), F_GETFL) | O_NONBLOCK);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

void Pipe::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(process, other.process);
  std::swap(alive, other.alive);
  std::swap(in, other.in);
  std::swap(out, other.out);
  std::swap(err, other.err);
  return *this;
}

int Child::reap() {
  int status = 0;
  while (process > 0 && waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  process = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void Child::end() {
  if (process <= 0) return;
  kill(-process, SIGKILL);
  reap();
}

Result<Child> start_child(const std::vector<std::string>& words, bool joined) {
  BothEnds in;
  BothEnds out;
  BothEnds err;
  if (!make_pipe(in) || !make_pipe(out) || (!joined && !make_pipe(err))) {
    return Error{fmt::format("cannot start {}: {}", words[0], std::strerror(errno))};
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.reads.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, out.writes.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, joined ? out.writes.get() : err.writes.get(), 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> arguments = words;
  std::vector<std::string> variables = command_environment();
  Child child;
  const int code = posix_spawnp(&child.process, words[0].c_str(), &actions, &attributes,
                                pointers_to(arguments).data(), pointers_to(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) {
    child.process = -1;
    return Error{fmt::format("cannot start {}: {}", words[0], std::strerror(code))};
  }
  child.alive = Pipe(static_cast<int>(syscall(SYS_pidfd_open, child.process, 0)));
  if (!child.alive.open()) return Error{fmt::format("cannot watch {}", words[0])};
  child.in = std::move(in.writes);
  child.out = std::move(out.reads);
  child.err = std::move(err.reads);
  for (const Pipe* pipe : {&child.in, &child.out, &child.err}) {
    if (pipe->open()) do_not_wait(*pipe);
  }
  return child;
}

bool read_some(const Pipe& pipe, std::string& text) {
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = read(pipe.get(), buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(count));
      if (count < static_cast<ssize_t>(buffer.size())) return true;
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    return count < 0 && errno == EAGAIN;
  }
}

}  // namespace muster
