// Scheduling policies from outside the tree, by the form of their answer: keys, whole orders,
// requests, fractions of time.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "policy/outside/columns.h"
#include "policy/outside/outside_allocator.h"
#include "policy/outside/outside_policies.h"

namespace muster {
namespace {

SchedulingTraits traits_of(const Declared& declared) {
  return {.needs = declared.needs,
          .preemptive = declared.preemptive,
          .stable_between_events = declared.stable_between_events,
          .strict = declared.strict,
          .work_conserving = declared.work_conserving,
          .resizes = declared.resizes,
          .co_locates = declared.co_locates,
          .regroups = declared.co_locates,
          .needs_periodic_turns = declared.needs_periodic_turns};
}

Seconds woken(const View& view, Seconds quantum) {
  return view.jobs.waiting().empty() ? kNever : view.now + quantum;
}

PolicyQuestion about(const View& view, const std::vector<Slot>& slots) {
  PolicyQuestion question;
  question.now = view.now;
  question.view = &view;
  question.slots = &slots;
  question.cluster = &view.cluster;
  return question;
}

// Asks for one number per job; `numbers` is indexed by slot.
void ask_numbers(const Outside& policy, const View& view, const std::vector<Slot>& slots,
                 const char* what, PolicyAnswer& answer, std::vector<double>& numbers) {
  policy->ask(about(view, slots), answer);
  const std::vector<double>& list = answer.numbers;
  if (list.size() != slots.size()) {
    policy->bad(view.now,
                fmt::format("returned {} {} for {} jobs", list.size(), what, slots.size()));
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (std::isnan(list[i])) {
      policy->bad(view.now, fmt::format("the {} of job {} is NaN", what,
                                        display_name(view.jobs[slots[i]].spec)));
    }
    numbers[index(slots[i])] = list[i];
  }
}

// Keys that rest while a job waits: a turn asks for those of running jobs and of jobs that came or
// stopped since the last one, all at once, and costs what runs, not what waits.
class OutsideKeyPolicy final : public KeyPolicy {
 public:
  explicit OutsideKeyPolicy(Outside policy) : policy_(std::move(policy)) {}

  SchedulingTraits traits() const override {
    SchedulingTraits traits = traits_of(policy_->declared());
    traits.repeats = keys_rest();
    return traits;
  }
  bool keys_rest() const override { return true; }
  double key(const Job& job, const View&) const override { return keys_[index(job.self)]; }
  Seconds wake(const View& view) const override { return woken(view, policy_->declared().quantum); }

  // The key of a job that begins to wait is asked for at the next turn, together with the others.
  void on_job(JobMoment moment, Slot slot, const View& view) override {
    changed_ = true;
    if (keys_.size() <= index(slot)) {
      keys_.resize(index(slot) + 1);
      listed_.resize(index(slot) + 1, false);
    }
    const bool waits =
        moment != JobMoment::kLeft && moment != JobMoment::kStarted && view.jobs[slot].waiting();
    if (waits && !listed_[index(slot)]) {
      late_.push_back({slot, moment});
      listed_[index(slot)] = true;
    }
    if (waits) return;
    if (listed_[index(slot)]) {
      std::erase_if(late_, [slot](const Late& late) { return late.slot == slot; });
      listed_[index(slot)] = false;
    }
    KeyPolicy::on_job(moment, slot, view);
  }

  void schedule(const View& view, Plan& plan) override {
    if (changed_ || asked_at_ != view.now) ask(view);
    KeyPolicy::schedule(view, plan);
  }

  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<OutsideKeyPolicy>(*this);
  }

 private:
  struct Late {
    Slot slot;
    JobMoment moment;
  };

  void ask(const View& view) {
    slots_.clear();
    for (const Late& late : late_) slots_.push_back(late.slot);
    for (const Slot slot : view.jobs.running()) slots_.push_back(slot);
    if (!slots_.empty()) ask_numbers(policy_, view, slots_, "keys", answer_, keys_);
    for (const Late& late : late_) {
      listed_[index(late.slot)] = false;
      KeyPolicy::on_job(late.moment, late.slot, view);
    }
    late_.clear();
    changed_ = false;
    asked_at_ = view.now;
  }

