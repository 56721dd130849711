// Every row of every table can be saved and forked: put back, or copied, at a random turn, it
// decides the same to the end.
#include <algorithm>
#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "conformance/cases.h"
#include "daemon/record/record_json.h"
#include "engine/world.h"
#include "policy/lucid/profiled_queue.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

struct SavedCase {
  std::string name;
  std::function<Scenario()> scenario;
  friend std::ostream& operator<<(std::ostream& out, const SavedCase& c) { return out << c.name; }
};

Scenario small(std::size_t jobs) {
  Scenario scenario = mixed_scenario();
  scenario.jobs.resize(jobs);
  return scenario;
}

// The pacing that a policy counts on, where it does.
Choice pacing_for(const Choice& scheduling) {
  const SchedulingTraits traits = make_scheduling(scheduling)->traits();
  if (!traits.pacing.empty()) return {std::string(traits.pacing)};
  if (traits.optimises) return {"rounds", {{"length", "20"}}};
  return {"events"};
}

template <typename Row>
void add_rows(std::vector<SavedCase>& cases, const char* kind, const std::vector<Row>& table,
              const std::function<void(Scenario&, const Choice&)>& apply, std::size_t jobs = 40) {
  for (const Row& row : table) {
    const Choice choice{std::string(row.name)};
    cases.push_back({std::string(kind) + "_" + case_name(choice), [=] {
                       Scenario scenario = small(jobs);
                       apply(scenario, choice);
                       return scenario;
                     }});
  }
}

void add_progress_models(std::vector<SavedCase>& cases) {
  for (const ProgressInfo& row : plugin_tables().progress) {
    cases.push_back({"progress_" + case_name({std::string(row.name)}), [&row] {
                       Scenario scenario = small(40);
                       scenario.scheduling = {"srtf"};
                       if (!row.pacing.empty()) scenario.pacing = {std::string(row.pacing)};
                       scenario.simulator = [&row](SimParts parts, const Pacing& pacing) {
                         const auto params = Params::make("progress", row.params, {});
                         return row.make(*params, std::move(parts), pacing);
                       };
                       return scenario;
                     }});
  }
}

void add_profiled_queues(std::vector<SavedCase>& cases) {
  for (const bool real : {false, true}) {
    cases.push_back({real ? "profiled_life" : "profiled", [real] {
                       Scenario scenario = small(40);
                       scenario.cluster = uniform_cluster(3, 4);
                       scenario.policy_sets = [cluster = scenario.cluster] {
                         ProfiledQueueSettings settings;
                         settings.gpus = {{NodeId{1}, 8}, {NodeId{2}, 15}};
                         settings.limit = 20;
                         settings.largest = 2;
                         std::vector<PolicySet> made;
                         made.push_back(make_policy_set({"sjf"}));
                         made.back().placement = make_profiled_queue(
                             settings, cluster, std::move(made.back().placement));
                         return made;
                       };
                       if (real) {
                         scenario.life = {.start_latency = 2, .stop_latency = 3, .census = 15};
                       }
                       return scenario;
                     }});
  }
}

// In clusters where commands take time and fail.
void add_lives(std::vector<SavedCase>& cases) {
  for (const auto& row : general_policies()) {
    const Choice policy{std::string(row.name)};
    if (make_scheduling(policy)->traits().optimises) continue;
    cases.push_back({"life_" + case_name(policy), [policy] {
                       Scenario scenario = small(30);
                       scenario.scheduling = policy;
                       scenario.life = {.start_latency = 2,
                                        .stop_latency = 3,
                                        .start_failure = 0.1,
                                        .partial_gang = 0.1,
                                        .start_limit = 10,
                                        .report_delay = 1,
                                        .report_loss = 0.1,
                                        .census = 15};
                       return scenario;
                     }});
  }
}

