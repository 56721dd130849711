#include "cli/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/environment.h"

namespace muster {
namespace {

// Text that must not be taken for requests or escapes.
std::string roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

void append_man_options(std::string& out, const CommandNode& node) {
  for (const CommandOption& option : node.options) {
    std::vector<std::string> names;
    for (const std::string& name : option.names) names.push_back("\\fB" + roff(name) + "\\fR");
    out += fmt::format(".TP\n{}{}\n{}\n", fmt::join(names, ", "),
                       option.takes_value && !option.positional ? " \\fIVALUE\\fR" : "",
                       roff(option.sentence));
  }
}

void append_man_command(std::string& out, const std::string& path, const CommandNode& node) {
  out += fmt::format(".SS muster {}\n{}\n", roff(path), roff(node.sentence));
  append_man_options(out, node);
  if (!node.footer.empty()) out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(trim(node.footer)));
  for (const CommandNode& child : node.commands)
    append_man_command(out, path + " " + child.name, child);
}

}  // namespace

std::string man_page(const CommandNode& tree) {
  std::string out = fmt::format(
      ".TH MUSTER 1 \"\" \"muster {}\" \"User Commands\"\n.SH NAME\n"
      "muster \\- one scheduling core for GPU clusters\n.SH SYNOPSIS\n"
      ".B muster\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n{}\n",
      MUSTER_VERSION, roff(tree.sentence));
  if (!tree.footer.empty()) out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(trim(tree.footer)));
  out += ".SH OPTIONS\n";
  append_man_options(out, tree);
  out += ".SH COMMANDS\n";
  for (const CommandNode& child : tree.commands) append_man_command(out, child.name, child);
  out += ".SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : kEnvironment) {
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", name, meaning);
  }
  out +=
      ".SH EXIT STATUS\n"
      "0 done; 1 failed, or a comparison beyond its tolerance; 2 bad usage or input; 130 "
      "interrupted.\n";
  return out;
}

}  // namespace muster
