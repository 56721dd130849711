#include "agent/keeper/job_desk.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace muster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

JobDesk desk_of(bool whole = true) { return JobDesk({7, 3, "secret", whole}); }

void join(JobDesk& desk, int client) {
  ASSERT_TRUE(desk.heard(client, "hello secret " + std::to_string(client), 0));
  desk.take_replies();
}

TEST(JobDesk, GreetsThoseWithTheTokenAndNobodyElse) {
  JobDesk desk = desk_of();
  EXPECT_TRUE(desk.heard(1, "hello secret 0", 0));
  EXPECT_THAT(desk.take_replies(), ElementsAre(Pair(1, "welcome 7 3")));
  EXPECT_TRUE(desk.someone_listens());
  for (const char* line : {"hello wrong 0", "hello secreu 0", "hello secret", "hello secret -1",
                           "hello secret 0 1", "step 4", "", "hello  0"}) {
    EXPECT_FALSE(desk.heard(2, line, 0)) << line;
    const auto replies = desk.take_replies();
    ASSERT_EQ(replies.size(), 1U);
    EXPECT_THAT(replies[0].second, HasSubstr("refused "));
  }
}

TEST(JobDesk, PassesProgressOn) {
  JobDesk desk = desk_of();
  join(desk, 1);
  EXPECT_TRUE(desk.heard(1, "step 12 100", 0));
  EXPECT_TRUE(desk.heard(1, "step 13", 0));
  EXPECT_TRUE(desk.heard(1, "metric loss 0.25", 0));
  EXPECT_TRUE(desk.heard(1, "metric loss nan", 0));  // told, and worth nothing
  EXPECT_TRUE(desk.heard(1, "saved 10", 0));
  EXPECT_THAT(desk.take_news(),
              ElementsAre("step 12 100", "step 13 0", "metric loss 0.25", "saved 10"));
  EXPECT_EQ(desk.step(), 13);
  EXPECT_EQ(desk.saved_step(), 10);
}

TEST(JobDesk, RefusesWhatItCannotRead) {
  for (const char* line :
       {"step", "step x", "step -1", "step 1 2 3", "step 99999999999999999999", "metric",
        "metric a", "metric a b", "metric a/b\"c 1", "dance 1", "", "saved 1 2", "renew 5", "at"}) {
    JobDesk desk = desk_of();
    join(desk, 1);
    EXPECT_FALSE(desk.heard(1, line, 0)) << line;
    EXPECT_THAT(desk.take_replies()[0].second, HasSubstr("refused cannot read"));
    EXPECT_THAT(desk.take_news(), IsEmpty()) << line;
  }
}

TEST(JobDesk, LeasesAreToldAndRenewed) {
  JobDesk desk = desk_of();
  join(desk, 1);
  desk.lease(110, 100);
  EXPECT_THAT(desk.take_replies(), ElementsAre(Pair(1, "lease 10.000")));
  EXPECT_TRUE(desk.heard(1, "renew", 107.5));
  EXPECT_THAT(desk.take_news(), ElementsAre("renew"));
  EXPECT_THAT(desk.take_replies(), ElementsAre(Pair(1, "lease 2.500")));
  desk.lease(200, 108);
  EXPECT_THAT(desk.take_replies(), ElementsAre(Pair(1, "lease 92.000")));
  EXPECT_TRUE(desk.heard(2, "hello secret 1", 110));
  EXPECT_THAT(desk.take_replies(), ElementsAre(Pair(2, "welcome 7 3"), Pair(2, "lease 90.000")));
}

