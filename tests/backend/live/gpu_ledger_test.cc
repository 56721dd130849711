#include "backend/live/gpu_ledger.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "support/gpus_on.h"

namespace muster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunId run(std::uint32_t job, std::uint32_t launch = 1) { return {JobId{job}, launch}; }

GpuLedger two_nodes() {
  GpuLedger ledger;
  ledger.add_node(NodeId{0}, 4);
  ledger.add_node(NodeId{1}, 4);
  return ledger;
}

TEST(GpuLedger, APromiseWaitsUntilTheHolderHasLeft) {
  GpuLedger ledger = two_nodes();
  ASSERT_TRUE(ledger.promise(run(1), gpus_on(0, 0b0011), Sharing::kExclusive));
  EXPECT_THAT(ledger.grant(), ElementsAre(run(1)));
  ASSERT_TRUE(ledger.promise(run(2), gpus_on(0, 0b0110), Sharing::kExclusive));
  EXPECT_THAT(ledger.grant(), IsEmpty());
  ledger.leave(run(1));
  EXPECT_THAT(ledger.grant(), IsEmpty());  // told to leave is not gone
  EXPECT_TRUE(ledger.holds(run(1)));
  ledger.release(run(1));
  EXPECT_THAT(ledger.grant(), ElementsAre(run(2)));
  EXPECT_THAT(ledger.holders(NodeId{0}, 1), ElementsAre(run(2)));
  EXPECT_THAT(ledger.holders(NodeId{0}, 0), IsEmpty());
}

TEST(GpuLedger, SharedRunsMeetOnAGpuAndExclusiveOnesDoNot) {
  GpuLedger ledger = two_nodes();
  ASSERT_TRUE(ledger.promise(run(1), gpus_on(0, 1), Sharing::kShared));
  ASSERT_TRUE(ledger.promise(run(2), gpus_on(0, 1), Sharing::kShared));
  ASSERT_TRUE(ledger.promise(run(3), gpus_on(0, 1), Sharing::kExclusive));
  EXPECT_THAT(ledger.grant(), ElementsAre(run(1), run(2)));
  EXPECT_THAT(ledger.holders(NodeId{0}, 0), ElementsAre(run(1), run(2)));
  ledger.release(run(1));
  EXPECT_THAT(ledger.grant(), IsEmpty());
  ledger.release(run(2));
  EXPECT_THAT(ledger.grant(), ElementsAre(run(3)));
}

TEST(GpuLedger, WhoIsJoinedSharesFromThenOn) {
  GpuLedger ledger = two_nodes();
  ASSERT_TRUE(ledger.promise(run(1), gpus_on(0, 0b011), Sharing::kExclusive));
  ASSERT_TRUE(ledger.promise(run(2), gpus_on(0, 0b100), Sharing::kExclusive));
  ASSERT_EQ(ledger.grant().size(), 2U);
  ledger.leave(run(2));
  EXPECT_THAT(ledger.join(gpus_on(0, 0b110)), ElementsAre(run(1)));
  EXPECT_THAT(ledger.join(gpus_on(0, 0b110)), IsEmpty());  // nothing more changes
  ASSERT_TRUE(ledger.promise(run(3), gpus_on(0, 0b010), Sharing::kShared));
  ASSERT_TRUE(ledger.promise(run(4), gpus_on(0, 0b100), Sharing::kShared));
  EXPECT_THAT(ledger.grant(), ElementsAre(run(3)));  // one that leaves is not joined
}

TEST(GpuLedger, AThirdSharerWaitsForTheOneItReplaces) {
  GpuLedger ledger = two_nodes();
  ASSERT_TRUE(ledger.promise(run(1), gpus_on(0, 1), Sharing::kShared));
  ASSERT_TRUE(ledger.promise(run(2), gpus_on(0, 1), Sharing::kShared));
  ASSERT_EQ(ledger.grant().size(), 2U);
  ledger.leave(run(2));
  ASSERT_TRUE(ledger.promise(run(3), gpus_on(0, 1), Sharing::kShared));
  EXPECT_THAT(ledger.grant(), IsEmpty());
  ledger.release(run(2));
  EXPECT_THAT(ledger.grant(), ElementsAre(run(3)));
}

