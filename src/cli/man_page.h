// The man page, written from the command tree in the roff that man(7) describes.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace muster {

std::string man_page(const CommandNode& tree);

}  // namespace muster