TEST(JobDesk, TheLastStepIsOneBeyondTheFurthest) {
  JobDesk desk = desk_of();
  join(desk, 1);
  join(desk, 2);
  desk.ask_to_leave();
  desk.ask_to_leave();
  EXPECT_THAT(desk.take_replies(), ElementsAre(Pair(1, "where"), Pair(2, "where")));
  EXPECT_TRUE(desk.heard(1, "at 40", 0));
  EXPECT_THAT(desk.take_replies(), IsEmpty());
  EXPECT_TRUE(desk.heard(2, "at 41", 0));
  EXPECT_THAT(desk.take_replies(), ElementsAre(Pair(1, "last 42"), Pair(2, "last 42")));
  // One that joins late hears it at once.
  EXPECT_TRUE(desk.heard(3, "hello secret 2", 0));
  EXPECT_THAT(desk.take_replies(), ElementsAre(Pair(3, "welcome 7 3"), Pair(3, "last 42")));
  EXPECT_FALSE(desk.left());
  EXPECT_TRUE(desk.heard(1, "left 42", 0));
  EXPECT_TRUE(desk.left());
  EXPECT_TRUE(desk.someone_listens());
  EXPECT_TRUE(desk.heard(2, "left 42", 0));
  EXPECT_TRUE(desk.heard(3, "done 42", 0));
  EXPECT_FALSE(desk.someone_listens());
  EXPECT_TRUE(desk.done());
}

TEST(JobDesk, ARankThatHangsUpIsNotWaitedFor) {
  JobDesk desk = desk_of();
  join(desk, 1);
  join(desk, 2);
  desk.ask_to_leave();
  EXPECT_TRUE(desk.heard(1, "at 5", 0));
  desk.take_replies();
  desk.closed(2);
  EXPECT_THAT(desk.take_replies(), ElementsAre(Pair(1, "last 6")));
}

TEST(JobDesk, WithRanksElsewhereTheAnswerGoesUp) {
  JobDesk desk = desk_of(false);
  join(desk, 1);
  desk.ask_to_leave();
  desk.take_replies();
  EXPECT_TRUE(desk.heard(1, "at 5", 0));
  EXPECT_THAT(desk.take_news(), ElementsAre("at 5"));
  EXPECT_THAT(desk.take_replies(), IsEmpty());
  desk.agree(9);
  EXPECT_THAT(desk.take_replies(), ElementsAre(Pair(1, "last 9")));
}

// Ranks that train in step, as in data-parallel training: a step ends when all have begun it. Words
// take any time. All must leave after the same step, and none may be stuck before.
TEST(JobDesk, AllRanksLeaveAfterTheSameStep) {
  struct Rank {
    std::int64_t completed = 0;
    bool inside = false;  // has begun step completed + 1
    std::int64_t limit = std::numeric_limits<std::int64_t>::max();
    std::vector<std::string> mail;
    std::int64_t last = -1;
  };
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed, "last step");
    JobDesk desk = desk_of();
    std::vector<Rank> ranks(1 + random.below(6));
    for (std::size_t r = 0; r < ranks.size(); ++r) join(desk, static_cast<int>(r));
    const std::uint64_t when = random.below(200);
    for (std::uint64_t event = 0; event < 6000; ++event) {
      if (event == when) desk.ask_to_leave();
      for (const auto& [client, line] : desk.take_replies()) ranks[client].mail.push_back(line);
      const std::size_t r = random.below(ranks.size());
      Rank& rank = ranks[r];
      switch (random.below(3)) {
        case 0:  // the listening thread
          if (!rank.mail.empty()) {
            const std::string line = rank.mail.front();
            rank.mail.erase(rank.mail.begin());
            if (line == "where") {
              rank.limit = rank.completed + 1;
              ASSERT_TRUE(
                  desk.heard(static_cast<int>(r), "at " + std::to_string(rank.completed), 0));
            } else {
              rank.last = std::stoll(line.substr(5));
              rank.limit = rank.last;
            }
          }
          break;
        case 1:  // begins its next step
          if (!rank.inside && rank.completed < rank.limit) rank.inside = true;
          break;
        default: {  // ends it, if all others have begun it or are beyond
          bool all = rank.inside;
          for (const Rank& other : ranks) {
            all = all && other.completed + (other.inside ? 1 : 0) > rank.completed;
          }
          if (all) {
            rank.inside = false;
            ++rank.completed;
          }
        }
      }
    }
    for (const Rank& rank : ranks) {
      EXPECT_GE(rank.last, 0) << "seed " << seed;
      EXPECT_EQ(rank.completed, rank.last) << "seed " << seed;
      EXPECT_EQ(rank.last, ranks[0].last) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace muster
