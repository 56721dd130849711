#include "run/config/toml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TomlNode toml_of(std::string_view text) {
  auto node = parse_toml(text, "file.toml");
  EXPECT_TRUE(node) << (node ? "" : node.error().message);
  return node ? std::move(*node) : TomlNode{};
}

TEST(Toml, KeepsTheOrderAndLinesOfTheFile) {
  const TomlNode document = toml_of("z = 1\na = \"x\"\n\n[m]\nq = true\nb = 2.5\n");
  std::vector<std::string> names;
  for (const auto& [name, node] : document.members) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("z", "a", "m"));
  const TomlNode* table = document.find("m");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->members[0].name, "q");
  EXPECT_EQ(table->find("b")->line, 6);
  EXPECT_EQ(table->find("b")->text, "2.5");
}

TEST(Toml, SyntaxErrorsNameTheirPlace) {
  const auto broken = parse_toml("a = 1\nb = = 2\n", "file.toml");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("file.toml, line 2, column"));
}

TEST(Toml, UnknownMembersGetTheNearestName) {
  const TomlNode document = toml_of("rate = 1\nratio = 2\n\nsped = 3\n");
  TomlReader reader(document, "file.toml", "workload");
  double rate = 0;
  double speed = 0;
  reader.read("rate", rate);
  reader.read("ratio", rate);
  reader.read("speed", speed);
  const Status status = reader.finish();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("file.toml, line 4"));
  EXPECT_THAT(status.error().message, HasSubstr("did you mean 'speed'"));
  EXPECT_THAT(status.error().message, HasSubstr("[workload]"));
}

TEST(Toml, WrongKindsAreTold) {
  const TomlNode document = toml_of("a = \"ten\"\nb = 2.5\nc = 7\nd = [1]\n");
  const auto message = [&](auto read) {
    TomlReader reader(document, "file.toml");
    read(reader);
    const Status status = reader.finish();
    return status ? "" : status.error().message;
  };
  double real = 0;
  long long whole = 0;
  bool flag = false;
  EXPECT_THAT(message([&](TomlReader& r) { r.read("a", real); }),
              HasSubstr("line 1: 'a' is 'ten', but must be a number"));
  EXPECT_THAT(message([&](TomlReader& r) { r.read("b", whole); }), HasSubstr("a whole number"));
  EXPECT_THAT(message([&](TomlReader& r) { r.read("c", flag); }), HasSubstr("true or false"));
  EXPECT_THAT(message([&](TomlReader& r) { r.read("d", real); }),
              HasSubstr("'d' must be a number"));
}

TEST(Toml, NanIsNoNumber) {
  const TomlNode document = toml_of("a = nan\n");
  TomlReader reader(document, "file.toml");
  double real = 0;
  reader.read("a", real);
  EXPECT_FALSE(reader.finish());
}

TEST(Toml, RestBecomesParameters) {
  const TomlNode document = toml_of("name = \"x\"\na = 1\nb = [\"u\", \"v\"]\nc = 1e-3\nd = inf\n");
  TomlReader reader(document, "file.toml");
  std::string name;
  reader.read("name", name);
  ParamTexts params;
  reader.read_rest(params);
  ASSERT_TRUE(reader.finish());
  EXPECT_THAT(params,
              ElementsAre(Pair("a", "1"), Pair("b", "u,v"), Pair("c", "0.001"), Pair("d", "inf")));
}

TEST(Toml, SettingsArePaths) {
  const auto setting = toml_setting("failures.node_mtbf = 60");
  ASSERT_TRUE(setting);
  const TomlNode* failures = setting->find("failures");
  ASSERT_NE(failures, nullptr);
  EXPECT_EQ(failures->find("node_mtbf")->text, "60");
  const auto table = toml_setting("prices.table={v100=2, \"rtx 6000\" = 0.5}");
  ASSERT_TRUE(table) << table.error().message;
  const TomlNode* prices = table->find("prices")->find("table");
  ASSERT_EQ(prices->members.size(), 2U);
  EXPECT_EQ(prices->find("v100")->text, "2");
  EXPECT_EQ(prices->find("rtx 6000")->text, "0.5");
  EXPECT_THAT(toml_setting("prices.table={v100=2").error().message,
              ::testing::HasSubstr("--set prices.table={v100=2, line 1"));
  EXPECT_FALSE(toml_setting("no equals"));
  EXPECT_FALSE(toml_setting("=3"));
}

TEST(Toml, WrittenScalarsReadBack) {
  for (const std::string text : {"1", "0.05", "inf", "true", "seconds", "1:0.7,2:0.1", "",
                                 "a\"b\\c\n", "007", "1e300", "+5", "0x10", "-3", "nan"}) {
    const TomlNode document = toml_of("x = " + toml_scalar(text) + "\n");
    ASSERT_NE(document.find("x"), nullptr) << text;
    EXPECT_EQ(document.find("x")->text, text);
  }
}

TEST(Toml, DocumentsReadBack) {
  const TomlNode document =
      toml_of("[[nodes]]\ncount = 2\ntype = \"v100\"\n[[nodes]]\ncount = 1\n");
  const std::string text = toml_document(document);
  const TomlNode again = toml_of(text);
  EXPECT_EQ(toml_document(again), text);
  ASSERT_NE(again.find("nodes"), nullptr);
  EXPECT_EQ(again.find("nodes")->items.size(), 2U);
  EXPECT_EQ(again.find("nodes")->items[0].find("type")->text, "v100");
}

}  // namespace
}  // namespace muster
