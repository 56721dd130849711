#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command_page.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/man_page.h"
#include "cli/reference.h"

namespace muster {

void add_completion_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("completion", "Print the completion script for a shell");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n"
      "  source <(muster completion bash)                              # for this shell\n"
      "  muster completion fish > ~/.config/fish/completions/muster.fish");
  command->callback([shell, &chosen] {
    chosen.run = [shell] {
      const CommandNode tree = command_tree();
      fmt::print("{}", *shell == "bash"  ? bash_completion(tree)
                       : *shell == "zsh" ? zsh_completion(tree)
                                         : fish_completion(tree));
      return kExitOk;
    };
  });
  // For those who package it: not in the help.
  CLI::App* man = app.add_subcommand("man", "Print the man page")->group("");
  man->callback([&chosen] {
    chosen.run = [] {
      fmt::print("{}", man_page(command_tree()));
      return kExitOk;
    };
  });
  // For docs/policy-reference.md and docs/command-line.md.
  CLI::App* reference = app.add_subcommand("reference", "Print a page of the reference")->group("");
  const auto page = std::make_shared<std::string>("policies");
  reference->add_option("PAGE", *page, "policies or commands")
      ->check(CLI::IsMember({"policies", "commands"}));
  reference->callback([page, &chosen] {
    chosen.run = [page] {
      fmt::print("{}", *page == "commands" ? command_page(command_tree()) : policy_reference());
      return kExitOk;
    };
  });
}

}  // namespace muster
