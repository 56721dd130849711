// A policy around another one: tests derive from it to change what a policy declares or sees, or to
// watch what it does.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "policy/scheduling.h"

namespace muster {

class Around : public SchedulingPolicy, private CompletionRule {
 public:
  explicit Around(std::unique_ptr<SchedulingPolicy> inner) : inner_(std::move(inner)) {}
  Around(const Around& other) : SchedulingPolicy(other), inner_(other.inner_->clone()) {}
  Around& operator=(const Around&) = delete;
  ~Around() override = default;

  SchedulingTraits traits() const override { return inner_->traits(); }
  void schedule(const View& view, Plan& plan) override { inner_->schedule(seen(view), plan); }
  CompletionRule* completion_rule() override {
    return inner_->completion_rule() == nullptr ? nullptr : this;
  }
  void on_job(JobMoment moment, Slot slot, const View& view) override {
    inner_->on_job(moment, slot, seen(view));
  }
  Seconds wake(const View& view) const override { return inner_->wake(seen(view)); }
  const DeadlineBook* promises() const override { return inner_->promises(); }
  const Allocator* allocator() const override { return inner_->allocator(); }
  bool checkpoint(Archive& archive) override { return inner_->checkpoint(archive); }

 protected:
  // What the policy is shown instead of `view`.
  virtual View seen(const View& view) const { return view; }
  SchedulingPolicy& inner() const { return *inner_; }

 private:
  void complete_jobs(const View& view, std::vector<PolicyCompletion>& completions) override {
    inner_->completion_rule()->complete_jobs(seen(view), completions);
  }

  std::unique_ptr<SchedulingPolicy> inner_;
};

}  // namespace muster
