// Placements that ask for the beginning of a plan first: a policy that can be asked once only, and
// is therefore asked for all, must lead to the same decisions.
#include <gtest/gtest.h>

#include "base/random.h"
#include "support/simulation.h"

namespace muster {
namespace {

// Another policy, of which nobody knows that it repeats itself; counts how often it was asked.
class AskedOnce final : public SchedulingPolicy {
 public:
  AskedOnce(std::unique_ptr<SchedulingPolicy> inner, int* asked, bool repeats)
      : inner_(std::move(inner)), asked_(asked), repeats_(repeats) {}
  SchedulingTraits traits() const override {
    SchedulingTraits traits = inner_->traits();
    traits.repeats = repeats_;
    return traits;
  }
  void schedule(const View& view, Plan& plan) override {
    ++*asked_;
    inner_->schedule(view, plan);
  }
  void on_job(JobMoment moment, Slot slot, const View& view) override {
    inner_->on_job(moment, slot, view);
  }
  Seconds wake(const View& view) const override { return inner_->wake(view); }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<AskedOnce>(inner_->clone(), asked_, repeats_);
  }

 private:
  std::unique_ptr<SchedulingPolicy> inner_;
  int* asked_;
  bool repeats_;
};

std::vector<JobSpec> crowd(std::uint64_t seed, int largest) {
  Random random(seed);
  std::vector<JobSpec> jobs;
  double time = 0;
  for (int i = 0; i < 120; ++i) {
    time += random.exponential(10);
    jobs.push_back(job_of(time, 1 + random.exponential(60),
                          1 + static_cast<int>(random.below(static_cast<std::uint64_t>(largest)))));
  }
  return jobs;
}

struct Outcome {
  std::vector<std::string> lines;
  int asked = 0;
  std::size_t turns = 0;
};

Outcome run(const Choice& scheduling, std::vector<JobSpec> jobs, bool repeats) {
  Outcome outcome;
  Scenario scenario;
  scenario.cluster = uniform_cluster(3, 4);
  scenario.jobs = std::move(jobs);
  scenario.policy_sets = [&] {
    PolicySet policy_set = make_policy_set(scheduling, {"yarn"});
    policy_set.scheduling =
        std::make_unique<AskedOnce>(std::move(policy_set.scheduling), &outcome.asked, repeats);
    std::vector<PolicySet> all;
    all.push_back(std::move(policy_set));
    return all;
  };
  const RunLog log = simulate(std::move(scenario));
  outcome.lines = log.lines();
  for (const auto& [decision, gpus] : log.placements) {
    outcome.lines.push_back(line_of(decision) + " on");
    for (int i = 0; i < gpus.nodes(); ++i) {
      outcome.lines.back() +=
          " " + std::to_string(index(gpus[i].node)) + ":" + std::to_string(gpus[i].mask);
    }
  }
  outcome.turns = log.turns.size();
  return outcome;
}

TEST(ShortPlan, LeadsToTheSameDecisions) {
  for (const char* name : {"srsf", "srtf", "las"}) {
    // Sizes that always fill the nodes, and sizes that leave holes.
    for (const int largest : {2, 4, 7}) {
      int asked_again = 0;
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const Outcome whole = run({name}, crowd(seed, largest), false);
        const Outcome cut = run({name}, crowd(seed, largest), true);
        ASSERT_EQ(whole.lines, cut.lines) << name << ", up to " << largest << ", seed " << seed;
        ASSERT_GT(whole.lines.size(), 240U);
        asked_again += cut.asked - whole.asked;
      }
      EXPECT_GE(asked_again, 0);
      if (largest > 2) {
        EXPECT_GT(asked_again, 0) << name << ", up to " << largest;
      }
    }
  }
}

}  // namespace
}  // namespace muster