TEST(GpuLedger, PromisesForOneGpuAreKeptInOrder) {
  GpuLedger ledger = two_nodes();
  ASSERT_TRUE(ledger.promise(run(1), gpus_on(0, 0b0001), Sharing::kExclusive));
  ASSERT_EQ(ledger.grant().size(), 1U);
  ASSERT_TRUE(ledger.promise(run(2), gpus_on(0, 0b0011), Sharing::kExclusive));
  ASSERT_TRUE(
      ledger.promise(run(3), gpus_on(0, 0b0010), Sharing::kExclusive));  // free, but promised
  EXPECT_THAT(ledger.grant(), IsEmpty());
  EXPECT_EQ(ledger.waiting(), 2U);
  ledger.release(run(2));  // withdrawn
  EXPECT_THAT(ledger.grant(), ElementsAre(run(3)));
}

TEST(GpuLedger, WhatIsFoundOnAGpuIsRecordedAndCollisionsNamed) {
  GpuLedger ledger = two_nodes();
  GpuSet both = gpus_on(0, 0b1);
  both.add(NodeId{1}, 0b1);
  const auto first = ledger.seize(run(1), both, Sharing::kExclusive);
  ASSERT_TRUE(first);
  EXPECT_THAT(*first, IsEmpty());
  const auto second = ledger.seize(run(2), gpus_on(1, 0b11), Sharing::kShared);
  ASSERT_TRUE(second);
  EXPECT_THAT(*second, ElementsAre(run(1)));
  ASSERT_TRUE(ledger.promise(run(3), gpus_on(1, 0b1), Sharing::kExclusive));
  ledger.release(run(1));
  EXPECT_THAT(ledger.grant(), IsEmpty());
  ledger.release(run(2));
  EXPECT_THAT(ledger.grant(), ElementsAre(run(3)));
}

TEST(GpuLedger, RefusesWhatIsNotThere) {
  GpuLedger ledger = two_nodes();
  const Status beyond = ledger.promise(run(1), gpus_on(1, 0b10000), Sharing::kExclusive);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().message, "job 1, launch 1: GPU 4 of node 1, which has 4");
  EXPECT_FALSE(ledger.promise(run(1), gpus_on(9, 1), Sharing::kExclusive));
  EXPECT_FALSE(ledger.promise(run(1), GpuSet{}, Sharing::kExclusive));
  EXPECT_FALSE(ledger.seize(run(1), gpus_on(9, 1), Sharing::kExclusive));
  ASSERT_TRUE(ledger.promise(run(1), gpus_on(1, 1), Sharing::kExclusive));
  const Status again = ledger.promise(run(1), gpus_on(1, 2), Sharing::kExclusive);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("already in the ledger"));
  GpuSet twice = gpus_on(0, 1);
  twice.add(NodeId{0}, 2);
  EXPECT_FALSE(ledger.promise(run(2), twice, Sharing::kExclusive));
  ledger.release(run(44));  // said twice, or of another life
  EXPECT_TRUE(ledger.promise(run(5), gpus_on(0, 1), Sharing::kExclusive));
}

// What the world looks like, told by grants and releases alone; it knows nothing of the ledger.
class Oracle {
 public:
  void promised(RunId id, GpuSet gpus, Sharing sharing) {
    Promise promise{std::move(gpus), sharing, {}};
    for (const RunId holder : holders_of(promise.gpus)) {
      if (leaving_.contains(holder) || !share(promise, told_.at(holder))) {
        promise.after.insert(holder);
      }
    }
    for (const RunId earlier : waiting_) {
      if (overlap(told_.at(earlier).gpus, promise.gpus) && !share(promise, told_.at(earlier))) {
        promise.after.insert(earlier);
      }
    }
    waiting_.push_back(id);
    told_.emplace(id, std::move(promise));
  }
  void granted(RunId id, std::uint64_t seed) {
    const Promise& promise = told_.at(id);
    ASSERT_TRUE(std::find(waiting_.begin(), waiting_.end(), id) != waiting_.end()) << seed;
    for (const RunId before : promise.after) {
      EXPECT_FALSE(told_.contains(before))
          << "seed " << seed << ": granted before one it waits for";
    }
    for (const RunId holder : holders_of(promise.gpus)) {
      EXPECT_TRUE(share(promise, told_.at(holder))) << "seed " << seed << ": a GPU twice";
    }
    std::erase(waiting_, id);
    holding_.insert(id);
  }
  void leaving(RunId id) { leaving_.insert(id); }
  void gone(RunId id) {
    told_.erase(id);
    holding_.erase(id);
    leaving_.erase(id);
    std::erase(waiting_, id);
  }
  // Nobody waits for nothing.
  void check_progress(std::uint64_t seed) const {
    for (const RunId id : waiting_) {
      const Promise& promise = told_.at(id);
      bool reason = false;
      for (const RunId before : promise.after) reason |= told_.contains(before);
      for (const RunId holder : holders_of(promise.gpus)) {
        reason |= leaving_.contains(holder) || !share(promise, told_.at(holder));
      }
      EXPECT_TRUE(reason) << "seed " << seed << ": job " << index(id.job) << " waits for nothing";
    }
  }
  std::vector<RunId> holding() const { return {holding_.begin(), holding_.end()}; }
  const std::vector<RunId>& waiting() const { return waiting_; }

