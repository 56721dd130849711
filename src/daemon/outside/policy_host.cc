#include "daemon/outside/policy_host.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace muster {
namespace {

using Json = nlohmann::json;
using std::chrono::duration;
using std::chrono::steady_clock;

// The file descriptor that the process finds its end of the socket at.
constexpr int kItsSocket = 3;

steady_clock::time_point seconds_from_now(double seconds) {
  return steady_clock::now() +
         std::chrono::duration_cast<steady_clock::duration>(duration<double>(seconds));
}

// Waits until the socket can be read or written. False: the time is up.
bool wait_for(int socket, short what, steady_clock::time_point until) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - steady_clock::now() + std::chrono::microseconds(999));
    pollfd one = {socket, what, 0};
    const int found =
        poll(&one, 1, static_cast<int>(std::clamp<long long>(left.count(), 0, 60'000)));
    if (found > 0) return true;
    if (found == 0 && steady_clock::now() >= until) return false;
    if (found < 0 && errno != EINTR) return true;  // the read or write says what it is
  }
}

std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The last lines of a traceback, which say what it was.
std::string end_of(const std::string& text) {
  constexpr std::size_t kMost = 2'000;
  return text.size() <= kMost ? text : "..." + text.substr(text.size() - kMost);
}

}  // namespace

PolicyHost::PolicyHost(HostSettings settings, std::string file)
    : settings_(std::move(settings)), file_(std::move(file)) {}

PolicyHost::~PolicyHost() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    ended_.push_back(process_);
  }
  if (socket_ >= 0) close(socket_);
  for (const pid_t process : ended_) waitpid(process, nullptr, 0);
}

Status PolicyHost::start() {
  if (python_.empty()) {
    const Result<std::string> found = settings_.find_python();
    if (!found) return found.error();
    python_ = *found;
  }
  std::array<int, 2> ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error{fmt::format("no socket for the policies of {}: {}", file_, std::strerror(errno))};
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], kItsSocket);
  std::string program = python_;
  std::string option = "-m";
  std::string module = "muster._host";
  std::array<char*, 4> words = {program.data(), option.data(), module.data(), nullptr};
  const int code =
      posix_spawnp(&process_, program.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (code != 0) {
    close(ends[0]);
    process_ = -1;
    return Error{fmt::format("cannot start {} for the policies of {}: {}", program, file_,
                             std::strerror(code))};
  }
  socket_ = ends[0];
  fcntl(socket_, F_SETFL, O_NONBLOCK);
  forget();
  ++epoch_;
  settled_by_ = seconds_from_now(settings_.start_limit);
  return Done{};
}

Error PolicyHost::end(std::string why) {
  int status = 0;
  std::string how;
  // It may have died by itself: how says more than that it is gone.
  for (int look = 0; look < 500 && process_ > 0 && how.empty(); ++look) {
    if (waitpid(process_, &status, WNOHANG) == process_) {
      process_ = -1;
      how = WIFSIGNALED(status)
                ? fmt::format(" (its process was killed by signal {})", WTERMSIG(status))
                : fmt::format(" (its process exited with {})", WEXITSTATUS(status));
    } else if (look == 0) {
      const bool gone = recv(socket_, &status, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
      if (!gone) break;
    } else {
      usleep(1'000);
    }
  }
  if (process_ > 0) {
    kill(process_, SIGKILL);
    ended_.push_back(process_);
    process_ = -1;
  }
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  forget();
  ++deaths_;
  // The first death may be an accident; after that it waits 2 s, 4 s, and so on to ten minutes.
  const double pause = deaths_ <= 1 ? 0 : std::min(600.0, std::exp2(std::min(deaths_ - 1, 10)));
  start_at_ = seconds_from_now(pause);
  return Error{pause > 0 ? fmt::format("{}{}; it is started again in {:.0f} s", why, how, pause)
                         : fmt::format("{}{}; it is started again", why, how)};
}

void PolicyHost::forget() {
  greeted_ = false;
  reader_ = {};
  making_.clear();
  made_.clear();
  trouble_.clear();
}

void PolicyHost::reap() {
  std::erase_if(ended_, [](pid_t process) { return waitpid(process, nullptr, WNOHANG) != 0; });
}

void PolicyHost::hear(const Message& said) {
  if (!greeted_) {
    const Json json = Json::parse(said.payload, nullptr, false);
    const bool polite = said.kind == 'H' && json.is_object() && json.contains("version");
    greeted_ = polite && json["version"] == MUSTER_VERSION;
    if (greeted_) return;
    trouble_ = !polite ? "broke the protocol"
                       : fmt::format("{} has version {} of the package muster, this is {}", python_,
                                     json["version"].dump(), MUSTER_VERSION);
    return;
  }
  if (making_.empty() || (said.kind != 'R' && said.kind != 'E')) {
    trouble_ = "sent a message that was not asked for";
    return;
  }
  made_.insert_or_assign(making_.front(), said.kind == 'R'
                                              ? Result<std::string>(said.payload)
                                              : Result<std::string>(Error{end_of(said.payload)}));
  making_.pop_front();
}

void PolicyHost::hear_all() {
  if (!fill()) trouble_ = "is gone";
  while (trouble_.empty() && !settled()) {
    Result<std::optional<Message>> next = reader_.next();
    if (!next) {
      trouble_ = next.error().message;
    } else if (*next) {
      hear(**next);
    } else {
      break;
    }
  }
  if (trouble_.empty() && !settled() && Clock::now() > settled_by_) {
    trouble_ = fmt::format("was not ready within {} s", settings_.start_limit);
  }
}

bool PolicyHost::ready() {
  reap();
  if (settled()) return true;
  if (process_ < 0) {
    if (Clock::now() < start_at_) return false;
    if (Status started = start(); !started) trouble_ = started.error().message;
  }
  if (process_ > 0) hear_all();
  if (trouble_.empty()) return settled();
  trouble_ = end(trouble_).message;
  if (!awaited_) say(fmt::format("policies of {}: {}", file_, trouble_));
  return false;
}

Status PolicyHost::wait(double seconds) {
  const auto until = seconds_from_now(seconds);
  start_at_ = {};
  awaited_ = true;
  Status done = Done{};
  while (done && !ready()) {
    if (process_ < 0) {
      done = Error{trouble_};
    } else if (!wait_for(socket_, POLLIN, until)) {
      done = end(fmt::format("was not ready within {} s", seconds));
    }
  }
  awaited_ = false;
  return done;
}

Status PolicyHost::send(const std::string& bytes, Clock::time_point until) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t sent =
        ::send(socket_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      done += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN || errno == EINTR) {
      if (!wait_for(socket_, POLLOUT, until)) return Error{"did not read the request in time"};
    } else {
      return Error{"is gone"};
    }
  }
  return Done{};
}

