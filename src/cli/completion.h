// Shell completions, written from the command tree: subcommands, options, names of plug-ins; file
// names everywhere else.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace muster {

std::string bash_completion(const CommandNode& tree);
std::string zsh_completion(const CommandNode& tree);
std::string fish_completion(const CommandNode& tree);

}  // namespace muster