std::vector<SavedCase> saved_cases() {
  std::vector<SavedCase> cases;
  const PluginTables& tables = plugin_tables();
  for (const auto& row : tables.scheduling) {
    const Choice choice{std::string(row.name)};
    cases.push_back({"scheduling_" + case_name(choice), [choice] {
                       const SchedulingTraits traits = make_scheduling(choice)->traits();
                       Scenario scenario = small(traits.optimises ? 15 : 40);
                       scenario.scheduling = choice;
                       scenario.pacing = pacing_for(choice);
                       if (traits.needs_even_nodes) scenario.cluster = uniform_cluster(4, 4);
                       return scenario;
                     }});
  }
  add_rows(cases, "placement", tables.placement, [](Scenario& s, const Choice& choice) {
    s.scheduling = {"srtf"};
    s.placement = choice;
  });
  add_rows(cases, "admission", tables.admission,
           [](Scenario& s, const Choice& choice) { s.admission = choice; });
  add_rows(cases, "pacing", tables.pacing, [](Scenario& s, const Choice& choice) {
    s.scheduling = {"las"};
    s.pacing = choice;
  });
  add_rows(cases, "selector", tables.selector, [](Scenario& s, const Choice& choice) {
    s.policy_sets = [] {
      std::vector<PolicySet> made;
      made.push_back(make_policy_set({"fifo"}));
      made.push_back(make_policy_set({"srtf"}));
      return made;
    };
    s.selector = [choice] { return make_selector(choice); };
  });
  add_rows(cases, "scaling", tables.scaling, [](Scenario& s, const Choice& choice) {
    s.cluster.nodes[2].spare = true;
    s.pacing = {"rounds", {{"length", "10"}}};
    s.scaling = [choice] {
      auto made = make_from("scaling", plugin_tables().scaling, choice.name, choice.params);
      return std::move(*made);
    };
  });
  add_progress_models(cases);
  cases.push_back({"opportunistic", [] {
                     Scenario scenario = small(40);
                     scenario.scheduling = {"antman"};
                     scenario.placement = {"antman"};
                     for (JobSpec& job : scenario.jobs) {
                       job.priority = static_cast<int>(job.arrival) % 2 - 1;
                     }
                     return scenario;
                   }});
  add_profiled_queues(cases);
  add_lives(cases);
  return cases;
}

// Two logs of which the second goes on where the first ends.
RunLog joined(const RunLog& first, const RunLog& second) {
  RunLog both;
  for (const RunLog* log : {&first, &second}) {
    both.decisions.insert(both.decisions.end(), log->decisions.begin(), log->decisions.end());
    both.placements.insert(both.placements.end(), log->placements.begin(), log->placements.end());
    both.jobs.insert(both.jobs.end(), log->jobs.begin(), log->jobs.end());
  }
  return both;
}

// Also in the present wait; that of a job that is starting may end when it is found running.
Seconds waited(const Job& job, Seconds now) {
  const bool waits = job.waiting() || (job.running() && job.held_since == kNever);
  return job.waited_before + (waits ? now - job.waiting_since : 0);
}

// In which those that run were started: who shares GPUs came in that order.
std::vector<JobId> starts_of(const EngineWorld& world) {
  std::vector<const Job*> running;
  for (const Job& job : world.jobs) {
    if (job.running()) running.push_back(&job);
  }
  std::sort(running.begin(), running.end(),
            [](const Job* a, const Job* b) { return a->start_order < b->start_order; });
  std::vector<JobId> ids;
  ids.reserve(running.size());
  for (const Job* job : running) ids.push_back(job->spec.id);
  return ids;
}

// What a world says that is not as in the other, all of it being compared except for what a backend
// makes anew of a job that runs: its rate, how far it is and what of that is safe; and of one that
// is found on the way, whether it has begun. Of starts only the order counts: starts_of().
std::string lost_of(const EngineWorld& before, const EngineWorld& after, const Symbols& symbols) {
  nlohmann::json was = to_json(before, symbols);
  nlohmann::json is = to_json(after, symbols);
  for (nlohmann::json* world : {&was, &is}) {
    for (std::size_t i = 0; i < before.jobs.size(); ++i) {
      nlohmann::json& job = world->at("jobs").at(i);
      if (!before.jobs[i].running()) continue;
      for (const char* field : {"rate", "since", "work", "saved_work", "start_order"}) {
        job.erase(field);
      }
      if (!before.jobs[i].starting()) continue;
      for (const char* field :
           {"waited_before", "held_since", "first_start", "overhead", "failed_starts"}) {
        job.erase(field);
      }
    }
  }
  const nlohmann::json difference = nlohmann::json::diff(was, is);
  return difference.empty() ? "" : difference.dump();
}

