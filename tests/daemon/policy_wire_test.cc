#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/outside/recorded_loader.h"
#include "daemon/outside/wire.h"

namespace muster {
namespace {

TEST(PolicyWire, MessagesComeOutWholeHoweverTheyAreCut) {
  const std::string bytes = framed('N', "12345678") + framed('O', "") + framed('W', "hold");
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    MessageReader reader;
    std::string kinds;
    const auto take = [&] {
      for (auto next = reader.next(); next && *next; next = reader.next()) kinds += (*next)->kind;
    };
    reader.add(std::string_view(bytes).substr(0, cut));
    take();
    reader.add(std::string_view(bytes).substr(cut));
    take();
    EXPECT_EQ(kinds, "NOW") << cut;
  }
}

TEST(PolicyWire, RefusesWhatIsTooLongOrEmpty) {
  for (const std::string& bytes : {std::string(4, '\0'), std::string("\xff\xff\xff\xffN")}) {
    MessageReader reader;
    reader.add(bytes);
    EXPECT_FALSE(reader.next());
  }
}

TEST(PolicyWire, DeclarationsReadBack) {
  Declared declared;
  declared.form = "allocate";
  declared.resizes = true;
  declared.quantum = 60.5;
  declared.needs.push_back(*need_named("estimate", "such a job goes last"));
  const auto again = read_declaration(declaration_text(declared));
  ASSERT_TRUE(again);
  EXPECT_EQ(declaration_text(*again), declaration_text(declared));
  EXPECT_EQ(again->needs, declared.needs);
  EXPECT_FALSE(read_declaration("[]"));
  EXPECT_FALSE(read_declaration("{\"form\": 3}"));
  EXPECT_FALSE(need_named("duratoin", ""));
}

TEST(PolicyWire, AnswersAreOfTheKindThatTheFormWants) {
  PolicyAnswer answer;
  EXPECT_TRUE(read_answer({'N', std::string(16, '\0')}, "key", answer));
  EXPECT_EQ(answer.numbers.size(), 2U);
  EXPECT_FALSE(read_answer({'N', std::string(15, '\0')}, "key", answer));
  EXPECT_FALSE(read_answer({'I', std::string(16, '\0')}, "key", answer));
  EXPECT_TRUE(read_answer({'O', ""}, "find", answer));
  EXPECT_TRUE(answer.nothing);
  EXPECT_FALSE(read_answer({'O', ""}, "order", answer));
  EXPECT_TRUE(read_answer({'W', "hold"}, "admit", answer));
  EXPECT_EQ(answer.word, "hold");
}

TEST(PolicyWire, RecordedAnswersReadBackExactly) {
  PolicyAnswer answer;
  answer.numbers = {0.1, -0.0, kNever, -kNever, 1e300, 5e-324};
  auto again = answer_from(nlohmann::json::parse(answer_json(&answer).dump()));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->numbers, answer.numbers);
  answer.clear();
  answer.integers = {3, -1, std::int64_t{1} << 60};
  again = answer_from(nlohmann::json::parse(answer_json(&answer).dump()));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->integers, answer.integers);
  EXPECT_FALSE(answer_from(nlohmann::json::parse(answer_json(nullptr).dump())));
  answer.clear();
  answer.nothing = true;
  EXPECT_TRUE(answer_from(answer_json(&answer))->nothing);
}

}  // namespace
}  // namespace muster
