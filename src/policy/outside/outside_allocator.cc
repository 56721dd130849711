#include "policy/outside/outside_allocator.h"

#include <algorithm>

#include <fmt/format.h>

#include "policy/failure.h"
#include "policy/gavel/rounds.h"

namespace muster {
namespace {

class OutsideAllocator final : public Allocator {
 public:
  OutsideAllocator(Outside policy, OnFailure rule) : policy_(std::move(policy)), rule_(rule) {}
  AllocatorTraits traits() const override {
    return {.knows_types = policy_->declared().knows_types};
  }
  std::unique_ptr<Allocator> clone() const override {
    return std::make_unique<OutsideAllocator>(*this);
  }

  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    try {
      ask(problem, allocation);
    } catch (const PolicyFailure&) {
      if (rule_ == OnFailure::kEndRun) throw;
      for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
        equal_split(problem, problem.jobs.size(), problem.jobs[job].gpus,
                    &allocation.alone[job * problem.types]);
      }
    }
  }

 private:
  void ask(const AllocationProblem& problem, Allocation& allocation) {
    PolicyQuestion question;
    question.now = problem.now;
    question.problem = &problem;
    policy_->ask(question, answer_);
    const std::vector<double>& fractions = answer_.numbers;
    const std::size_t types = problem.types;
    if (fractions.size() != allocation.alone.size()) {
      policy_->bad(problem.now, fmt::format("returned {} fractions for {} jobs and {} GPU types",
                                            fractions.size(), problem.jobs.size(), types));
    }
    for (std::size_t i = 0; i < fractions.size(); ++i) {
      constexpr double kRounding = 1e-6;  // of solvers
      if (!(fractions[i] >= -kRounding && fractions[i] <= 1 + kRounding)) {
        policy_->bad(problem.now, fmt::format("gave job {} the fraction {}: expected 0 to 1",
                                              index(problem.jobs[i / types].id), fractions[i]));
      }
      // The columns of the problem are the cluster's types from the last to the first; outside they
      // are as it names them.
      const std::size_t row = i / types * types;
      allocation.alone[row + types - 1 - i % types] = std::clamp(fractions[i], 0.0, 1.0);
    }
  }

  Outside policy_;
  OnFailure rule_;
  PolicyAnswer answer_;
};

// The policy, and where it fails the plan that needs none.
class FallingBack final : public SchedulingPolicy {
 public:
  explicit FallingBack(std::unique_ptr<SchedulingPolicy> policy) : policy_(std::move(policy)) {}
  SchedulingTraits traits() const override {
    SchedulingTraits traits = policy_->traits();
    traits.repeats = false;  // it may fail once and answer the second time
    return traits;
  }
  void schedule(const View& view, Plan& plan) override {
    // What it listed before it failed is not to be followed.
    Plan attempt = plan;
    try {
      policy_->schedule(view, attempt);
      plan = std::move(attempt);
      failed_ = false;
    } catch (const PolicyFailure&) {
      failed_ = true;
      plan_without_policy(view, policy_->traits().preemptive, plan);
    }
  }
  void on_job(JobMoment moment, Slot slot, const View& view) override {
    policy_->on_job(moment, slot, view);
  }
  // It is asked again soon, also where nothing happens.
  Seconds wake(const View& view) const override {
    constexpr Seconds kSoon = 5;
    const Seconds wake = policy_->wake(view);
    return failed_ && !view.jobs.active().empty() ? std::min(wake, view.now + kSoon) : wake;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<FallingBack>(policy_->clone());
  }

 private:
  std::unique_ptr<SchedulingPolicy> policy_;
  bool failed_ = false;
};

// A job that shares the GPUs of a running job goes on sharing them.
AllocationRequest as_it_runs(const View& view, Slot first) {
  const Job& job = view.jobs[first];
  AllocationRequest request = AllocationRequest::alone(first, job.gpus.gpus(), job.spec.gpu_type);
  if (job.next_co_located == kNoSlot) return request;
  for (Slot other = job.next_co_located; other != first && request.size < kMaxGroup;
       other = view.jobs[other].next_co_located) {
    request.join(other);
  }
  return request;
}

}  // namespace

void plan_without_policy(const View& view, bool preemptive, Plan& plan) {
  if (preemptive) {
    std::vector<char> listed(view.jobs.slots(), 0);
    for (const Slot slot : view.jobs.running()) {
      if (listed[index(slot)] != 0) continue;
      const AllocationRequest request = as_it_runs(view, slot);
      for (int i = 0; i < request.size; ++i) {
        listed[index(request.jobs[static_cast<std::size_t>(i)])] = 1;
      }
      plan.add(request);
    }
  }
  for (const Slot slot : view.jobs.waiting()) {
    const JobSpec& job = view.jobs[slot].spec;
    if (!plan.add(AllocationRequest::alone(slot, job.gpus, job.gpu_type))) return;
  }
}

std::unique_ptr<SchedulingPolicy> make_outside_rounds(Outside policy, OnFailure rule) {
  const Declared& declared = policy->declared();
  RoundOptions options;
  options.round = declared.round;
  options.reset_interval = declared.reset_interval;
  options.seed = static_cast<std::int64_t>(declared.seed);
  options.optimises = true;
  options.needs = kept_needs(declared.needs);
  return std::make_unique<RoundsPolicy>(std::make_unique<OutsideAllocator>(std::move(policy), rule),
                                        std::move(options));
}

std::unique_ptr<SchedulingPolicy> fall_back_from(std::unique_ptr<SchedulingPolicy> policy) {
  return std::make_unique<FallingBack>(std::move(policy));
}

}  // namespace muster
