#include "cli/reference.h"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_page.h"
#include "run/config/plugin_tables.h"
#include "support/paths.h"

namespace muster {
namespace {

std::string page_in_the_tree(const std::string& name) {
  std::ifstream file(source_dir() / "docs" / name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(PolicyReference, PageInTheTreeIsUpToDate) {
  EXPECT_EQ(page_in_the_tree("policy-reference.md"), policy_reference())
      << "write it again with: build/release/muster reference > docs/policy-reference.md";
}

TEST(CommandPage, PageInTheTreeIsUpToDate) {
  EXPECT_EQ(page_in_the_tree("command-line.md"), command_page(command_tree()))
      << "write it again with: build/release/muster reference commands > docs/command-line.md";
}

TEST(CommandPage, HasEveryCommandWithItsOptions) {
  const std::string page = command_page(command_tree());
  for (const char* part :
       {"## muster simulate\n", "## muster trace generate\n", "`--seeds`", "| 130 | interrupted"}) {
    EXPECT_THAT(page, ::testing::HasSubstr(part));
  }
}

TEST(PolicyReference, NamesEveryPolicy) {
  const std::string page = policy_reference();
  for (const auto& row : plugin_tables().scheduling) {
    EXPECT_THAT(page, ::testing::HasSubstr("### " + std::string(row.name) + "\n"));
  }
}

}  // namespace
}  // namespace muster
