// What the rows of Gavel's policies say of their allocators is what these do, and each has the
// parameters that it reads and no others.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/gavel/rows.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

bool has(const ParamList& params, std::string_view name) {
  return std::any_of(params.begin(), params.end(),
                     [name](const ParamInfo& info) { return info.name == name; });
}

TEST(GavelRows, SayWhatTheirAllocatorsDo) {
  for (const AllocatorInfo& info : allocator_table()) {
    const auto params = Params::make(info.name, allocator_params(info), {});
    ASSERT_TRUE(params) << info.name;
    const AllocatorTraits traits = info.make(*params, program_options(info, *params))->traits();
    EXPECT_EQ(info.packs, traits.pairs) << info.name;
    EXPECT_TRUE(info.draws || traits.knows_types) << info.name << " has types that take turns";
    EXPECT_EQ(info.packs, lists(info.needs, Knowledge::kPairs)) << info.name;
    EXPECT_EQ(round_options(info, *params).optimises, info.solves != Solves::kNothing);
  }
}

TEST(GavelRows, HaveTheParametersThatTheyRead) {
  for (const AllocatorInfo& info : allocator_table()) {
    const ParamList params = allocator_params(info);
    EXPECT_TRUE(has(params, "round") && has(params, "reset_interval")) << info.name;
    EXPECT_EQ(has(params, "prices"), lists(info.needs, Knowledge::kPrices)) << info.name;
    EXPECT_EQ(has(params, "learns"), info.packs) << info.name;
    EXPECT_EQ(has(params, "seed"), info.draws) << info.name;
    EXPECT_EQ(has(params, "solver"), info.solves == Solves::kLinear) << info.name;
    EXPECT_EQ(has(params, "parts"), info.solves != Solves::kNothing) << info.name;
  }
}

TEST(GavelRows, RefuseParametersThatWouldSayNothing) {
  const auto row = find_row("scheduling policy", plugin_tables().scheduling, "gavel-isolated");
  ASSERT_TRUE(row);
  for (const ParamTexts& texts : {ParamTexts{{"learns", "true"}}, ParamTexts{{"prices", "1"}},
                                  ParamTexts{{"solver", "simplex"}}}) {
    const auto params = Params::make("gavel-isolated", (*row)->params, texts);
    ASSERT_FALSE(params) << texts.begin()->first;
    EXPECT_THAT(params.error().message, ::testing::HasSubstr(texts.begin()->first));
  }
}

}  // namespace
}  // namespace muster
