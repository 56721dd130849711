#include "base/params.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const ParamList& list() {
  static const ParamList kList = {
      {"length", ParamKind::kReal, "300", "seconds of a round", 1},
      {"share", ParamKind::kReal, "0.5", "part of it", 0, 1},
      {"limit", ParamKind::kReal, "inf", "seconds at most", 0},
      {"count", ParamKind::kInteger, "3", "how many", 1, 8},
      {"eager", ParamKind::kFlag, "false", "whether to hurry"},
      {"mode", ParamKind::kText, "fair", "how", -1, 1, {"fair", "greedy"}},
      {"note", ParamKind::kText, "", "anything"},
      {"limits", ParamKind::kReals, "", "some numbers", 0},
  };
  return kList;
}

std::string message_for(const std::string& name, const std::string& text) {
  const auto made = Params::make("policy 'x'", list(), {{name, text}});
  EXPECT_FALSE(made) << name << " = " << text;
  return made ? "" : made.error().message;
}

TEST(Params, HoldDefaultsWhereNothingIsGiven) {
  const auto made = Params::make("policy 'x'", list(), {});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->real("length"), 300);
  EXPECT_EQ(made->real("limit"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(made->integer("count"), 3);
  EXPECT_FALSE(made->flag("eager"));
  EXPECT_EQ(made->text("mode"), "fair");
  EXPECT_EQ(made->text("note"), "");
  EXPECT_TRUE(made->reals("limits").empty());
  EXPECT_EQ(made->texts().size(), list().size());
}

TEST(Params, TakeWhatIsGiven) {
  const auto made =
      Params::make("policy 'x'", list(),
                   {{"length", "2.5"}, {"count", "8"}, {"eager", "on"}, {"mode", "greedy"}});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->real("length"), 2.5);
  EXPECT_EQ(made->integer("count"), 8);
  EXPECT_TRUE(made->flag("eager"));
  EXPECT_EQ(made->text("mode"), "greedy");
  EXPECT_EQ(made->texts().at("length"), "2.5");
}

TEST(Params, ListsOfNumbersTakeAnySeparator) {
  for (const char* text : {"1,2.5,3", "1:2.5:3", " 1; 2.5\n3 ,"}) {
    const auto made = Params::make("policy 'x'", list(), {{"limits", text}});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->reals("limits"), (std::vector<double>{1, 2.5, 3})) << text;
    EXPECT_EQ(made->texts().at("limits"), text);
  }
}

TEST(Params, ComplaintsNameOwnerParameterValueAndWhatIsLegal) {
  EXPECT_EQ(message_for("length", "abc"),
            "policy 'x': parameter 'length' is 'abc', but must be a number (seconds of a round)");
  EXPECT_THAT(message_for("length", "0.5"), HasSubstr("must be at least 1"));
  EXPECT_THAT(message_for("length", "nan"), HasSubstr("a number"));
  EXPECT_THAT(message_for("share", "1.5"), HasSubstr("between 0 and 1"));
  EXPECT_THAT(message_for("count", "2.0"), HasSubstr("a whole number"));
  EXPECT_THAT(message_for("count", "9"), HasSubstr("between 1 and 8"));
  EXPECT_THAT(message_for("eager", "maybe"), HasSubstr("true or false"));
  EXPECT_THAT(message_for("mode", "Fair"), HasSubstr("one of fair, greedy"));
  EXPECT_THAT(message_for("limits", "3,x"), HasSubstr("numbers, as in 3250,7200"));
  EXPECT_THAT(message_for("limits", "3,-1"), HasSubstr("numbers at least 0"));
  EXPECT_THAT(message_for("lenght", "3"),
              AllOf(HasSubstr("no parameter 'lenght'"), HasSubstr("did you mean 'length'?")));
}

TEST(Params, OfAPlugInWithoutAny) {
  const auto made = Params::make("policy 'x'", {}, {{"length", "3"}});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "policy 'x' has no parameters, but 'length' was given");
}

}  // namespace
}  // namespace muster
