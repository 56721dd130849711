// The command with its subcommands and options as plain values, read off the parser: what the man
// page and the shell completions are written from.
#pragma once

#include <string>
#include <vector>

namespace muster {

struct CommandOption {
  std::vector<std::string> names;  // "-s", "--scheduling"; a positional has one without dashes
  std::string sentence;
  std::string group;  // heading in the help
  bool takes_value = false;
  bool positional = false;
  std::vector<std::string> values;  // known values, for completion
};

struct CommandNode {
  std::string name;
  std::string sentence;
  std::string footer;  // examples
  std::vector<CommandOption> options;
  std::vector<CommandNode> commands;
};

// The whole command line of `muster`, hidden commands left out.
CommandNode command_tree();

}  // namespace muster
