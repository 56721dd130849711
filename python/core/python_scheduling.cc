// Scheduling policies written in Python, by the form of their answer: keys, whole orders, requests,
// fractions of time.
#include <algorithm>
#include <cmath>

#include <nanobind/stl/string.h>

#include "core/python_policy.h"
#include "policy/gavel/rounds.h"

namespace muster::python {
namespace {

SchedulingTraits traits_of(const PythonPolicy& policy) {
  return {.needs = {},  // set by whoever owns the copy that stays
          .preemptive = policy.flag("preemptive"),
          .stable_between_events = policy.flag("stable_between_events"),
          .strict = policy.flag("strict"),
          .work_conserving = policy.flag("work_conserving"),
          .resizes = policy.flag("resizes"),
          .co_locates = policy.flag("co_locates"),
          .needs_periodic_turns = policy.flag("needs_periodic_turns")};
}

SchedulingTraits with_needs(SchedulingTraits traits, const PythonPolicy& policy) {
  traits.needs = policy.needs();
  return traits;
}

Seconds woken(const View& view, Seconds quantum) {
  return view.jobs.waiting().empty() ? kNever : view.now + quantum;
}

// Asks for one number per job.
void ask_numbers(const PythonPolicy& policy, const View& view, const std::vector<Slot>& slots,
                 const char* what, std::vector<double>& answer) {
  policy.call(view.now, [&](nb::handle call) {
    const Lent<JobsView> jobs(view, slots, policy.symbols());
    const Lent<ClusterView> cluster(view.cluster, policy.symbols(), 0LL);
    const nb::object numbers = call(*jobs, *cluster, view.now);
    const Numbers<double> list(numbers);
    if (list.size() != slots.size()) {
      policy.bad(view.now,
                 fmt::format("returned {} {} for {} jobs", list.size(), what, slots.size()));
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (std::isnan(list[i])) {
        policy.bad(view.now, fmt::format("the {} of job {} is NaN", what,
                                         display_name(view.jobs[slots[i]].spec)));
      }
      answer[index(slots[i])] = list[i];
    }
  });
}

// Keys that rest while a job waits: a turn asks for those of running jobs and of jobs that came or
// stopped since the last one, all at once, and costs what runs, not what waits.
class PythonKeyPolicy final : public KeyPolicy {
 public:
  explicit PythonKeyPolicy(PythonPolicy policy)
      : policy_(std::move(policy)),
        traits_(traits_of(policy_)),
        quantum_(policy_.number("quantum")) {}

  SchedulingTraits traits() const override { return with_needs(traits_, policy_); }
  bool keys_rest() const override { return true; }
  double key(const Job& job, const View&) const override { return keys_[index(job.self)]; }
  Seconds wake(const View& view) const override { return woken(view, quantum_); }

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
    auto copy = std::make_unique<PythonKeyPolicy>(*this);
    copy->policy_ = policy_.copy();
    return copy;
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
    if (!slots_.empty()) ask_numbers(policy_, view, slots_, "keys", keys_);
    for (const Late& late : late_) {
      listed_[index(late.slot)] = false;
      KeyPolicy::on_job(late.moment, late.slot, view);
    }
    late_.clear();
    changed_ = false;
    asked_at_ = view.now;
  }

  PythonPolicy policy_;
  SchedulingTraits traits_;
  Seconds quantum_;
  std::vector<double> keys_;  // by slot
  std::vector<char> listed_;  // by slot: among the late ones
  std::vector<Late> late_;
  std::vector<Slot> slots_;
  Seconds asked_at_ = -kNever;
  bool changed_ = true;
};

// Asked every turn about all jobs: an order, keys, or requests with sizes and groups.
class PythonListPolicy final : public SchedulingPolicy {
 public:
  explicit PythonListPolicy(PythonPolicy policy)
      : policy_(std::move(policy)),
        traits_(traits_of(policy_)),
        form_(policy_.form()),
        quantum_(policy_.number("quantum")) {}

  SchedulingTraits traits() const override { return with_needs(traits_, policy_); }
  Seconds wake(const View& view) const override { return woken(view, quantum_); }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    auto copy = std::make_unique<PythonListPolicy>(*this);
    copy->policy_ = policy_.copy();
    return copy;
  }

