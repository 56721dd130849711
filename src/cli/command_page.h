// docs/command-line.md, written from the parser. A test fails when the page in the tree differs;
// `muster reference commands > docs/command-line.md` writes it again.
#pragma once

#include <string>
#include <string_view>

#include "cli/command_tree.h"

namespace muster {

std::string command_page(const CommandNode& tree);

// A text for a cell of a Markdown table, which a bar would end.
std::string table_cell(std::string_view text);

}  // namespace muster
