// docs/command-line.md, written from the parser. A test fails when the page in the tree differs;
// `muster reference commands > docs/command-line.md` writes it again.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace muster {

std::string command_page(const CommandNode& tree);

}  // namespace muster
