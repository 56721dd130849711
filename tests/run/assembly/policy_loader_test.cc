// Policies that are in no table: made by a loader, held to what they declare, and stopped by their
// own failures.
#include "run/config/policy_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/failure.h"
#include "run/assembly/simulation.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

// The youngest job first; fails after a while if it was asked to.
class YoungestFirst final : public KeyPolicy {
 public:
  explicit YoungestFirst(Seconds fails_at) : fails_at_(fails_at) {}
  double key(const Job& job, const View& view) const override {
    if (view.now >= fails_at_) throw PolicyFailure("youngest-first gave up");
    return -job.spec.submit;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<YoungestFirst>(*this);
  }

 private:
  Seconds fails_at_;
};

class FakeLoader final : public PolicyLoader {
 public:
  explicit FakeLoader(Seconds fails_at = kNever) : fails_at_(fails_at) {}
  bool knows(std::string_view kind, std::string_view name) const override {
    return kind == "scheduling" && name == "youngest-first";
  }
  Result<std::unique_ptr<AdmissionPolicy>> admission(const Choice&, const Symbols*) const override {
    return Error{"none"};
  }
  Result<std::unique_ptr<SchedulingPolicy>> scheduling(const Choice& choice,
                                                       const Symbols*) const override {
    if (!choice.params.empty()) return Error{"youngest-first takes no parameters"};
    return std::unique_ptr<SchedulingPolicy>(std::make_unique<YoungestFirst>(fails_at_));
  }
  Result<std::unique_ptr<PlacementPolicy>> placement(const Choice&, const Symbols*) const override {
    return Error{"none"};
  }

 private:
  Seconds fails_at_;
};

RunConfig described(std::shared_ptr<const PolicyLoader> loader, Choice scheduling) {
  RunConfig config;
  config.loader = std::move(loader);
  config.cluster.shape = "2x4";
  config.workload.generator = {"poisson", {{"jobs", "50"}}};
  config.scheduling = std::move(scheduling);
  return config;
}

TEST(PolicyLoader, MakesPoliciesThatNoTableHas) {
  const auto config =
      complete_config(described(std::make_shared<FakeLoader>(), {"youngest-first"}));
  ASSERT_TRUE(config) << config.error().message;
  const auto summary = measure_run(*config, nullptr);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ((*summary)->metrics.finished, 50);
}

TEST(PolicyLoader, LeavesOtherNamesToTheTables) {
  const auto config = complete_config(described(std::make_shared<FakeLoader>(), {"yougest-first"}));
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, HasSubstr("yougest-first"));
}

TEST(PolicyLoader, ItsComplaintsEndTheRunBeforeItBegins) {
  const auto config = complete_config(
      described(std::make_shared<FakeLoader>(), {"youngest-first", {{"speed", "5"}}}));
  ASSERT_TRUE(config);
  const auto summary = measure_run(*config, nullptr);
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message, HasSubstr("takes no parameters"));
}

TEST(PolicyLoader, AFailingPolicyEndsTheRunWithItsMessage) {
  const auto config =
      complete_config(described(std::make_shared<FakeLoader>(1000.0), {"youngest-first"}));
  ASSERT_TRUE(config);
  const auto summary = measure_run(*config, nullptr);
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().message, "youngest-first gave up");
}

TEST(PolicyLoader, PythonNeedsItsPackage) {
  const auto config = complete_config(described(nullptr, {"mine.py:Mine"}));
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, HasSubstr("written in Python"));
}

TEST(PolicyLoader, TheNameOfAPythonPolicyHasAColon) {
  const auto choice = parse_choice("folder/mine.py:Mine:quantum=60,strict=true", "--scheduling");
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->name, "folder/mine.py:Mine");
  EXPECT_EQ(choice->params.at("quantum"), "60");
  EXPECT_EQ(choice->params.at("strict"), "true");
  EXPECT_EQ(parse_choice("mine.py:Mine", "--scheduling")->name, "mine.py:Mine");
}

}  // namespace
}  // namespace muster
