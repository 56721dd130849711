// A policy does nothing that it has not declared, and knows nothing that it has not asked for.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "conformance/cases.h"
#include "policy/abilities.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

class DeclaredAbilities : public ::testing::TestWithParam<Choice> {
 protected:
  static SchedulingTraits traits() { return make_scheduling(GetParam())->traits(); }
  static Scenario scenario() {
    Scenario scenario = mixed_scenario();
    scenario.scheduling = GetParam();
    scenario.pacing = {"rounds", {{"length", "10"}}};
    return scenario;
  }
};

// The jobs that run, and the pairs of them that share GPUs.
std::pair<std::set<JobId>, std::set<std::pair<JobId, JobId>>> who_shares(const JobTable& jobs) {
  std::set<JobId> running;
  std::set<std::pair<JobId, JobId>> together;
  for (const Slot slot : jobs.running()) {
    running.insert(jobs[slot].spec.id);
    for (Slot other = jobs[slot].next_co_located; other != slot;
         other = jobs[other].next_co_located) {
      together.emplace(jobs[slot].spec.id, jobs[other].spec.id);
    }
  }
  return {running, together};
}

TEST_P(DeclaredAbilities, AreAllThatItDoes) {
  TestRun run(scenario());
  const SchedulingTraits declared = traits();
  std::set<std::pair<JobId, JobId>> before;
  while (run.engine().turn()) {
    const auto [running, together] = who_shares(run.engine().jobs());
    for (const auto& [a, b] : before) {
      if (declared.regroups || !running.contains(a) || !running.contains(b)) continue;
      ASSERT_TRUE(together.contains({a, b})) << "it parts jobs on the same GPUs while they run";
    }
    before = together;
    for (const Slot slot : run.engine().jobs().running()) {
      const Job& job = run.engine().jobs()[slot];
      if (!declared.co_locates) {
        ASSERT_EQ(job.next_co_located, slot) << "it puts jobs on the same GPUs";
      }
      if (!declared.resizes) {
        ASSERT_EQ(job.gpus.gpus(), job.spec.gpus) << "it gives jobs other sizes";
      }
    }
  }
  if (declared.preemptive) return;
  for (const JobRecord& job : run.log().jobs) {
    EXPECT_EQ(job.preemptions, 0) << "it takes GPUs away from running jobs";
  }
}

// Jobs that differ only in how long they really run: until the first of them ends, whoever does not
// know durations decides the same.
class WithoutDurations : public DeclaredAbilities {};

TEST_P(WithoutDurations, DecidesTheSameWhateverTheyAre) {
  Scenario one = scenario();
  for (JobSpec& job : one.jobs) {
    job.duration += 200;
    job.estimate = 300;
  }
  Scenario other = one;
  for (std::size_t i = 0; i < other.jobs.size(); i += 2) other.jobs[i].duration *= 1.7;
  const RunLog first = simulate(one);
  const RunLog second = simulate(other);
  Seconds ends = kNever;
  for (const RunLog* log : {&first, &second}) {
    for (const JobRecord& job : log->jobs) {
      if (job.status == JobState::kFinished) ends = std::min(ends, job.end);
    }
  }
  const auto beginning = [ends](const RunLog& log) {
    std::vector<std::string> lines;
    for (const Decision& decision : log.decisions) {
      if (decision.time < ends) lines.push_back(line_of(decision));
    }
    return lines;
  };
  EXPECT_GT(beginning(first).size(), 20U) << "too little happened: the test tests nothing";
  EXPECT_EQ(beginning(first), beginning(second));
}

// Without estimates a policy that falls back says to what, and works.
TEST_P(DeclaredAbilities, DoWithoutWhatIsNotKnown) {
  Scenario scenario = DeclaredAbilities::scenario();
  scenario.perf = {};
  for (JobSpec& job : scenario.jobs) {
    job.estimate = 0;
    job.deadline = kNever;
    job.model = kNoSymbol;
    job.min_gpus = job.max_gpus = 0;
  }
  EXPECT_EQ(simulate(scenario).jobs.size(), scenario.jobs.size());
}

INSTANTIATE_TEST_SUITE_P(All, DeclaredAbilities,
                         ::testing::ValuesIn(choices_of(general_policies())),
                         [](const auto& test) { return case_name(test.param); });

std::vector<Choice> policies_without_durations() {
  std::vector<Choice> choices = choices_of(general_policies());
  std::erase_if(choices, [](const Choice& choice) {
    return clairvoyant(make_scheduling(choice)->traits().needs);
  });
  return choices;
}

INSTANTIATE_TEST_SUITE_P(All, WithoutDurations, ::testing::ValuesIn(policies_without_durations()),
                         [](const auto& test) { return case_name(test.param); });

TEST(Abilities, AreDistinctAndSaid) {
  std::vector<std::string_view> names;
  for (const auto& ability : scheduling_abilities()) {
    names.push_back(ability.name);
    EXPECT_GT(ability.sentence.size(), 10U);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const KnowledgeInfo& info : knowledge_list()) EXPECT_EQ(&info_of(info.which), &info);
}

// One need, one answer to what happens without it.
TEST(Needs, AreListedOnce) {
  const auto check = [](std::string_view name, Needs needs) {
    for (std::size_t i = 0; i < needs.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) EXPECT_NE(needs[i].of, needs[j].of) << name;
    }
  };
  for (const auto& row : plugin_tables().scheduling) {
    check(row.name, make_scheduling({std::string(row.name)})->traits().needs);
  }
  for (const auto& row : plugin_tables().placement) {
    check(row.name, make_placement({std::string(row.name)})->traits().needs);
  }
}

}  // namespace
}  // namespace muster
