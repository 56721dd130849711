// A policy that does not declare that it needs to know something decides the same without it.
#include <functional>

#include <gtest/gtest.h>

#include "conformance/around.h"
#include "conformance/cases.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

// The model as somebody sees it who does not know one thing.
class Ignorant final : public PerfModel {
 public:
  // As far as it knows, all GPUs are of `type`.
  Ignorant(const PerfModel& model, Knowledge unknown, Symbol type)
      : model_(&model), unknown_(unknown), type_(type) {}
  double total_work(const JobSpec& job) const override { return model_->total_work(job); }
  double rate(const JobSpec& job, const RunContext& context) const override {
    return model_->rate(job, known(job, context));
  }
  double step_rate(const JobSpec& job, const RunContext& context) const override {
    return model_->step_rate(job, known(job, context));
  }
  bool counts_steps() const override { return model_->counts_steps(); }
  PerfKnowledge knowledge() const override {
    PerfKnowledge knowledge = model_->knowledge();
    if (unknown_ == Knowledge::kProfile) knowledge.profiles = nullptr;
    if (unknown_ == Knowledge::kScaling) knowledge.scaling = nullptr;
    return knowledge;
  }
  Status check(const JobSpec& job) const override { return model_->check(job); }
  bool knows_nothing_of(const JobSpec& job) const override { return model_->knows_nothing_of(job); }
  HostResources wanted_host(const JobSpec& job) const override {
    return unknown_ == Knowledge::kHost ? HostResources{} : model_->wanted_host(job);
  }

 private:
  RunContext known(const JobSpec& job, RunContext context) const {
    if (unknown_ == Knowledge::kScaling) context.gpus = job.gpus;
    // A job that asks for a type itself leaves nothing to choose.
    if (unknown_ == Knowledge::kGpuTypes && job.gpu_type == kNoSymbol &&
        context.gpu_type != kNoSymbol) {
      context.gpu_type = type_;
    }
    if (unknown_ == Knowledge::kLocality) context.nodes = context.racks = 1;
    if (unknown_ == Knowledge::kPairs) {
      context.neighbours = {};
      context.joined = false;
    }
    return context;
  }

  const PerfModel* model_;
  Knowledge unknown_;
  Symbol type_;
};

// Sees the performance model without that knowledge.
class Untold final : public Around {
 public:
  Untold(std::unique_ptr<SchedulingPolicy> inner, Knowledge unknown)
      : Around(std::move(inner)), unknown_(unknown) {}
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Untold>(*this);
  }
  void schedule(const View& view, Plan& plan) override {
    const Ignorant perf = ignorant(view);
    inner().schedule(without(view, perf), plan);
  }
  void on_job(JobMoment moment, Slot slot, const View& view) override {
    const Ignorant perf = ignorant(view);
    inner().on_job(moment, slot, without(view, perf));
  }
  Seconds wake(const View& view) const override {
    const Ignorant perf = ignorant(view);
    return inner().wake(without(view, perf));
  }

 private:
  Ignorant ignorant(const View& view) const {
    return {view.perf, unknown_, view.cluster.node(NodeId{0}).gpu_type};
  }
  static View without(const View& view, const PerfModel& perf) {
    return {view.now,      view.turn_length, view.jobs,    view.cluster, perf,
            view.forecast, view.promises,    view.metrics, view.prices};
  }

  Knowledge unknown_;
};

// Is told what GPUs cost.
class Priced final : public Around {
 public:
  Priced(std::unique_ptr<SchedulingPolicy> inner, const PriceBook* prices)
      : Around(std::move(inner)), prices_(prices) {}
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Priced>(*this);
  }

 private:
  View seen(const View& view) const override {
    View priced = view;
    priced.prices = prices_;
    return priced;
  }

  const PriceBook* prices_;
};

// All there is to know, but of the length of jobs: tests/conformance/belief_conformance_test.cc has
// that.
Scenario informed(const Choice& scheduling) {
  Scenario scenario = divided_scenario();
  const bool optimises = make_scheduling(scheduling)->traits().optimises;
  if (optimises) scenario.jobs.resize(20);
  scenario.scheduling = scheduling;
  scenario.pacing = {"rounds", {{"length", "10"}}};
  scenario.perf = {{"scaling"},
                   {"locality"},
                   {"sharing", {{"loss", "0.2"}}},
                   {"gpu-types", {{"speeds", "v100=2,k80=1"}}}};
  for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
    JobSpec& job = scenario.jobs[i];
    job.estimate = job.duration;
    job.deadline = job.submit + static_cast<double>(2 + i % 3) * job.duration;
    job.priority = static_cast<int>(i % 3) - 1;
    job.step_ms = 20;
    job.stage_ms = i % 2 == 0 ? StageTimes{0, 2, 15, 3} : StageTimes{4, 14, 2, 0};
    if (i % 2 == 0) {
      job.min_gpus = 1;
      job.max_gpus = 8;
    }
  }
  return scenario;
}

