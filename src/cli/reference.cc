#include "cli/reference.h"

#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_page.h"
#include "cli/param_text.h"
#include "policy/abilities.h"
#include "run/config/declarations.h"
#include "run/config/plugins.h"

namespace muster {
namespace {

std::vector<std::string> need_texts(const Declaration& declaration) {
  std::vector<std::string> texts;
  for (const Need& need : declaration.needs) texts.push_back(need_text(need));
  return texts;
}

// What the policy needs and does, and which parameters change that.
void write_declaration(std::string& out, std::string_view kind, std::string_view name) {
  const auto row = declared_row(kind, name);
  if (!row) return;
  const auto write = [&out](const Declaration& declared) {
    if (!declared.needs.empty()) {
      out += fmt::format("Needs: {}. ", fmt::join(need_texts(declared), "; "));
    }
    if (!declared.does.empty()) out += fmt::format("Does: {}. ", fmt::join(declared.does, ", "));
    if (declared.needs.empty() && declared.does.empty()) out += "Needs nothing. ";
    out.pop_back();
    out += '\n';
  };
  if (row->usual.needs.empty() && row->usual.does.empty() && row->variants.empty()) return;
  out += '\n';
  write(row->usual);
  for (const DeclaredVariant& variant : row->variants) {
    out += fmt::format("\nWith `{}`: ", variant.setting);
    write(variant.declaration);
  }
}

void write_row(std::string& out, std::string_view kind, const PluginRow& row) {
  std::string sentence(row.sentence);
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  out += fmt::format("\n### {}\n\n{}.", row.name, sentence);
  if (!row.source.empty()) out += fmt::format(" Source: {}.", row.source);
  out += '\n';
  write_declaration(out, kind, row.name);
  if (row.params->empty()) return;
  out += "\n| parameter | default | values | meaning |\n|---|---|---|---|\n";
  for (const ParamInfo& info : *row.params) {
    out += fmt::format("| `{}` | `{}` | {} | {} |\n", info.name, table_cell(initial_text(info)),
                       table_cell(range_text(info)), table_cell(info.sentence));
  }
}

template <typename Traits>
void write_abilities(std::string& out, std::span<const Ability<Traits>> abilities) {
  for (const Ability<Traits>& ability : abilities) {
    out += fmt::format("| {} | {} |\n", ability.name, ability.sentence);
  }
}

void write_words(std::string& out) {
  out +=
      "\n## What policies need and do\n\n"
      "Every policy declares what it needs to know and what it does; what follows uses these "
      "words.\nA run says which needs its inputs do not meet.\n\n"
      "| a policy needs | that is |\n|---|---|\n";
  for (const KnowledgeInfo& info : knowledge_list()) {
    out += fmt::format("| {} | {} |\n", info.name, info.sentence);
  }
  out += "\n| a scheduling policy | that is, it |\n|---|---|\n";
  write_abilities(out, scheduling_abilities());
  out += "\n| a placement policy | that is, it |\n|---|---|\n";
  write_abilities(out, placement_abilities());
}

// Systems that several policies are called after: which of them is which.
void write_systems(std::string& out) {
  std::map<std::string_view, std::vector<const PluginRow*>> systems;
  for (const PluginKind& kind : plugin_kinds()) {
    for (const PluginRow& row : kind.rows) {
      if (!row.system.empty()) systems[row.system].push_back(&row);
    }
  }
  out +=
      "\n## Which Tiresias, Gandiva, Themis\n\n"
      "Some systems exist in several forms, as their authors and others have written them.\n\n"
      "| system | policy | form |\n|---|---|---|\n";
  for (const auto& [system, rows] : systems) {
    for (const PluginRow* row : rows) {
      out += fmt::format("| {} | [{}](#{}) | {} |\n", system, row->name, row->name,
                         table_cell(row->form));
    }
  }
}

// Rules that no system is called after and that exist twice: as meant, and as one simulator has
// them.
void write_pairs(std::string& out) {
  constexpr std::string_view kAsCoded = "-as-coded";
  out +=
      "\nThese exist twice, too: as they are meant, and with the habits of one simulator.\n\n"
      "| kind | as meant | as coded | whose |\n|---|---|---|---|\n";
  for (const PluginKind& kind : plugin_kinds()) {
    for (const PluginRow& row : kind.rows) {
      if (!row.system.empty() || !row.name.ends_with(kAsCoded)) continue;
      const std::string_view general = row.name.substr(0, row.name.size() - kAsCoded.size());
      const bool known = std::any_of(kind.rows.begin(), kind.rows.end(),
                                     [&](const PluginRow& other) { return other.name == general; });
      if (!known) continue;
      out += fmt::format("| {} | {} | [{}](#{}) | {} |\n", kind.key, general, row.name, row.name,
                         table_cell(row.source));
    }
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
  write_words(out);
  write_systems(out);
  write_pairs(out);
  for (const PluginKind& kind : plugin_kinds()) {
    out += fmt::format("\n## {}\n\n{} Option `{}`, section `{}`.\n", kind.title, kind.sentence,
                       kind.option, kind.key == "generator" ? "workload.generator" : kind.key);
    for (const PluginRow& row : kind.rows) write_row(out, kind.key, row);
  }
  return out;
}

}  // namespace muster