  void schedule(const View& view, Plan& plan) override {
    slots_.clear();
    const SlotList& jobs = traits_.preemptive ? view.jobs.active() : view.jobs.waiting();
    for (const Slot slot : jobs) slots_.push_back(slot);
    if (slots_.empty()) return;
    if (form_ == "key") {
      by_key(view, plan);
    } else {
      policy_.call(view.now, [&](nb::handle call) {
        const Lent<JobsView> lent(view, slots_, policy_.symbols());
        const Lent<ClusterView> cluster(view.cluster, policy_.symbols(), 0LL);
        const nb::object answer = call(*lent, *cluster, view.now);
        seen_.assign(slots_.size(), 0);
        if (form_ == "order") {
          in_order(view, Numbers<std::int64_t>(answer), plan);
        } else {
          as_requested(view, Numbers<std::int64_t>(answer), plan);
        }
      });
    }
  }

 private:
  AllocationRequest as_asked(const View& view, Slot slot) const {
    const JobSpec& job = view.jobs[slot].spec;
    return AllocationRequest::alone(slot, job.gpus, job.gpu_type);
  }

  void by_key(const View& view, Plan& plan) {
    keys_.resize(view.jobs.slots());
    ask_numbers(policy_, view, slots_, "keys", keys_);
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
      policy_.bad(view.now,
                  fmt::format("named job {} of {}: expected places in the columns, from 0 "
                              "to {}",
                              place, slots_.size(), slots_.size() - 1));
    }
    const auto at = static_cast<std::size_t>(place);
    if (seen_[at] != 0) {
      policy_.bad(view.now, fmt::format("named job {} twice (place {})",
                                        display_name(view.jobs[slots_[at]].spec), place));
    }
    seen_[at] = 1;
    return slots_[at];
  }

  void in_order(const View& view, const Numbers<std::int64_t>& order, Plan& plan) {
    bool wanted = true;
    for (const std::int64_t place : order) {
      const Slot slot = named(view, place);
      wanted = wanted && plan.add(as_asked(view, slot));
    }
  }

  // Rows of seven: how many jobs, up to four places, GPUs, and the number of the GPU type or -1.
  void as_requested(const View& view, const Numbers<std::int64_t>& rows, Plan& plan) {
    constexpr std::size_t kRow = 3 + kMaxGroup;
    const std::vector<Symbol> types = types_of(view.cluster);
    bool wanted = true;
    for (std::size_t at = 0; at + kRow <= rows.size(); at += kRow) {
      AllocationRequest request;
      request.gpus = static_cast<int>(rows[at + 1 + kMaxGroup]);
      for (std::int64_t i = 0; i < rows[at]; ++i) {
        const Slot slot = named(view, rows[at + 1 + static_cast<std::size_t>(i)]);
        check_size(view, slot, request.gpus);
        request.join(slot);
      }
      const std::int64_t type = rows[at + 2 + kMaxGroup];
      request.gpu_type = view.jobs[request.lead()].spec.gpu_type;
      if (type >= static_cast<std::int64_t>(types.size())) {
        policy_.bad(view.now, fmt::format("named GPU type {} of {}", type, types.size()));
      }
      if (type >= 0) request.gpu_type = types[static_cast<std::size_t>(type)];
      wanted = wanted && plan.add(request);
    }
  }

  void check_size(const View& view, Slot slot, int gpus) const {
    const JobSpec& job = view.jobs[slot].spec;
    const bool elastic = job.elastic() && traits_.resizes;
    const int least = elastic ? std::max(1, job.min_gpus) : job.gpus;
    const int most = elastic ? job.max_gpus : job.gpus;
    if (gpus >= least && gpus <= most) return;
    policy_.bad(
        view.now,
        fmt::format("gave {} GPUs to job {}, which runs on {}{}", gpus, display_name(job),
                    least == most ? fmt::to_string(least) : fmt::format("{} to {}", least, most),
                    job.elastic() && !traits_.resizes
                        ? ": declare resizes = True to change the sizes of elastic jobs"
                        : ""));
  }

  PythonPolicy policy_;
  SchedulingTraits traits_;
  std::string form_;
  Seconds quantum_;
  std::vector<Slot> slots_;
  std::vector<double> keys_;  // by slot
  std::vector<char> seen_;    // by place
};