  Outside policy_;
  PolicyAnswer answer_;
  std::vector<double> keys_;  // by slot
  std::vector<char> listed_;  // by slot: among the late ones
  std::vector<Late> late_;
  std::vector<Slot> slots_;
  Seconds asked_at_ = -kNever;
  bool changed_ = true;
};

// Asked every turn about all jobs: an order, keys, or requests with sizes and groups.
class OutsideListPolicy final : public SchedulingPolicy {
 public:
  explicit OutsideListPolicy(Outside policy) : policy_(std::move(policy)) {}

  SchedulingTraits traits() const override { return traits_of(policy_->declared()); }
  Seconds wake(const View& view) const override { return woken(view, policy_->declared().quantum); }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<OutsideListPolicy>(*this);
  }

  void schedule(const View& view, Plan& plan) override {
    slots_.clear();
    const Declared& declared = policy_->declared();
    const SlotList& jobs = declared.preemptive ? view.jobs.active() : view.jobs.waiting();
    for (const Slot slot : jobs) slots_.push_back(slot);
    if (slots_.empty()) return;
    if (declared.form == "key") return by_key(view, plan);
    policy_->ask(about(view, slots_), answer_);
    seen_.assign(slots_.size(), 0);
    if (declared.form == "order") {
      in_order(view, plan);
    } else {
      as_requested(view, plan);
    }
  }

 private:
  AllocationRequest as_asked(const View& view, Slot slot) const {
    const JobSpec& job = view.jobs[slot].spec;
    return AllocationRequest::alone(slot, job.gpus, job.gpu_type);
  }

  void by_key(const View& view, Plan& plan) {
    keys_.resize(view.jobs.slots());
    ask_numbers(policy_, view, slots_, "keys", answer_, keys_);
    // Slots are in order of arrival, which settles ties.
    std::stable_sort(slots_.begin(), slots_.end(),
                     [this](Slot a, Slot b) { return keys_[index(a)] < keys_[index(b)]; });
    for (const Slot slot : slots_) {
      if (!plan.add(as_asked(view, slot))) return;
    }
  }

  // The job at a place of the columns; each may be named once.
  Slot named(const View& view, std::int64_t place) {
    if (place < 0 || static_cast<std::size_t>(place) >= slots_.size()) {
      policy_->bad(view.now,
                   fmt::format("named job {} of {}: expected places in the columns, from 0 to {}",
                               place, slots_.size(), slots_.size() - 1));
    }
    const auto at = static_cast<std::size_t>(place);
    if (seen_[at] != 0) {
      policy_->bad(view.now, fmt::format("named job {} twice (place {})",
                                         display_name(view.jobs[slots_[at]].spec), place));
    }
    seen_[at] = 1;
    return slots_[at];
  }

  void in_order(const View& view, Plan& plan) {
    bool wanted = true;
    for (const std::int64_t place : answer_.integers) {
      const Slot slot = named(view, place);
      wanted = wanted && plan.add(as_asked(view, slot));
    }
  }

