// Who gets in and how often, in the small: addresses, purses, tokens on a disk that fails.
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/api/tokens.h"
#include "daemon/http/http.h"
#include "daemon/memory_store.h"
#include "daemon/rate_limit.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

TEST(HostPort, IsTakenApartOrRefused) {
  const auto both = [](std::string_view text) {
    const auto found = parse_host_port(text, "443");
    return found ? found->host + " " + found->port : "refused";
  };
  EXPECT_EQ(both("0.0.0.0:8443"), "0.0.0.0 8443");
  EXPECT_EQ(both("gpus.example.org"), "gpus.example.org 443");
  EXPECT_EQ(both("[::1]:8443"), "::1 8443");
  EXPECT_EQ(both("[::1]"), "::1 443");
  for (const char* text : {"", ":8443", "host:", "host:x", "host:65536", "host:-1", "::1:8443",
                           "[::1", "[]:1", "a:b:1"}) {
    EXPECT_EQ(both(text), "refused") << text;
  }
  EXPECT_FALSE(parse_host_port("host"));  // where no port is usual
}

TEST(RateLimit, LetsBurstsThroughAndFillsWithTime) {
  RateLimit limit(10);
  int allowed = 0;
  for (int i = 0; i < 100; ++i) allowed += limit.allow("ada", 0) ? 1 : 0;
  EXPECT_EQ(allowed, 50);  // five seconds' worth
  EXPECT_TRUE(limit.allow("bob", 0));
  EXPECT_FALSE(limit.allow("ada", 0.05));
  EXPECT_TRUE(limit.allow("ada", 0.15));
  EXPECT_FALSE(limit.allow("ada", 0.15));
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(limit.allow("ada", 1000));
  EXPECT_FALSE(limit.allow("ada", 1000));
}

class TokensTest : public ::testing::Test {
 protected:
  std::string create(double seconds = 100) {
    std::promise<std::string> made;
    tokens_.create("ada", false, 1000, seconds,
                   [&](const Result<std::string>& token) { made.set_value(token ? *token : ""); });
    return made.get_future().get();
  }
  bool revoke(const std::string& name, const std::string& user) {
    std::promise<bool> done;
    if (!tokens_.revoke(name, user, [&](const Status& status) { done.set_value(bool(status)); })) {
      return false;
    }
    return done.get_future().get();
  }

  std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
  MemoryStore store_{disk_};
  Committer committer_{store_};
  Tokens tokens_{committer_};
};

TEST_F(TokensTest, AreGoodUntilTheyExpireOrAreRevoked) {
  const std::string token = create();
  EXPECT_EQ(tokens_.find(token, 1000)->user, "ada");
  EXPECT_TRUE(tokens_.find(token, 1099));
  EXPECT_FALSE(tokens_.find(token, 1100));
  EXPECT_FALSE(tokens_.find(token + "0", 1000));
  const std::string name = tokens_.list("ada").front().name;
  EXPECT_TRUE(tokens_.list("bob").empty());
  EXPECT_FALSE(revoke(name, "bob"));
  EXPECT_TRUE(tokens_.find(token, 1000));
  EXPECT_TRUE(revoke(name, "ada"));
  EXPECT_FALSE(tokens_.find(token, 1000));
}

TEST_F(TokensTest, TheStoreKnowsThemAndNotTheirSecrets) {
  const std::string token = create();
  EXPECT_THAT(disk_->users.at("ada").settings, HasSubstr(token.substr(7, 8)));
  EXPECT_THAT(disk_->users.at("ada").settings, testing::Not(HasSubstr(token.substr(16))));
  Tokens again(committer_);
  ASSERT_TRUE(again.load({disk_->users.at("ada")}));
  EXPECT_TRUE(again.find(token, 1000));
  EXPECT_FALSE(Tokens(committer_).load({StoredUser{"ada", "user", "damaged"}}));
}

TEST_F(TokensTest, WhatIsNotDurableHasNotHappened) {
  const std::string token = create();
  disk_->full = true;
  EXPECT_EQ(create(), "");
  EXPECT_EQ(tokens_.list("").size(), 1U);
  EXPECT_FALSE(revoke(tokens_.list("").front().name, ""));
  EXPECT_TRUE(tokens_.find(token, 1000));  // a restart would find it good: so it is
  disk_->full = false;
  EXPECT_TRUE(revoke(tokens_.list("").front().name, ""));
}

}  // namespace
}  // namespace muster
