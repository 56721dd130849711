// What comes to a keeper through pipes, sockets and signals.
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <fmt/format.h>

#include "agent/keeper/keeper.h"
#include "base/text.h"

namespace muster {

void Keeper::wait_and_serve(int milliseconds) {
  std::vector<pollfd> polls;
  polls.push_back({signals_, POLLIN, 0});
  polls.push_back({place_.failures, POLLIN, 0});
  for (const Child& child : children_) polls.push_back({child.output, POLLIN, 0});
  if (control_) control_->add_polls(polls);
  if (jobs_) jobs_->add_polls(polls);
  // Descriptors of -1 are passed over.
  if (poll(polls.data(), polls.size(), milliseconds) <= 0) return;
  if (polls[0].revents != 0) read_signals();
  if (polls[1].revents != 0) read_failures();
  for (Child& child : children_) read_output(child);
  if (control_) {
    control_->serve(
        polls, [this](int client, std::string_view line) { return heard_control(client, line); },
        [this](int client) { greeted_.erase(client); });
  }
  if (jobs_) {
    jobs_->serve(
        polls,
        [this](int client, std::string_view line) {
          return desk_->heard(client, line, keeper_clock());
        },
        [this](int client) { desk_->closed(client); });
  }
}

void Keeper::read_signals() {
  signalfd_siginfo info{};
  while (read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const auto number = static_cast<int>(info.ssi_signo);
    // Sent when our parent dies; anybody else may send it, too.
    if (number == SIGUSR1 && getppid() != guard_) {
      end_.told_to_stop = true;
      clear("its guard was killed");
    } else if (number == SIGTERM || number == SIGINT) {
      end_.told_to_stop = true;
      stop(order_.grace_seconds, fmt::format("its keeper got signal {}", number));
    }
  }
}

void Keeper::read_failures() {
  if (place_.failures < 0) return;
  StartFailure failure;
  const ssize_t count = read(place_.failures, &failure, sizeof failure);
  if (count == static_cast<ssize_t>(sizeof failure)) {
    end_.started = false;
    clear(fmt::format("rank {} cannot execute {} in {}: {}", failure.rank, place_.program,
                      order_.working_directory, std::strerror(failure.error)));
  } else if (count == 0) {
    close(place_.failures);
    place_.failures = -1;
    if (state_ == State::kStarting) set(State::kRunning);
  }
}

void Keeper::read_output(Child& child) {
  if (child.output < 0) return;
  static std::array<char, 64 << 10> buffer;
  while (true) {
    const ssize_t count = read(child.output, buffer.data(), buffer.size());
    if (count > 0) {
      child.log->write({buffer.data(), static_cast<std::size_t>(count)});
      // One that writes without end must not keep us from everything else.
      if (state_ != State::kOver) return;
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) {
      close(child.output);
      child.output = -1;
    }
    return;
  }
}

bool Keeper::heard_control(int client, std::string_view line) {
  const std::size_t space = line.find(' ');
  const std::string_view verb = line.substr(0, space);
  const std::string_view argument = space == std::string_view::npos ? "" : line.substr(space + 1);
  if (verb == "hello") {
    const std::optional<std::int64_t> generation = parse_integer(argument);
    if (!generation || *generation < 0 || static_cast<std::uint64_t>(*generation) < generation_) {
      control_->send(client, fmt::format("refused generation {}: this launch belongs to {}",
                                         argument, generation_));
      return false;
    }
    // Those who greeted before belong to a daemon that is no more.
    if (static_cast<std::uint64_t>(*generation) > generation_) {
      greeted_.clear();
      // So do their leases: the new one gives its own.
      if (lease_until_ > 0) desk_->lease(std::numeric_limits<double>::infinity(), keeper_clock());
      lease_until_ = 0;
    }
    generation_ = static_cast<std::uint64_t>(*generation);
    greeted_.insert(client);
    contact_ = keeper_clock();
    control_->send(client, state_line());
    return true;
  }
  if (!greeted_.contains(client)) {
    control_->send(client, "refused expected: hello GENERATION");
    return false;
  }
  contact_ = keeper_clock();
  if (command(verb, argument)) return true;
  control_->send(client, fmt::format("refused cannot read '{}'", line.substr(0, 80)));
  return true;
}

bool Keeper::command(std::string_view verb, std::string_view argument) {
  if (verb == "beat") return true;
  if (verb == "go") {
    go();
    return true;
  }
  if (verb == "kill") {
    end_.told_to_stop = true;
    clear("it was killed");
    return true;
  }
  const std::optional<double> number = parse_real(argument);
  if (!number || std::isnan(*number) || *number < 0) return false;
  if (verb == "stop") {
    end_.told_to_stop = true;
    stop(*number, "it was told to stop");
  } else if (verb == "lease") {
    lease_until_ = keeper_clock() + *number;
    desk_->lease(lease_until_, keeper_clock());
  } else if (verb == "last") {
    desk_->agree(static_cast<std::int64_t>(*number));
  } else {
    return false;
  }
  return true;
}

void Keeper::pass_on() {
  if (!desk_) return;
  for (const auto& [client, line] : desk_->take_replies()) {
    if (jobs_) jobs_->send(client, line);
  }
  for (const std::string& line : desk_->take_news()) {
    for (const int client : greeted_) control_->send(client, line);
  }
}

std::string Keeper::state_line() const {
  static constexpr std::array<std::string_view, 6> kNames = {"ready",    "starting", "running",
                                                             "stopping", "clearing", "over"};
  return fmt::format("state {}", kNames[static_cast<std::size_t>(state_)]);
}

}  // namespace muster