template <typename Outer, typename... Args>
void put_around(Scenario& scenario, Args... args) {
  scenario.policy_sets = [scheduling = scenario.scheduling, args...] {
    std::vector<PolicySet> sets;
    sets.push_back(make_policy_set(scheduling));
    sets.back().scheduling = std::make_unique<Outer>(std::move(sets.back().scheduling), args...);
    return sets;
  };
}

// The same run, of which the policy is not told one thing.
Scenario uninformed(Scenario scenario, Knowledge unknown) {
  for (JobSpec& job : scenario.jobs) {
    if (unknown == Knowledge::kEstimate) job.estimate = 0;
    if (unknown == Knowledge::kDeadline) job.deadline = kNever;
    if (unknown == Knowledge::kPriority) job.priority = 0;
    if (unknown == Knowledge::kSizes) job.min_gpus = job.max_gpus = 0;
    if (unknown == Knowledge::kStageTimes) job.stage_ms = {};
  }
  put_around<Untold>(scenario, unknown);
  return scenario;
}

struct UnneededCase {
  Choice scheduling;
  Knowledge unknown;
  friend std::ostream& operator<<(std::ostream& out, const UnneededCase& c) {
    return out << c.scheduling << " without " << info_of(c.unknown).name;
  }
};

constexpr Knowledge kTaken[] = {Knowledge::kEstimate, Knowledge::kDeadline,   Knowledge::kPriority,
                                Knowledge::kSizes,    Knowledge::kScaling,    Knowledge::kGpuTypes,
                                Knowledge::kLocality, Knowledge::kProfile,    Knowledge::kPairs,
                                Knowledge::kHost,     Knowledge::kStageTimes, Knowledge::kPrices};

std::vector<UnneededCase> unneeded_cases() {
  std::vector<UnneededCase> cases;
  for (const Choice& scheduling : choices_of(general_policies())) {
    const auto policy = make_scheduling(scheduling);
    for (const Knowledge unknown : kTaken) {
      if (!lists(policy->traits().needs, unknown)) cases.push_back({scheduling, unknown});
    }
  }
  return cases;
}

class Unneeded : public ::testing::TestWithParam<UnneededCase> {};

TEST_P(Unneeded, ChangesNothing) {
  const Scenario told = informed(GetParam().scheduling);
  const RunLog log = simulate(told);
  ASSERT_GT(log.decisions.size(), 20U);
  if (GetParam().unknown == Knowledge::kPrices) {
    const PriceBook prices({{told.symbols->intern("v100"), "", 0, 3},
                            {told.symbols->intern("k80"), "", 0, 0.5},
                            {told.symbols->intern("v100"), "", 100, 0.1}});
    Scenario priced = told;
    put_around<Priced>(priced, &prices);
    EXPECT_EQ(first_difference(transcript(simulate(priced)), transcript(log)), "");
    return;
  }
  EXPECT_EQ(
      first_difference(transcript(simulate(uninformed(told, GetParam().unknown))), transcript(log)),
      "");
}

INSTANTIATE_TEST_SUITE_P(All, Unneeded, ::testing::ValuesIn(unneeded_cases()),
                         [](const auto& test) {
                           return case_name(test.param.scheduling) + "_without_" +
                                  case_name({std::string(info_of(test.param.unknown).name)});
                         });

// Many jobs that could share any GPU, so that it matters which of them do.
void crowd(Scenario& scenario) {
  scenario.perf = {{"interleave"}};
  for (JobSpec& job : scenario.jobs) {
    job.partition = job.gpu_type = kNoSymbol;
    job.gpus = job.min_gpus = job.max_gpus = 1;
    job.arrival = job.submit = 0;
    job.duration += 300;
  }
}

// What is taken away is there: some policy that declares the need decides otherwise without it.
TEST(Needed, ChangesWhatSomePolicyDecides) {
  for (const Knowledge unknown : kTaken) {
    bool any_needs = false;
    bool differs = false;
    for (const auto& row : general_policies()) {
      const Choice scheduling{std::string(row.name)};
      if (differs || !lists(make_scheduling(scheduling)->traits().needs, unknown)) continue;
      any_needs = true;
      Scenario told = informed(scheduling);
      if (unknown == Knowledge::kStageTimes) crowd(told);
      if (unknown == Knowledge::kPrices) {
        const PriceBook prices({{told.symbols->intern("v100"), "", 0, 300},
                                {told.symbols->intern("k80"), "", 0, 0.5}});
        Scenario priced = told;
        put_around<Priced>(priced, &prices);
        differs = transcript(simulate(priced)) != transcript(simulate(told));
        continue;
      }
      differs = transcript(simulate(uninformed(told, unknown))) != transcript(simulate(told));
    }
    EXPECT_EQ(differs, any_needs) << info_of(unknown).name;
  }
}

}  // namespace
}  // namespace muster
