// What holds for the rows of every table, and for the smaller kinds of plug-ins.
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text.h"
#include "conformance/cases.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

// A row as all tables have it.
struct AnyRow {
  std::string kind;
  std::string name;
  std::string sentence;
  ParamList params;
};

std::vector<AnyRow> all_rows() {
  std::vector<AnyRow> rows;
  const auto add = [&rows](const char* kind, const auto& table) {
    for (const auto& row : table) {
      rows.push_back({kind, std::string(row.name), std::string(row.sentence), row.params});
    }
  };
  add("admission", plugin_tables().admission);
  add("scheduling", plugin_tables().scheduling);
  add("placement", plugin_tables().placement);
  add("selector", plugin_tables().selector);
  add("scaling", plugin_tables().scaling);
  add("perf", plugin_tables().perf);
  add("pacing", plugin_tables().pacing);
  add("progress", plugin_tables().progress);
  add("accounting", plugin_tables().accounting);
  add("execution", plugin_tables().execution);
  return rows;
}

TEST(Tables, HaveNoTwoRowsOfOneName) {
  std::set<std::pair<std::string, std::string>> names;
  for (const AnyRow& row : all_rows()) {
    EXPECT_TRUE(names.insert({row.kind, row.name}).second) << row.kind << ' ' << row.name;
  }
}

class RowConformance : public ::testing::TestWithParam<AnyRow> {};

