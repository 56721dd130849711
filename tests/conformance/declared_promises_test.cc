// What a policy promises by declaring it is true: the engine and the placements rely on it.
#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "artifacts/rows.h"
#include "conformance/around.h"
#include "conformance/cases.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

// What it has and what it declares are the same, for all rows, those of artifacts included.
TEST(Capabilities, AreThoseThatAreDeclared) {
  int allocators = 0;
  int drivers = 0;
  for (const auto& row : plugin_tables().scheduling) {
    SCOPED_TRACE(row.name);
    const auto policy = make_scheduling({std::string(row.name)});
    const SchedulingTraits declared = policy->traits();
    EXPECT_EQ(policy->completion_rule() != nullptr, declared.ends_jobs);
    EXPECT_EQ(policy->promises() != nullptr, declared.promises);
    EXPECT_EQ(policy->allocator() != nullptr, declared.allocates_fractions);
    EXPECT_LE(declared.drives_completion, declared.ends_jobs) << "it drives nothing";
    EXPECT_LE(declared.needs_periodic_turns, !declared.stable_between_events)
        << "it needs turns that are skipped";
    allocators += declared.allocates_fractions ? 1 : 0;
    drivers += declared.drives_completion ? 1 : 0;
  }
  EXPECT_GT(allocators, 1);
  EXPECT_GT(drivers, 1);
}

class DeclaredPromises : public ::testing::TestWithParam<Choice> {
 protected:
  static SchedulingTraits traits() { return make_scheduling(GetParam())->traits(); }
  // In rounds, where quiet turns are those of the policy to need or to skip; shorter where each
  // decision takes long.
  static Scenario scenario() {
    Scenario scenario = mixed_scenario();
    if (traits().optimises) scenario.jobs.resize(20);
    scenario.scheduling = GetParam();
    scenario.pacing = {"rounds", {{"length", "10"}}};
    return scenario;
  }
  // The same, with a policy around that of the scenario.
  template <typename Outer, typename... Args>
  static Scenario with(Args... args) {
    Scenario scenario = DeclaredPromises::scenario();
    scenario.policy_sets = [=] {
      std::vector<PolicySet> sets;
      sets.push_back(make_policy_set(GetParam()));
      sets.back().scheduling = std::make_unique<Outer>(std::move(sets.back().scheduling), args...);
      return sets;
    };
    return scenario;
  }
};

// Declares something else than the policy.
class Declares final : public Around {
 public:
  using Change = std::function<void(SchedulingTraits&)>;
  Declares(std::unique_ptr<SchedulingPolicy> inner, Change change)
      : Around(std::move(inner)), change_(std::move(change)) {}
  SchedulingTraits traits() const override {
    SchedulingTraits traits = Around::traits();
    change_(traits);
    return traits;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Declares>(*this);
  }

 private:
  Change change_;
};

// Asked in quiet turns too, it decides nothing else.
class StableBetweenEvents : public DeclaredPromises {};
TEST_P(StableBetweenEvents, ChangesNothingInQuietTurns) {
  const RunLog asked = simulate(
      with<Declares>(Declares::Change([](auto& traits) { traits.stable_between_events = false; })));
  EXPECT_GT(asked.decisions.size(), 20U);
  EXPECT_EQ(first_difference(deeds(asked), deeds(simulate(scenario()))), "");
}

// Asked in turns in which nobody waits, it decides nothing else.
class NeedsNoPeriodicTurns : public DeclaredPromises {};
TEST_P(NeedsNoPeriodicTurns, ChangesNothingWhereNobodyWaits) {
  const RunLog asked = simulate(
      with<Declares>(Declares::Change([](auto& traits) { traits.needs_periodic_turns = true; })));
  EXPECT_GT(asked.decisions.size(), 20U);
  EXPECT_EQ(first_difference(deeds(asked), deeds(simulate(scenario()))), "");
}

// Asks twice, and keeps count of answers that differ.
class AsksTwice final : public Around {
 public:
  AsksTwice(std::unique_ptr<SchedulingPolicy> inner, int* asked, int* differ)
      : Around(std::move(inner)), asked_(asked), differ_(differ) {}
  void schedule(const View& view, Plan& plan) override {
    Plan first = plan;
    inner().schedule(view, first);
    inner().schedule(view, plan);
    ++*asked_;
    bool same = first.requests().size() == plan.requests().size();
    for (std::size_t i = 0; same && i < plan.requests().size(); ++i) {
      const AllocationRequest& a = first.requests()[i];
      const AllocationRequest& b = plan.requests()[i];
      same = a.jobs == b.jobs && a.size == b.size && a.gpus == b.gpus && a.gpu_type == b.gpu_type;
    }
    *differ_ += same ? 0 : 1;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<AsksTwice>(*this);
  }