class Saving : public ::testing::TestWithParam<SavedCase> {
 protected:
  // Calls `visit` with a run that has come to one of a few random turns.
  static void at_random_turns(const Scenario& scenario, std::size_t turns,
                              const std::function<void(TestRun&)>& visit) {
    Random random(7, "turns");
    for (int i = 0; i < 4; ++i) {
      const auto turn = random.integer(1, static_cast<std::int64_t>(turns) - 1);
      TestRun run(scenario);
      for (std::int64_t t = 0; t < turn; ++t) ASSERT_TRUE(run.engine().turn());
      SCOPED_TRACE("turn " + std::to_string(turn) + " of " + std::to_string(turns));
      visit(run);
      if (::testing::Test::HasFailure()) return;
    }
  }
};

TEST_P(Saving, ARunThatIsPutBackDecidesTheSame) {
  Scenario scenario = GetParam().scenario();
  scenario.failures.node_mtbf = 600;
  scenario.failures.node_repair = 30;
  const bool untouched = make_scheduling(scenario.scheduling)->traits().needs_even_nodes;
  if (untouched) scenario.failures = {};
  const RunLog whole = simulate(scenario);
  ASSERT_GT(whole.turns.size(), 2U);
  at_random_turns(scenario, whole.turns.size(), [&](TestRun& run) {
    const std::string saved = run.save();
    ASSERT_FALSE(saved.empty()) << run.engine().unsavable();
    TestRun other(scenario);
    other.restore(saved);
    EXPECT_EQ(transcript(joined(run.log(), other.run())), transcript(whole));
  });
}

TEST_P(Saving, AForkDecidesTheSame) {
  Scenario scenario = GetParam().scenario();
  // A fork knows nothing of failures to come.
  scenario.life.start_failure = 0;
  scenario.life.partial_gang = 0;
  scenario.life.report_loss = 0;
  scenario.life.spread = 0;
  const RunLog whole = simulate(scenario);
  ASSERT_GT(whole.turns.size(), 2U);
  at_random_turns(scenario, whole.turns.size(), [&](TestRun& run) {
    const auto fork = run.fork();
    EXPECT_EQ(transcript(joined(run.log(), fork->run())), transcript(whole));
  });
}

// What an engine of the same parts makes of the world: the same jobs on the same GPUs with the same
// accounts. What policies remembered is gone, so the decisions may differ.
TEST_P(Saving, AnAdoptedWorldKeepsJobsGpusAndAccounts) {
  Scenario scenario = GetParam().scenario();
  scenario.prices =
      std::make_shared<const PriceBook>(std::vector<PriceBook::Offer>{{kNoSymbol, "", 0, 3600}});
  const RunLog whole = simulate(scenario);
  at_random_turns(scenario, whole.turns.size(), [&](TestRun& run) {
    TestRun other(scenario);
    const Status adopted = other.adopt(run);
    ASSERT_TRUE(adopted) << adopted.error().message;
    const EngineWorld before = run.engine().world();
    const EngineWorld after = other.engine().world();
    ASSERT_EQ(after.jobs.size(), before.jobs.size());
    EXPECT_EQ(lost_of(before, after, *scenario.symbols), "");
    EXPECT_EQ(starts_of(after), starts_of(before));
    for (std::size_t i = 0; i < before.jobs.size(); ++i) {
      const Job& was = before.jobs[i];
      const Job& is = after.jobs[i];
      EXPECT_EQ(is.spec.id, was.spec.id);
      EXPECT_EQ(is.state, was.state);
      EXPECT_TRUE(is.gpus == was.gpus) << index(was.spec.id);
      EXPECT_EQ(is.launch, was.launch);
      const Seconds now = before.now;
      EXPECT_NEAR(is.work_at(now), was.work_at(now), 1e-9 * (1 + was.work_at(now)));
      EXPECT_EQ(is.attained_at(now), was.attained_at(now));
      EXPECT_EQ(is.gpu_seconds_at(now), was.gpu_seconds_at(now));
      EXPECT_NEAR(waited(is, now), waited(was, now), 1e-9 * (1 + now));
      EXPECT_EQ(is.preemptions, was.preemptions);
    }
    EXPECT_EQ(other.engine().cluster().used_gpus(), run.engine().cluster().used_gpus());
    if (make_scheduling(scenario.scheduling)->traits().keeps_truth) return;
    const RunLog& rest = other.run();
    EXPECT_EQ(run.log().jobs.size() + rest.jobs.size(), scenario.jobs.size());
  });
}

INSTANTIATE_TEST_SUITE_P(All, Saving, ::testing::ValuesIn(saved_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace muster
