// What policies need to know of live jobs: how submissions say it, and what nothing here can say.
#include "run/assembly/live_needs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/assembly/live_plan.h"
#include "run/config/load_config.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

RunConfig live_config(const std::string& scheduling) {
  RunConfig config;
  config.cluster.shape = "1x4";
  config.workload.generator = {"poisson", {{"jobs", "1"}}};
  config.scheduling = {scheduling, {}};
  return config;
}

std::vector<std::string> live_notes(RunConfig config) {
  auto plan = make_live_plan(*complete_config(std::move(config)));
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? plan->notes : std::vector<std::string>();
}

TEST(LiveNeeds, SayHowASubmissionMeetsThem) {
  EXPECT_THAT(live_notes(live_config("fifo")), IsEmpty());
  EXPECT_THAT(live_notes(live_config("muri")),
              ElementsAre("scheduling policy 'muri' goes by stage times: submit with --stage-ms; "
                          "without, such a job shares its GPUs with no other"));
  EXPECT_THAT(live_notes(live_config("srtf")),
              ElementsAre(AllOf(HasSubstr("--iterations with --step-ms"), HasSubstr("one hour"))));
  EXPECT_THAT(live_notes(live_config("qssf")),
              ElementsAre(AllOf(HasSubstr("--iterations with --step-ms"), HasSubstr("one hour"))));
  EXPECT_THAT(live_notes(live_config("edf")), ElementsAre(HasSubstr("--deadline")));
}

TEST(LiveNeeds, SayWhatNoJobCanTell) {
  RunConfig packed = live_config("gavel-fifo-packed");
  EXPECT_THAT(
      live_notes(packed),
      Contains(AllOf(HasSubstr("needs speeds of co-located jobs, and no live job can provide"),
                     HasSubstr("taken not to slow down"), HasSubstr("--perf sharing"))));
  packed.perf = {{"sharing", {}}};
  EXPECT_THAT(live_notes(packed), Not(Contains(HasSubstr("co-located"))));
  // With GPUs of one type there is nothing to know about types.
  EXPECT_THAT(live_notes(packed), Not(Contains(HasSubstr("GPU type"))));
}

TEST(LiveNeeds, RefuseWhatAPolicyCannotDoWithout) {
  auto plan = make_live_plan(*complete_config(live_config("fifo")));
  ASSERT_TRUE(plan) << plan.error().message;
  const auto told = [&](const Need& need) {
    const NeedyPolicy policies[] = {{"policy 'p'", {need}}};
    const KnownInputs known{plan->cluster, plan->parts.perf};
    return live_needs(policies, known, *plan->symbols);
  };
  const auto refused = told({Knowledge::kPrices});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("needs prices"), HasSubstr("prices.file")));
  // What a job may say it is asked for when it comes.
  EXPECT_TRUE(told({Knowledge::kDeadline}));
}

TEST(LivePlanTest, NamesTheGeneralPolicyInsteadOfTheOneAsCoded) {
  const auto plan = make_live_plan(*complete_config(live_config("elasticflow-as-coded")));
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message,
              AllOf(HasSubstr("'elasticflow-as-coded'"), HasSubstr("--scheduling elasticflow")));
}

}  // namespace
}  // namespace muster