 private:
  int* asked_;
  int* differ_;
};

class Repeats : public DeclaredPromises {};
TEST_P(Repeats, ItselfInATurn) {
  int asked = 0;
  int differ = 0;
  const RunLog twice = simulate(with<AsksTwice>(&asked, &differ));
  EXPECT_GT(asked, 20);
  EXPECT_EQ(differ, 0);
  EXPECT_EQ(first_difference(transcript(twice), transcript(simulate(scenario()))), "");
}

// Counts the jobs that were ranked in all turns.
class CountsRanks final : public Around {
 public:
  CountsRanks(std::unique_ptr<SchedulingPolicy> inner, std::size_t* ranked)
      : Around(std::move(inner)), ranked_(ranked) {}
  void schedule(const View& view, Plan& plan) override {
    Around::schedule(view, plan);
    *ranked_ += plan.ranking().size();
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<CountsRanks>(*this);
  }

 private:
  std::size_t* ranked_;
};

TEST_P(DeclaredPromises, RanksJobsExactlyIfDeclared) {
  std::size_t ranked = 0;
  simulate(with<CountsRanks>(&ranked));
  EXPECT_EQ(ranked > 0, traits().ranks_jobs);
}

// Tells which requests it made in the last turn, in order.
class Watched final : public Around {
 public:
  Watched(std::unique_ptr<SchedulingPolicy> inner, std::vector<AllocationRequest>* requests)
      : Around(std::move(inner)), requests_(requests) {}
  void schedule(const View& view, Plan& plan) override {
    Around::schedule(view, plan);
    *requests_ = plan.requests();
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Watched>(*this);
  }

 private:
  std::vector<AllocationRequest>* requests_;
};

// Nobody behind a request that found no place starts. A placement that backfills could start them.
class StrictOrder : public DeclaredPromises {};
TEST_P(StrictOrder, LetsNobodyOvertake) {
  std::vector<AllocationRequest> requests;
  TestRun run(with<Watched>(&requests));
  int blocked = 0;
  bool more = true;
  while (more) {
    requests.clear();
    std::vector<JobId> ran;
    for (const Slot slot : run.engine().jobs().running()) {
      ran.push_back(run.engine().jobs()[slot].spec.id);
    }
    more = run.engine().turn();
    bool misfit = false;
    for (const AllocationRequest& request : requests) {
      const Job& job = run.engine().jobs()[request.lead()];
      const bool before = std::find(ran.begin(), ran.end(), job.spec.id) != ran.end();
      if (misfit && job.running()) {
        EXPECT_TRUE(before) << "job " << index(job.spec.id);
      }
      misfit = misfit || job.waiting();
    }
    blocked += misfit ? 1 : 0;
  }
  EXPECT_GT(blocked, 20) << "nobody was in anybody's way: the test tests nothing";
}

// The cases of which the condition holds.
std::vector<Choice> policies_that(const std::function<bool(const SchedulingTraits&)>& condition) {
  std::vector<Choice> choices = choices_of(general_policies());
  std::erase_if(
      choices, [&](const Choice& choice) { return !condition(make_scheduling(choice)->traits()); });
  return choices;
}

std::string name_of(const ::testing::TestParamInfo<Choice>& test) { return case_name(test.param); }

INSTANTIATE_TEST_SUITE_P(All, DeclaredPromises,
                         ::testing::ValuesIn(policies_that([](const auto&) { return true; })),
                         name_of);
// What repeats a published simulator may depend on when that one asks.
std::vector<Choice> stable_policies() {
  std::vector<Choice> choices =
      policies_that([](const auto& its) { return its.stable_between_events; });
  const auto artifacts = artifact_scheduling_rows();
  std::erase_if(choices, [&](const Choice& choice) {
    return std::any_of(artifacts.begin(), artifacts.end(),
                       [&](const auto& row) { return row.name == choice.name; });
  });
  return choices;
}

INSTANTIATE_TEST_SUITE_P(All, StableBetweenEvents, ::testing::ValuesIn(stable_policies()), name_of);
INSTANTIATE_TEST_SUITE_P(All, NeedsNoPeriodicTurns,
                         ::testing::ValuesIn(policies_that([](const auto& its) {
                           return !its.needs_periodic_turns && !its.stable_between_events;
                         })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, Repeats, ::testing::ValuesIn(policies_that([](const auto& its) {
                           return its.repeats;
                         })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, StrictOrder, ::testing::ValuesIn(policies_that([](const auto& its) {
                           return its.strict;
                         })),
                         name_of);

}  // namespace
}  // namespace muster
