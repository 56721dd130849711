#include "cli/command_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/environment.h"

namespace muster {
namespace {

constexpr std::string_view kOpening =
    "# The command line\n"
    "\n"
    "Written from the parser by `muster reference commands`; `muster COMMAND --help` shows the "
    "same\n"
    "in a terminal. Results go to standard output, progress and complaints to standard error; "
    "colour\n"
    "and progress bars appear on a terminal only. What runs describe and how files are written is "
    "in\n"
    "[configuration.md](configuration.md), what results hold in [results.md](results.md).\n"
    "\n"
    "| exit status | meaning |\n"
    "|---|---|\n"
    "| 0 | done |\n"
    "| 1 | failed while running, or a comparison beyond its tolerance |\n"
    "| 2 | wrong usage, or a file that cannot be read or understood |\n"
    "| 130 | interrupted; what was complete is kept, nothing half-written passes for a result |\n"
    "\n"
    "| variable | meaning |\n"
    "|---|---|\n";

void append_options(std::string& out, const CommandNode& node) {
  if (node.options.empty()) return;
  out += "\n| option | meaning |\n|---|---|\n";
  for (const CommandOption& option : node.options) {
    std::vector<std::string> names;
    for (const std::string& name : option.names) names.push_back("`" + name + "`");
    out += fmt::format("| {} | {} |\n", fmt::join(names, ", "), table_cell(option.sentence));
  }
}

void append_command(std::string& out, const std::string& path, const CommandNode& node) {
  const bool leaf = node.commands.empty();
  out += fmt::format("\n## muster {}\n\n{}.\n", path, node.sentence);
  if (leaf) append_options(out, node);
  if (!node.footer.empty()) out += fmt::format("\n```\n{}\n```\n", trim(node.footer));
  for (const CommandNode& child : node.commands) {
    append_command(out, path + " " + child.name, child);
  }
}

}  // namespace

std::string command_page(const CommandNode& tree) {
  std::string out(kOpening);
  for (const auto& [name, meaning] : kEnvironment) {
    out += fmt::format("| `{}` | {} |\n", name, meaning);
  }
  for (const CommandNode& child : tree.commands) append_command(out, child.name, child);
  return out;
}

std::string table_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace muster
