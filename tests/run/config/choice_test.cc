#include "run/config/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/hostile_names.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

Choice choice_of(std::string_view text) {
  const auto choice = parse_choice(text, "--scheduling");
  EXPECT_TRUE(choice) << (choice ? "" : choice.error().message);
  return choice ? *choice : Choice{};
}

TEST(Choice, NameAlone) {
  EXPECT_EQ(choice_of("las").name, "las");
  EXPECT_THAT(choice_of(" las ").params, IsEmpty());
  EXPECT_THAT(choice_of("las:").params, IsEmpty());
}

TEST(Choice, Parameters) {
  const Choice choice = choice_of("las:service=seconds, quantum=600");
  EXPECT_EQ(choice.name, "las");
  EXPECT_THAT(choice.params, ElementsAre(Pair("quantum", "600"), Pair("service", "seconds")));
}

TEST(Choice, QuotedValuesMayHoldCommas) {
  for (const std::string_view text : {R"(gpu-types:speeds="v100=1,k80=0.25",other=2)",
                                      "gpu-types:speeds='v100=1,k80=0.25',other=2"}) {
    EXPECT_THAT(choice_of(text).params,
                ElementsAre(Pair("other", "2"), Pair("speeds", "v100=1,k80=0.25")));
  }
}

TEST(Choice, TextReadsBack) {
  for (const std::string_view text : {"las", "las:quantum=600,service=seconds",
                                      R"(gpu-types:speeds="v100=1,k80=0.25")", "x:empty="}) {
    const Choice choice = choice_of(text);
    EXPECT_EQ(choice_of(choice.text()), choice) << text;
  }
}

TEST(Choice, AnyValueReadsBack) {
  for (const std::string& name : hostile_names()) {
    const Choice choice{"x", {{"first", name}, {"second", name + name}}};
    EXPECT_EQ(choice_of(choice.text()), choice) << choice.text();
  }
}

TEST(Choice, AListNeedsNoQuotes) {
  EXPECT_THAT(choice_of("dlas-gpu:limits=3250,7200").params,
              ElementsAre(Pair("limits", "3250,7200")));
  EXPECT_THAT(choice_of("dlas-gpu:limits=3250,7200,starve=8").params,
              ElementsAre(Pair("limits", "3250,7200"), Pair("starve", "8")));
  EXPECT_THAT(choice_of("las:quantum=600,").params, ElementsAre(Pair("quantum", "600")));
}

TEST(Choice, Mistakes) {
  const auto message = [](std::string_view text) {
    const auto choice = parse_choice(text, "--scheduling");
    return choice ? "" : choice.error().message;
  };
  EXPECT_THAT(message(""), HasSubstr("has no name"));
  EXPECT_THAT(message(":x=1"), HasSubstr("has no name"));
  EXPECT_THAT(message("las:quantum"), HasSubstr("'quantum' in 'las:quantum' is not of the form"));
  EXPECT_THAT(message("las:=3"), HasSubstr("not of the form KEY=VALUE"));
  EXPECT_THAT(message("las:a=1,a=2"), HasSubstr("gives 'a' twice"));
}

TEST(Choice, CompletedFromUsualThenTable) {
  const ParamList list = {{"a", ParamKind::kReal, "1", "first", 0, 10},
                          {"b", ParamKind::kReal, "2", "second", 0, 10},
                          {"c", ParamKind::kReal, "3", "third", 0, 10}};
  const auto complete =
      complete_choice("policy", list, {"x", {{"a", "7"}}}, {{"a", "8"}, {"b", "9"}});
  ASSERT_TRUE(complete) << complete.error().message;
  EXPECT_THAT(complete->params, ElementsAre(Pair("a", "7"), Pair("b", "9"), Pair("c", "3")));
  EXPECT_THAT(shorten_choice(list, *complete).params, ElementsAre(Pair("a", "7"), Pair("b", "9")));
  EXPECT_THAT(complete_choice("policy", list, {"x", {{"a", "11"}}}, {}).error().message,
              HasSubstr("between 0 and 10"));
}

}  // namespace
}  // namespace muster