// One fraction of time per job.
class PythonFractionPolicy final : public FractionPolicy {
 public:
  explicit PythonFractionPolicy(PythonPolicy policy)
      : policy_(std::move(policy)),
        traits_(traits_of(policy_)),
        quantum_(policy_.number("quantum")) {}
  SchedulingTraits traits() const override { return with_needs(traits_, policy_); }
  Seconds wake(const View& view) const override { return woken(view, quantum_); }
  void allocate(const View& view, std::vector<double>& fraction) override {
    slots_.clear();
    for (const Slot slot : view.jobs.active()) slots_.push_back(slot);
    ask_numbers(policy_, view, slots_, "fractions", fraction);
    for (const Slot slot : slots_) {
      const double given = fraction[index(slot)];
      if (given >= 0 && given <= 1) continue;
      const nb::gil_scoped_acquire interpreter;
      policy_.bad(view.now, fmt::format("gave job {} the fraction {}: expected 0 to 1",
                                        display_name(view.jobs[slot].spec), given));
    }
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    auto copy = std::make_unique<PythonFractionPolicy>(*this);
    copy->policy_ = policy_.copy();
    return copy;
  }

 private:
  PythonPolicy policy_;
  SchedulingTraits traits_;
  Seconds quantum_;
  std::vector<Slot> slots_;
};

// Fractions of time by GPU type, in Gavel's rounds (policy/gavel/rounds.h).
class PythonAllocator final : public Allocator {
 public:
  explicit PythonAllocator(PythonPolicy policy)
      : policy_(std::move(policy)), knows_types_(policy_.flag("knows_types")) {}
  Needs needs() const { return policy_.needs(); }
  AllocatorTraits traits() const override { return {.knows_types = knows_types_}; }
  std::unique_ptr<Allocator> clone() const override {
    return std::make_unique<PythonAllocator>(policy_.copy());
  }

  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    // Columns are the cluster's types from the last to the first; Python sees them as it names
    // them.
    const std::size_t types = problem.types;
    const auto turned = [types](const auto& row_major) {
      std::vector<double> values(row_major.begin(), row_major.end());
      for (std::size_t at = 0; at < values.size(); at += types) {
        std::reverse(values.begin() + static_cast<std::ptrdiff_t>(at),
                     values.begin() + static_cast<std::ptrdiff_t>(at + types));
      }
      return values;
    };
    std::vector<double> jobs;  // rows of six
    for (const AllocationJob& job : problem.jobs) {
      jobs.insert(jobs.end(), {static_cast<double>(index(job.id)), static_cast<double>(job.gpus),
                               job.weight, job.steps_left, job.age, job.deadline_in});
    }
    policy_.call(problem.now, [&](nb::handle call) {
      const nb::object answer =
          call(bytes_of(turned(problem.rates)), bytes_of(jobs), bytes_of(turned(problem.capacity)),
               bytes_of(turned(problem.price)), problem.now);
      const Numbers<double> fractions(answer);
      if (fractions.size() != allocation.alone.size()) {
        policy_.bad(problem.now, fmt::format("returned {} fractions for {} jobs and {} GPU types",
                                             fractions.size(), problem.jobs.size(), types));
      }
      for (std::size_t i = 0; i < fractions.size(); ++i) {
        constexpr double kRounding = 1e-6;  // of solvers
        if (!(fractions[i] >= -kRounding && fractions[i] <= 1 + kRounding)) {
          policy_.bad(problem.now, fmt::format("gave job {} the fraction {}: expected 0 to 1",
                                               index(problem.jobs[i / types].id), fractions[i]));
        }
        const std::size_t row = i / types * types;
        allocation.alone[row + types - 1 - i % types] = std::clamp(fractions[i], 0.0, 1.0);
      }
    });
  }

 private:
  PythonPolicy policy_;
  bool knows_types_;
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_python_scheduling(PythonPolicy policy) {
  const std::string form = policy.form();
  if (form == "key" && policy.flag("keys_rest") && policy.flag("preemptive")) {
    return std::make_unique<PythonKeyPolicy>(std::move(policy));
  }
  if (form == "fractions") return std::make_unique<PythonFractionPolicy>(std::move(policy));
  if (form == "fractions_by_type") {
    RoundOptions options;
    options.round = policy.number("round");
    options.reset_interval = policy.number("reset_interval");
    options.seed = static_cast<std::int64_t>(policy.number("seed"));
    auto allocator = std::make_unique<PythonAllocator>(std::move(policy));
    options.needs = allocator->needs();
    options.optimises = true;
    return std::make_unique<RoundsPolicy>(std::move(allocator), std::move(options));
  }
  return std::make_unique<PythonListPolicy>(std::move(policy));
}

}  // namespace muster::python