  // Rows of seven: how many jobs, up to four places, GPUs, and the number of the GPU type or -1.
  void as_requested(const View& view, Plan& plan) {
    constexpr std::size_t kRow = 3 + kMaxGroup;
    const std::vector<std::int64_t>& rows = answer_.integers;
    const std::vector<Symbol> types = types_of(view.cluster);
    bool wanted = true;
    if (rows.size() % kRow != 0) policy_->bad(view.now, "returned part of a request");
    for (std::size_t at = 0; at + kRow <= rows.size(); at += kRow) {
      if (rows[at] < 1 || rows[at] > kMaxGroup) {
        policy_->bad(view.now, fmt::format("returned a group of {} jobs, expected 1 to {}",
                                           rows[at], kMaxGroup));
      }
      AllocationRequest request;
      request.gpus = static_cast<int>(
          std::clamp<std::int64_t>(rows[at + 1 + kMaxGroup], 0, std::numeric_limits<int>::max()));
      for (std::int64_t i = 0; i < rows[at]; ++i) {
        const Slot slot = named(view, rows[at + 1 + static_cast<std::size_t>(i)]);
        check_size(view, slot, request.gpus);
        request.join(slot);
      }
      const std::int64_t type = rows[at + 2 + kMaxGroup];
      request.gpu_type = view.jobs[request.lead()].spec.gpu_type;
      if (type >= static_cast<std::int64_t>(types.size())) {
        policy_->bad(view.now, fmt::format("named GPU type {} of {}", type, types.size()));
      }
      if (type >= 0) request.gpu_type = types[static_cast<std::size_t>(type)];
      wanted = wanted && plan.add(request);
    }
  }

  void check_size(const View& view, Slot slot, int gpus) const {
    const JobSpec& job = view.jobs[slot].spec;
    const bool resizes = policy_->declared().resizes;
    const bool elastic = job.elastic() && resizes;
    const int least = elastic ? std::max(1, job.min_gpus) : job.gpus;
    const int most = elastic ? job.max_gpus : job.gpus;
    if (gpus >= least && gpus <= most) return;
    policy_->bad(
        view.now,
        fmt::format("gave {} GPUs to job {}, which runs on {}{}", gpus, display_name(job),
                    least == most ? fmt::to_string(least) : fmt::format("{} to {}", least, most),
                    job.elastic() && !resizes
                        ? ": declare resizes = True to change the sizes of elastic jobs"
                        : ""));
  }

  Outside policy_;
  PolicyAnswer answer_;
  std::vector<Slot> slots_;
  std::vector<double> keys_;  // by slot
  std::vector<char> seen_;    // by place
};

// One fraction of time per job.
class OutsideFractionPolicy final : public FractionPolicy {
 public:
  explicit OutsideFractionPolicy(Outside policy) : policy_(std::move(policy)) {}
  SchedulingTraits traits() const override { return traits_of(policy_->declared()); }
  Seconds wake(const View& view) const override { return woken(view, policy_->declared().quantum); }
  void allocate(const View& view, std::vector<double>& fraction) override {
    slots_.clear();
    for (const Slot slot : view.jobs.active()) slots_.push_back(slot);
    ask_numbers(policy_, view, slots_, "fractions", answer_, fraction);
    for (const Slot slot : slots_) {
      const double given = fraction[index(slot)];
      if (given >= 0 && given <= 1) continue;
      policy_->bad(view.now, fmt::format("gave job {} the fraction {}: expected 0 to 1",
                                         display_name(view.jobs[slot].spec), given));
    }
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<OutsideFractionPolicy>(*this);
  }

 private:
  Outside policy_;
  PolicyAnswer answer_;
  std::vector<Slot> slots_;
};

std::unique_ptr<SchedulingPolicy> made_by_form(Outside policy) {
  const Declared& declared = policy->declared();
  if (declared.form == "key" && declared.keys_rest && declared.preemptive) {
    return std::make_unique<OutsideKeyPolicy>(std::move(policy));
  }
  if (declared.form == "fractions") {
    return std::make_unique<OutsideFractionPolicy>(std::move(policy));
  }
  return std::make_unique<OutsideListPolicy>(std::move(policy));
}

}  // namespace

std::unique_ptr<SchedulingPolicy> make_outside_scheduling(Outside policy, OnFailure rule) {
  if (policy->declared().form == "fractions_by_type") {
    return make_outside_rounds(std::move(policy), rule);
  }
  auto made = made_by_form(std::move(policy));
  return rule == OnFailure::kEndRun ? std::move(made) : fall_back_from(std::move(made));
}

}  // namespace muster
