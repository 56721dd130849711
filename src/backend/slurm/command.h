// Runs a program of Slurm as a child and gives back what it said. No shell is involved, the time
// and the output are bounded, and settings of our environment (SQUEUE_FORMAT and the like) do
// not reach it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

struct CommandLimits {
  double seconds = 10;
  std::size_t bytes = std::size_t{256} << 20;  // of its output
};

struct CommandOutput {
  int status = 0;  // 128 + n for signal n
  std::string out;
  std::string err;
};

// An error where it could not be started, took too long or said too much; it is killed then. That
// it exits with another status than 0 is for the caller to judge.
Result<CommandOutput> run_command(const std::vector<std::string>& words,
                                  const CommandLimits& limits = {}, std::string_view input = {});
// The same, where any status but 0 is an error that quotes what the program complained about.
Result<std::string> output_of(const std::vector<std::string>& words,
                              const CommandLimits& limits = {}, std::string_view input = {});

// The environment that children get: ours, without what changes the programs' habits.
std::vector<std::string> command_environment();

// The first lines of a complaint, on one line and with nothing that upsets a terminal.
std::string complaint(std::string_view text);

}  // namespace muster
