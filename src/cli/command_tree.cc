#include "cli/command_tree.h"

#include <CLI/CLI.hpp>

#include "cli/app.h"
#include "cli/commands.h"
#include "run/config/plugins.h"

namespace muster {
namespace {

// Values that an option is known to take: names of plug-ins.
std::vector<std::string> known_values(const std::string& name) {
  std::vector<std::string> values;
  const std::string_view kind =
      name == "--generate" ? "generator" : std::string_view(name).substr(2);
  for (const PluginKind& plugins : plugin_kinds()) {
    if (plugins.key != kind) continue;
    for (const PluginRow& row : plugins.rows) values.emplace_back(row.name);
  }
  return values;
}

CommandOption read_option(const CLI::Option& option) {
  CommandOption result;
  result.sentence = option.get_description();
  result.group = option.get_group();
  result.takes_value = option.get_items_expected_max() > 0;
  result.positional = option.get_positional();
  if (result.positional) {
    result.names.push_back(option.get_name(true));
    return result;
  }
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) {
    result.names.push_back("--" + name);
    if (result.values.empty()) result.values = known_values("--" + name);
  }
  return result;
}

CommandNode read_command(const CLI::App& app) {
  CommandNode node;
  node.name = app.get_name();
  node.sentence = app.get_description();
  node.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) node.options.push_back(read_option(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty() && !command->get_name().empty()) {
      node.commands.push_back(read_command(*command));
    }
  }
  return node;
}

}  // namespace

CommandNode command_tree() {
  Chosen chosen;
  return read_command(*make_app(chosen));
}

}  // namespace muster
