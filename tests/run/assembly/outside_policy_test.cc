// Policies from outside the tree that answer anything or nothing: a run that may not end with them
// finishes all its jobs, whatever they say.
#include <gtest/gtest.h>

#include "base/random.h"
#include "policy/failure.h"
#include "policy/outside/outside_policies.h"
#include "run/assembly/simulation.h"

namespace muster {
namespace {

// Right, wrong, nonsense or nothing, from a seed.
class ErraticRespondent final : public Respondent {
 public:
  ErraticRespondent(std::string form, bool preemptive, std::uint64_t seed)
      : random_(seed), seed_(seed) {
    declared_.form = std::move(form);
    declared_.preemptive = preemptive;
    declared_.keys_rest = seed % 2 == 0;
    declared_.resizes = seed % 3 == 0;
    declared_.quantum = 300;
  }
  const Declared& declared() const override { return declared_; }
  const std::string& name() const override { return declared_.form; }
  [[noreturn]] void bad(Seconds, const std::string& what) override { throw PolicyFailure(what); }
  std::unique_ptr<Respondent> copy() const override {
    return std::make_unique<ErraticRespondent>(declared_.form, declared_.preemptive, seed_);
  }

  void ask(const PolicyQuestion& question, PolicyAnswer& answer) override {
    answer.clear();
    const auto mood = random_.integer(0, 5);
    if (mood == 0) throw PolicyFailure("not in the mood");
    answer.word = mood == 1 ? "perhaps" : mood == 2 ? "hold" : "accept";
    answer.nothing = mood == 3;
    const std::size_t jobs = question.slots == nullptr ? 0 : question.slots->size();
    const std::size_t count = mood == 1 ? jobs + 1 : jobs;
    for (std::size_t i = 0; i < count; ++i) {
      answer.numbers.push_back(mood == 2 ? std::nan("") : static_cast<double>(i));
      answer.integers.push_back(mood == 2 ? random_.integer(-5, 5)
                                          : static_cast<std::int64_t>(count - 1 - i));
    }
    if (declared_.form == "allocate" || declared_.form == "find") {
      answer.integers.clear();
      for (std::int64_t i = random_.integer(1, 30); i > 0; --i) {
        answer.integers.push_back(random_.integer(-2, 8));
      }
    }
  }

 private:
  Declared declared_;
  Random random_;
  std::uint64_t seed_;
};

struct ErraticLoader final : PolicyLoader {
  std::uint64_t seed = 1;
  Outside outside(const std::string& name) const {
    return Outside(std::make_unique<ErraticRespondent>(name, seed % 2 == 0, seed));
  }
  bool knows(std::string_view, std::string_view name) const override {
    return name == "key" || name == "order" || name == "allocate" || name == "fractions" ||
           name == "fractions_by_type" || name == "admit" || name == "find";
  }
  Result<std::unique_ptr<AdmissionPolicy>> admission(const Choice& choice,
                                                     const Symbols*) const override {
    return make_outside_admission(outside(choice.name), OnFailure::kFallBack);
  }
  Result<std::unique_ptr<SchedulingPolicy>> scheduling(const Choice& choice,
                                                       const Symbols*) const override {
    return make_outside_scheduling(outside(choice.name), OnFailure::kFallBack);
  }
  Result<std::unique_ptr<PlacementPolicy>> placement(const Choice& choice,
                                                     const Symbols*) const override {
    return make_outside_placement(outside(choice.name), OnFailure::kFallBack);
  }
};

TEST(OutsidePolicies, WhateverTheyAnswerTheJobsFinish) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto loader = std::make_shared<ErraticLoader>();
    loader->seed = seed;
    const auto finishes = [&](RunConfig config) {
      config.loader = loader;
      config.seed = static_cast<long long>(seed);
      config.cluster.shape = "2x4:v100,2x4:k80";
      config.workload.generator = {"poisson", {{"jobs", "60"}}};
      const auto complete = complete_config(std::move(config));
      ASSERT_TRUE(complete) << complete.error().message;
      const auto summary = measure_run(*complete, nullptr);
      ASSERT_TRUE(summary) << summary.error().message;
      EXPECT_EQ((*summary)->metrics.finished, 60) << complete->label() << ", seed " << seed;
    };
    for (const char* form : {"key", "order", "allocate", "fractions", "fractions_by_type"}) {
      RunConfig config;
      config.scheduling = {form, {}};
      if (std::string(form) != "key") config.pacing = {"rounds", {{"length", "300"}}};
      finishes(config);
    }
    RunConfig config;
    config.scheduling = {"fifo", {}};
    config.pacing = {"rounds", {{"length", "300"}}};  // those on hold are asked about again
    config.admission = {"admit", {}};
    finishes(config);
    config.admission = {"accept-all", {}};
    config.placement = {"find", {}};
    finishes(config);
  }
}

TEST(OutsidePolicies, WithoutTheFallbackTheRunEndsWithWhatWasWrong) {
  struct EndingLoader final : PolicyLoader {
    bool knows(std::string_view, std::string_view name) const override { return name == "order"; }
    Result<std::unique_ptr<AdmissionPolicy>> admission(const Choice&,
                                                       const Symbols*) const override {
      return Error{"none"};
    }
    Result<std::unique_ptr<SchedulingPolicy>> scheduling(const Choice& choice,
                                                         const Symbols*) const override {
      return make_outside_scheduling(
          Outside(std::make_unique<ErraticRespondent>(choice.name, true, 1)), OnFailure::kEndRun);
    }
    Result<std::unique_ptr<PlacementPolicy>> placement(const Choice&,
                                                       const Symbols*) const override {
      return Error{"none"};
    }
  };
  RunConfig config;
  config.loader = std::make_shared<EndingLoader>();
  config.cluster.shape = "2x4";
  config.workload.generator = {"poisson", {{"jobs", "60"}}};
  config.scheduling = {"order", {}};
  const auto complete = complete_config(std::move(config));
  ASSERT_TRUE(complete) << complete.error().message;
  EXPECT_FALSE(measure_run(*complete, nullptr));
}

}  // namespace
}  // namespace muster
