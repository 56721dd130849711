#include "cli/reference.h"

#include <cctype>

#include <fmt/format.h>

#include "cli/command_page.h"
#include "cli/param_text.h"
#include "run/config/plugins.h"

namespace muster {
namespace {

void write_row(std::string& out, const PluginRow& row) {
  std::string sentence(row.sentence);
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  out += fmt::format("\n### {}\n\n{}.", row.name, sentence);
  if (!row.source.empty()) out += fmt::format(" Source: {}.", row.source);
  out += '\n';
  if (row.params->empty()) return;
  out += "\n| parameter | default | values | meaning |\n|---|---|---|---|\n";
  for (const ParamInfo& info : *row.params) {
    out += fmt::format("| `{}` | `{}` | {} | {} |\n", info.name, table_cell(initial_text(info)),
                       table_cell(range_text(info)), table_cell(info.sentence));
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
    out += fmt::format("\n## {}\n\n{} Option `--{}`, section `{}`.\n", kind.title, kind.sentence,
                       kind.key == "generator" ? "generate" : kind.key,
                       kind.key == "generator" ? "workload.generator" : kind.key);
    for (const PluginRow& row : kind.rows) write_row(out, row);
  }
  return out;
}

}  // namespace muster