 private:
  struct Promise {
    GpuSet gpus;
    Sharing sharing;
    std::set<RunId> after;
  };
  static bool share(const Promise& a, const Promise& b) {
    return a.sharing == Sharing::kShared && b.sharing == Sharing::kShared;
  }
  static bool overlap(const GpuSet& a, const GpuSet& b) {
    for (int i = 0; i < a.nodes(); ++i) {
      for (int j = 0; j < b.nodes(); ++j) {
        if (a[i].node == b[j].node && (a[i].mask & b[j].mask) != 0) return true;
      }
    }
    return false;
  }
  std::vector<RunId> holders_of(const GpuSet& gpus) const {
    std::vector<RunId> found;
    for (const RunId id : holding_) {
      if (overlap(told_.at(id).gpus, gpus)) found.push_back(id);
    }
    return found;
  }

  std::map<RunId, Promise> told_;
  std::vector<RunId> waiting_;
  std::set<RunId> holding_;
  std::set<RunId> leaving_;
};

GpuSet random_gpus(Random& random) {
  GpuSet gpus;
  const std::uint64_t nodes = 1 + random.below(3);
  for (std::uint32_t node = 0; node < nodes; ++node) gpus.add(NodeId{node}, 1 + random.below(255));
  return gpus;
}

TEST(GpuLedger, RandomLivesNeverBookAGpuTwiceAndNobodyWaitsForNothing) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed, "gpu ledger");
    GpuLedger ledger;
    for (std::uint32_t node = 0; node < 3; ++node) ledger.add_node(NodeId{node}, 8);
    Oracle oracle;
    std::uint32_t next = 0;
    const double shared = random.unit();
    const auto settle = [&] {
      for (const RunId id : ledger.grant()) oracle.granted(id, seed);
      oracle.check_progress(seed);
    };
    for (int step = 0; step < 150; ++step) {
      const std::vector<RunId> holding = oracle.holding();
      const std::uint64_t what = random.below(10);
      if (what < 4) {
        const RunId id = run(next++);
        const GpuSet gpus = random_gpus(random);
        const Sharing sharing = random.chance(shared) ? Sharing::kShared : Sharing::kExclusive;
        ASSERT_TRUE(ledger.promise(id, gpus, sharing));
        oracle.promised(id, gpus, sharing);
      } else if (what < 6 && !holding.empty()) {
        const RunId id = holding[random.below(holding.size())];
        ledger.leave(id);
        oracle.leaving(id);
      } else if (what < 9 && !holding.empty()) {
        const RunId id = holding[random.below(holding.size())];
        ledger.release(id);
        oracle.gone(id);
      } else if (!oracle.waiting().empty()) {
        const RunId id = oracle.waiting()[random.below(oracle.waiting().size())];
        ledger.release(id);
        oracle.gone(id);
      }
      if (random.chance(0.7)) settle();
      EXPECT_EQ(ledger.waiting(), oracle.waiting().size()) << "seed " << seed;
    }
    settle();
    // When all leave, all who wait get their turn.
    while (!oracle.holding().empty() || !oracle.waiting().empty()) {
      ASSERT_FALSE(oracle.holding().empty()) << "seed " << seed << ": a deadlock";
      for (const RunId id : oracle.holding()) {
        ledger.release(id);
        oracle.gone(id);
      }
      settle();
    }
  }
}

}  // namespace
}  // namespace muster