bool PolicyHost::fill() {
  std::array<char, 65'536> buffer;  // NOLINT: filled by recv
  bool something = false;
  // One that never stops talking does not keep us listening.
  for (int part = 0; part < 64; ++part) {
    const ssize_t got = recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) {
      reader_.add({buffer.data(), static_cast<std::size_t>(got)});
      something = true;
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      // Its last messages are read first.
      return something;
    } else if (errno == EAGAIN) {
      break;
    }
  }
  return true;
}

Result<Message> PolicyHost::receive(Clock::time_point until) {
  while (true) {
    Result<std::optional<Message>> next = reader_.next();
    if (!next) return next.error();
    if (*next) return std::move(**next);
    if (!wait_for(socket_, POLLIN, until)) return Error{"did not answer in time"};
    if (!fill()) return Error{"is gone"};
  }
}

Result<Message> PolicyHost::exchange(char kind, const std::string& payload, double seconds,
                                     const Tell& tell) {
  const auto until = seconds_from_now(seconds);
  // What it said unasked would be taken for the answer.
  if (!fill()) return end("is gone");
  if (!reader_.empty()) return end("sent a message that was not asked for");
  Status sent = send(framed(kind, payload), until);
  while (sent) {
    if (Clock::now() > until) return end("did not answer in time");
    Result<Message> said = receive(until);
    if (!said) return end(said.error().message);
    if (said->kind != 'G') {
      deaths_ = 0;
      return said;
    }
    Result<std::string> value = tell(said->payload);
    if (!value) return end(value.error().message);
    sent = send(framed('V', *value), until);
  }
  return end(sent.error().message);
}

std::uint64_t PolicyHost::begin_make(std::string_view kind, const Choice& choice) {
  Json parameters = Json::object();
  for (const auto& [name, value] : choice.params) parameters[name] = value;
  const std::uint64_t number = ++last_number_;
  const std::string text = json_text({{"instance", number},
                                      {"kind", kind},
                                      {"name", choice.name},
                                      {"parameters", std::move(parameters)}});
  const Status sent = send(framed('M', text), seconds_from_now(settings_.time_limit));
  if (!sent) trouble_ = sent.error().message;
  making_.push_back(number);
  settled_by_ = seconds_from_now(settings_.start_limit);
  return number;
}

Result<std::string> PolicyHost::made(std::uint64_t number) {
  const auto found = made_.find(number);
  if (found == made_.end()) return Error{"its process ended before the policy was made"};
  Result<std::string> declared = std::move(found->second);
  made_.erase(found);
  return declared;
}

Result<std::uint64_t> PolicyHost::copy(std::uint64_t of) {
  const std::uint64_t number = ++last_number_;
  Result<Message> said =
      exchange('C', json_text({{"instance", number}, {"of", of}}), settings_.time_limit,
               [](std::string_view) { return Error{"asked for columns before there are any"}; });
  if (!said) return said.error();
  if (said->kind == 'E') return Error{end_of(said->payload)};
  if (said->kind != 'R') return end("broke the protocol");
  return number;
}

void PolicyHost::drop(std::uint64_t number) {
  if (!settled()) return;
  const auto soon = seconds_from_now(0.05);
  if (Status sent = send(framed('D', json_text({{"instance", number}})), soon); !sent) {
    say(fmt::format("policies of {}: {}", file_, end(sent.error().message).message));
  }
}

Result<Message> PolicyHost::ask(std::uint64_t number, const PolicyQuestion& question,
                                const Symbols& symbols) {
  return exchange('Q', question_text(question, number), settings_.time_limit,
                  [&](std::string_view name) { return value_of(question, name, symbols); });
}

}  // namespace muster
