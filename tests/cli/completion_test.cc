#include "cli/completion.h"

#include <gtest/gtest.h>

#include "cli/man_page.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

TEST(CommandTree, HasTheSubcommandsAndTheirOptions) {
  const CommandNode tree = command_tree();
  EXPECT_EQ(tree.name, "muster");
  const CommandNode* simulate = nullptr;
  for (const CommandNode& command : tree.commands) {
    EXPECT_FALSE(command.sentence.empty()) << command.name;
    EXPECT_NE(command.name, "man") << "hidden commands are left out";
    if (command.name == "simulate") simulate = &command;
  }
  ASSERT_NE(simulate, nullptr);
  bool found = false;
  for (const CommandOption& option : simulate->options) {
    if (option.names.back() != "--scheduling") continue;
    found = true;
    EXPECT_TRUE(option.takes_value);
    EXPECT_EQ(option.values.size(), plugin_tables().scheduling.size());
  }
  EXPECT_TRUE(found);
}

TEST(Completion, KnowsEveryCommandAndPolicyInEveryShell) {
  const CommandNode tree = command_tree();
  for (const std::string& script :
       {bash_completion(tree), zsh_completion(tree), fish_completion(tree)}) {
    for (const CommandNode& command : tree.commands) {
      EXPECT_NE(script.find(command.name), std::string::npos) << command.name;
    }
    for (const auto& row : plugin_tables().scheduling) {
      EXPECT_NE(script.find(row.name), std::string::npos) << row.name;
    }
  }
}

TEST(ManPage, NamesEveryCommandAndEscapesWhatRoffWouldTakeForRequests) {
  CommandNode tree = command_tree();
  const std::string page = man_page(tree);
  for (const CommandNode& command : tree.commands) {
    std::string name = command.name;  // roff would take a plain dash for a hyphen
    for (std::size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2) {
      name.insert(at, 1, '\\');
    }
    EXPECT_NE(page.find(".SS muster " + name), std::string::npos) << command.name;
  }
  tree.sentence = ".not a request\\n";
  EXPECT_NE(man_page(tree).find("\\&.not a request\\en"), std::string::npos);
}

}  // namespace
}  // namespace muster
