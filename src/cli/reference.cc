#include "cli/reference.h"

#include <cctype>

#include <fmt/format.h>

#include "cli/param_text.h"
#include "run/plugins.h"

namespace muster {
namespace {

// Bars would end a cell of a table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

void write_row(std::string& out, const PluginRow& row) {
  std::string sentence(row.sentence);
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  out += fmt::format("\n### {}\n\n{}.", row.name, sentence);
  if (!row.source.empty()) out += fmt::format(" Source: {}.", row.source);
  out += '\n';
  if (row.params->empty()) return;
  out += "\n| parameter | default | values | meaning |\n|---|---|---|---|\n";
  for (const ParamInfo& info : *row.params) {
    out += fmt::format("| `{}` | `{}` | {} | {} |\n", info.name, cell(initial_text(info)),
                       cell(range_text(info)), cell(info.sentence));
  }
}

}  // namespace

std::string policy_reference() {
  std::string out =
      "# Policy reference\n\n"
      "Everything that can be chosen for a run, written from the tables in the code by\n"
      "`muster reference`; `muster policies` shows the same in a terminal. On the command line a\n"
      "choice is `NAME` or `NAME:KEY=VALUE,KEY=VALUE`, in a file also a table with the key `name`\n"
      "and one key per parameter (see [configuration.md](configuration.md)).\n";
  for (const PluginKind& kind : plugin_kinds()) {
    out += fmt::format("\n## {}\n\n{} Option `{}`, section `{}`.\n", kind.title, kind.sentence,
                       kind.option, kind.key == "generator" ? "workload.generator" : kind.key);
    for (const PluginRow& row : kind.rows) write_row(out, row);
  }
  return out;
}

}  // namespace muster