TEST_P(RowConformance, HasANameASentenceAndDescribedParameters) {
  const AnyRow& row = GetParam();
  EXPECT_FALSE(row.name.empty());
  for (const char c : row.name) {
    EXPECT_TRUE((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-') << row.name;
  }
  EXPECT_GT(row.sentence.size(), 10U);
  EXPECT_NE(row.sentence.back(), '.') << "sentences are printed in lists, without a full stop";
  std::set<std::string_view> names;
  for (const ParamInfo& info : row.params) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_GT(info.sentence.size(), 3U) << info.name;
    EXPECT_LE(info.least, info.most) << info.name;
    for (const char c : info.name) {
      EXPECT_TRUE((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_') << info.name;
    }
  }
}

TEST_P(RowConformance, HasDefaultsInRange) {
  const AnyRow& row = GetParam();
  const auto params = Params::make(row.name, row.params, {});
  EXPECT_TRUE(params) << params.error().message;
  for (const ParamInfo& info : row.params) {
    const bool number = info.kind == ParamKind::kReal || info.kind == ParamKind::kInteger;
    if (!number) continue;
    for (const double bound : {info.least, info.most}) {
      if (std::isinf(bound)) continue;
      const std::string inside = exact_text(bound);
      EXPECT_TRUE(Params::make(row.name, row.params, {{std::string(info.name), inside}}));
      const std::string outside = exact_text(bound == info.least ? bound - 1 : bound + 1);
      EXPECT_FALSE(Params::make(row.name, row.params, {{std::string(info.name), outside}}));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RowConformance, ::testing::ValuesIn(all_rows()),
                         [](const auto& test) {
                           return case_name({test.param.kind + "_" + test.param.name});
                         });

// Runs one short scenario with each parameter at its bounds and at each of its choices.
template <typename Row>
void run_at_bounds(const std::vector<Row>& table, Choice Scenario::*which) {
  for (const Row& row : table) {
    for (const ParamInfo& info : row.params) {
      std::vector<std::string> values;
      if (info.kind == ParamKind::kFlag) values = {"true", "false"};
      for (const std::string_view choice : info.choices) values.emplace_back(choice);
      if (info.kind == ParamKind::kReal || info.kind == ParamKind::kInteger) {
        if (!std::isinf(info.least)) values.push_back(exact_text(info.least));
        if (!std::isinf(info.most)) values.push_back(exact_text(info.most));
        if (std::isinf(info.most) && info.kind == ParamKind::kReal) values.emplace_back("1e9");
      }
      for (const std::string& value : values) {
        SCOPED_TRACE(std::string(row.name) + " with " + std::string(info.name) + " = " + value);
        Scenario scenario = mixed_scenario();
        scenario.jobs.resize(12);
        scenario.*which = {std::string(row.name), {{std::string(info.name), value}}};
        EXPECT_EQ(simulate(scenario).jobs.size(), 12U);
      }
    }
  }
}

TEST(Parameters, OfSchedulingPoliciesWorkAtTheirBounds) {
  run_at_bounds(general_policies(), &Scenario::scheduling);
}
TEST(Parameters, OfPlacementPoliciesWorkAtTheirBounds) {
  run_at_bounds(plugin_tables().placement, &Scenario::placement);
}
TEST(Parameters, OfAdmissionPoliciesWorkAtTheirBounds) {
  run_at_bounds(plugin_tables().admission, &Scenario::admission);
}

class AdmissionConformance : public ::testing::TestWithParam<Choice> {};

TEST_P(AdmissionConformance, LetsEveryJobInOrSaysWhyNot) {
  Scenario scenario = mixed_scenario();
  scenario.admission = GetParam();
  const std::vector<std::string> first = transcript(simulate(scenario));
  const RunLog log = simulate(scenario);
  EXPECT_EQ(transcript(log), first);
  EXPECT_EQ(log.jobs.size(), scenario.jobs.size());
  for (const JobRecord& job : log.jobs) {
    if (job.status == JobState::kRefused) {
      EXPECT_NE(job.reason, Reason::kNone);
    }
  }
  for (const Decision& decision : log.decisions) {
    if (decision.action == Action::kHold) {
      EXPECT_NE(decision.reason, Reason::kNone);
    }
  }
}

TEST_P(AdmissionConformance, DoesNotHoldJobsOnAnEmptyCluster) {
  const auto admission = make_admission(GetParam());
  Symbols symbols;
  const auto perf = make_perf({"ideal"}, symbols);
  const ClusterState cluster(std::make_shared<const ClusterSpec>(plain_cluster()));
  const JobTable jobs;
  const View view{0, 0, jobs, cluster, *perf};
  for (const JobSpec& job : mixed_jobs(symbols, 4)) {
    EXPECT_NE(admission->admit(view, Load{0}, job).answer, Admission::kHold);
    EXPECT_NE(admission->clone()->admit(view, Load{0}, job).answer, Admission::kHold);
  }
}

INSTANTIATE_TEST_SUITE_P(All, AdmissionConformance,
                         ::testing::ValuesIn(choices_of(plugin_tables().admission)),
                         [](const auto& test) { return case_name(test.param); });

class SelectorConformance : public ::testing::TestWithParam<Choice> {};

TEST_P(SelectorConformance, ChoosesAmongWhatThereIsAndDoesNotDisturb) {
  Scenario scenario = mixed_scenario();
  const Choice selector = GetParam();
  scenario.selector = [selector] { return make_selector(selector); };
  scenario.policy_sets = [] {
    std::vector<PolicySet> made;
    for (const char* policy : {"fifo", "srtf", "las"}) made.push_back(make_policy_set({policy}));
    return made;
  };
  for (const char* pacing : {"events", "rounds"}) {
    scenario.pacing = {pacing};
    const RunLog log = simulate(scenario);
    EXPECT_EQ(log.jobs.size(), scenario.jobs.size());
    for (const Decision& decision : log.decisions) {
      if (decision.action != Action::kSwitch) continue;
      EXPECT_GE(decision.detail, 0);
      EXPECT_LT(decision.detail, 3);
    }
    EXPECT_EQ(transcript(simulate(scenario)), transcript(log));
  }
  // With one policy set there is nothing to choose, and looking ahead changes nothing.
  scenario.policy_sets = [] {
    std::vector<PolicySet> made;
    made.push_back(make_policy_set({"las"}));
    return made;
  };
  Scenario plain = scenario;
  plain.selector = {};
  EXPECT_EQ(transcript(simulate(scenario)), transcript(simulate(plain)));
}

INSTANTIATE_TEST_SUITE_P(All, SelectorConformance,
                         ::testing::ValuesIn(choices_of(plugin_tables().selector)),
                         [](const auto& test) { return case_name(test.param); });

class PerfConformance : public ::testing::TestWithParam<Choice> {};

TEST_P(PerfConformance, GivesPositiveFiniteRatesEverywhere) {
  Symbols symbols;
  const auto perf = make_perf(GetParam(), symbols);
  const std::vector<JobSpec> jobs = mixed_jobs(symbols, 5);
  Random random(6, "run contexts");
  for (int round = 0; round < 3000; ++round) {
    const JobSpec& job = jobs[random.below(jobs.size())];
    std::vector<const JobSpec*> neighbours;
    while (neighbours.size() < 3 && random.chance(0.4)) {
      neighbours.push_back(&jobs[random.below(jobs.size())]);
    }
    RunContext context;
    context.gpus = static_cast<int>(random.integer(1, 64));
    context.nodes = static_cast<int>(random.integer(1, context.gpus));
    context.racks = static_cast<int>(random.integer(1, context.nodes));
    if (random.chance(0.5)) context.gpu_type = symbols.intern("v100");
    if (random.chance(0.5)) context.host = {random.uniform(0, 30), random.uniform(0, 500)};
    context.neighbours = neighbours;
    const double rate = perf->rate(job, context);
    ASSERT_GT(rate, 0);
    ASSERT_TRUE(std::isfinite(rate));
    ASSERT_EQ(perf->rate(job, context), rate);
  }
}

TEST_P(PerfConformance, WantsNoImpossibleHost) {
  Symbols symbols;
  const auto perf = make_perf(GetParam(), symbols);
  for (const JobSpec& job : mixed_jobs(symbols, 5)) {
    const HostResources host = perf->wanted_host(job);
    EXPECT_GE(host.cpus_per_gpu, 0);
    EXPECT_GE(host.memory_per_gpu, 0);
    EXPECT_TRUE(std::isfinite(host.cpus_per_gpu + host.memory_per_gpu));
  }
}

TEST_P(PerfConformance, CarriesAWholeRun) {
  Scenario scenario = mixed_scenario();
  scenario.perf = {GetParam()};
  EXPECT_EQ(simulate(scenario).jobs.size(), scenario.jobs.size());
}

INSTANTIATE_TEST_SUITE_P(All, PerfConformance,
                         ::testing::ValuesIn(choices_of(models_without_files())),
                         [](const auto& test) { return case_name(test.param); });

class PacingConformance : public ::testing::TestWithParam<Choice> {};

TEST_P(PacingConformance, TurnsAfterNowAndNotBeforeSomethingHappens) {
  const auto pacing = make_pacing(GetParam());
  const auto clone = pacing->clone();
  Random random(7, "moments");
  const auto some_time = [&random](Seconds now) {
    return random.chance(0.3) ? kNever : now + random.exponential(500);
  };
  EXPECT_GE(pacing->length(), 0);
  const auto row = find_row("pacing", plugin_tables().pacing, GetParam().name);
  const bool own_progress = (*row)->progress != PacingInfo{}.progress;
  for (int round = 0; round < 3000; ++round) {
    Moments moments;
    moments.now = random.chance(0.5) ? random.uniform(0, 1e6) : 300.0 * round;
    moments.next_arrival = some_time(moments.now);
    moments.next_event = some_time(moments.now);
    // One with a progress model of its own hears from that one within its length.
    if (own_progress) {
      moments.next_event = moments.now + random.uniform(0.1, 1) * pacing->length();
    }
    moments.wake = some_time(moments.now);
    moments.needs_periodic_turns = random.chance(0.2);
    const Seconds first = std::min({moments.next_arrival, moments.next_event, moments.wake});
    const Seconds next = pacing->next_turn(moments);
    ASSERT_GT(next, moments.now);
    if (!moments.needs_periodic_turns) {
      ASSERT_GE(next, first);
    }
    if (first != kNever) {
      ASSERT_LE(next, first + std::max(pacing->length(), 0.0) * (1 + 1e-9));
    }
    ASSERT_EQ(clone->next_turn(moments), next);
    if (next == kNever) continue;
    const Seconds exact = random.uniform(moments.now, next);
    ASSERT_GE(pacing->end_of(exact, next), exact);
    ASSERT_LE(pacing->end_of(exact, next), next);
    ASSERT_GE(pacing->skipped(moments.now, next), 0);
  }
}

TEST_P(PacingConformance, BringsEveryJobToItsEnd) {
  Scenario scenario = mixed_scenario();
  scenario.pacing = GetParam();
  for (const char* policy : {"fifo", "las", "srtf"}) {
    scenario.scheduling = {policy};
    const RunLog log = simulate(scenario);
    EXPECT_EQ(log.jobs.size(), scenario.jobs.size());
    for (std::size_t i = 1; i < log.turns.size(); ++i) {
      ASSERT_GE(log.turns[i].time, log.turns[i - 1].time);
      ASSERT_EQ(log.turns[i].previous, log.turns[i - 1].time);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PacingConformance,
                         ::testing::ValuesIn(choices_of(plugin_tables().pacing)),
                         [](const auto& test) { return case_name(test.param); });

}  // namespace
}  // namespace muster
