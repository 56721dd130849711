#include "cli/reference.h"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/table.h"
#include "support/paths.h"

namespace muster {
namespace {

TEST(PolicyReference, PageInTheTreeIsUpToDate) {
  std::ifstream file(source_dir() / "docs" / "policy-reference.md");
  ASSERT_TRUE(file) << "docs/policy-reference.md is missing";
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), policy_reference())
      << "write it again with: build/release/muster reference > docs/policy-reference.md";
}

TEST(PolicyReference, NamesEveryPolicy) {
  const std::string page = policy_reference();
  for (const auto& row : scheduling_table()) {
    EXPECT_THAT(page, ::testing::HasSubstr("### " + std::string(row.name) + "\n"));
  }
}

}  // namespace
}  // namespace muster
