#include "backend/slurm/command.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include "backend/slurm/child.h"

extern char** environ;

namespace muster {
namespace {

using CommandClock = std::chrono::steady_clock;

int milliseconds_until(CommandClock::time_point end) {
  const auto left = std::chrono::duration<double, std::milli>(end - CommandClock::now()).count();
  return static_cast<int>(std::ceil(std::clamp(left, 0.0, 3.6e6)));
}

// Hands over a part of the input; closes it when all of it is there or the reader has gone.
void feed(Child& child, std::string_view& input) {
  const ssize_t count = input.empty() ? 0 : write(child.in.get(), input.data(), input.size());
  if (count > 0) input.remove_prefix(static_cast<std::size_t>(count));
  const bool gone = count < 0 && errno != EAGAIN && errno != EINTR;
  if (input.empty() || gone) child.in.close();
}

bool changes_habits(std::string_view variable) {
  for (const std::string_view name : {"SBATCH_", "SQUEUE_", "SINFO_", "SALLOC_", "SACCT_"}) {
    if (variable.starts_with(name)) return true;
  }
  return variable.starts_with("LC_ALL=") ||
         (variable.starts_with("SLURM_") && !variable.starts_with("SLURM_CONF="));
}

}  // namespace

std::vector<std::string> command_environment() {
  std::vector<std::string> variables = {"LC_ALL=C"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!changes_habits(*entry)) variables.emplace_back(*entry);
  }
  return variables;
}

std::string complaint(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool plain = static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
    if (plain) {
      line += c;
    } else if (!line.empty() && !line.ends_with(' ')) {
      line += ' ';
    }
    if (line.size() >= 300) break;
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

Result<CommandOutput> run_command(const std::vector<std::string>& words,
                                  const CommandLimits& limits, std::string_view input) {
  Result<Child> started = start_child(words, false);
  if (!started) return started.error();
  Child& child = *started;
  const auto end = CommandClock::now() + std::chrono::duration_cast<CommandClock::duration>(
                                             std::chrono::duration<double>(limits.seconds));
  CommandOutput output;
  feed(child, input);
  while (true) {
    std::array<pollfd, 4> polls = {{{child.alive.get(), POLLIN, 0},
                                    {child.out.get(), POLLIN, 0},
                                    {child.err.get(), POLLIN, 0},
                                    {child.in.get(), POLLOUT, 0}}};
    const int ready = poll(polls.data(), polls.size(), milliseconds_until(end));
    if (ready < 0 && errno != EINTR) return Error{fmt::format("{}: poll failed", words[0])};
    if (polls[3].revents != 0) feed(child, input);
    const bool ended = polls[0].revents != 0;
    // What a child of the child may still write is not waited for.
    if (child.out.open() && !read_some(child.out, output.out)) child.out.close();
    if (child.err.open() && !read_some(child.err, output.err)) child.err.close();
    if (output.out.size() + output.err.size() > limits.bytes) {
      return Error{fmt::format("{} said more than {} bytes and was ended", words[0], limits.bytes)};
    }
    if (ended) break;
    if (CommandClock::now() >= end) {
      return Error{fmt::format("{} did not answer within {} s", words[0], limits.seconds)};
    }
  }
  output.status = child.reap();
  return output;
}

Result<std::string> output_of(const std::vector<std::string>& words, const CommandLimits& limits,
                              std::string_view input) {
  Result<CommandOutput> output = run_command(words, limits, input);
  if (!output) return output.error();
  if (output->status != 0) {
    const std::string why = complaint(output->err.empty() ? output->out : output->err);
    return Error{fmt::format("{} ended with status {}: {}", words[0], output->status, why)};
  }
  return std::move(output->out);
}

}  // namespace muster
