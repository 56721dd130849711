#include <algorithm>
#include <cmath>

#include "policy/chronus/lease_params.h"
#include "policy/shared_params.h"
#include "policy/table.h"
#include "solve/lease_program.h"

namespace muster {
namespace {

// Source: Chronus (SoCC'21). Time is dealt out in leases. A job with deadlines is promised one when
// it comes, if its leases fit before it together with those of all jobs that have a promise; each
// lease, an integer program (or a greedy choice) decides which of them run, such that all promises
// can be kept and the sum of their values is largest. GPUs that are left go to the others: jobs
// whose deadline could not be promised and jobs without one, the least remaining GPU time first,
// and then to promised jobs whose turn would be later.
//
// Run times are the owner's or a model's estimates, padded, at the speed of the performance model;
// where there are none, the recorded ones. Where it departs from the artifact, which is
// `chronus-as-coded`: jobs are answered as they come, and a promised job may use idle GPUs.
class Chronus final : public SchedulingPolicy {
 public:
  struct Options {
    Seconds lease = 240;
    double padding = 1.1;
    bool exact = true;
    IntegerOptions program;
  };
  explicit Chronus(const Options& options) : options_(options) {}

  SchedulingTraits traits() const override {
    return {.needs = kNeeds,
            .preemptive = true,
            .stable_between_events = false,
            .optimises = options_.exact};
  }
  void on_job(JobMoment moment, Slot slot, const View& view) override {
    if (moment == JobMoment::kAdmitted) {
      if (jobs_.size() <= index(slot)) jobs_.resize(index(slot) + 1);
      jobs_[index(slot)] = {};
      if (view.jobs[slot].spec.deadline != kNever) arriving_.push_back(slot);
    }
    if (moment == JobMoment::kLeft) std::erase(arriving_, slot);
  }
  void schedule(const View& view, Plan& plan) override {
    const int capacity = view.cluster.usable_gpus();
    const bool new_lease = view.now >= lease_end_;
    answer(view, capacity, new_lease ? view.now : lease_end_);
    if (new_lease) {
      lease_end_ = (std::floor(view.now / options_.lease) + 1) * options_.lease;
      deal(view, capacity, plan);
    }
    rank(view);
    for (const Slot slot : order_) {
      const JobSpec& spec = view.jobs[slot].spec;
      if (!plan.add(AllocationRequest::alone(slot, spec.gpus, spec.gpu_type))) return;
    }
  }
  Seconds wake(const View& view) const override {
    return view.jobs.active().empty() ? kNever : lease_end_;
  }
  bool checkpoint(Archive& archive) override {
    archive.value(lease_end_);
    archive.list(jobs_);
    archive.list(arriving_);
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Chronus>(*this);
  }

 private:
  static constexpr Need kNeeds[] = {
      {Knowledge::kDeadline,
       "no job is promised a lease, and the least remaining GPU time goes first"},
      {Knowledge::kEstimate, "such a job is planned with its duration", true}};
  struct State {
    bool promised = false;
    bool leased = false;
  };

  double left(const View& view, const Job& job) const {
    RunContext context;
    context.gpus = job.spec.gpus;
    context.gpu_type = job.spec.gpu_type;
    const double estimate = job.spec.estimate > 0 ? job.spec.estimate : job.total_work;
    const double work = std::max(1.0, estimate * options_.padding - job.work_at(view.now));
    return work / view.perf.rate(job.spec, context);
  }

  LeaseJob wants(const View& view, const Job& job, Seconds from) const {
    LeaseJob wants;
    wants.gpus = job.spec.gpus;
    wants.needed = static_cast<int>(std::ceil(std::min(1e6, left(view, job) / options_.lease)));
    const auto add = [&](Seconds by, double value) {
      const double leases = std::floor((by - from) / options_.lease);
      wants.options.push_back({static_cast<int>(std::clamp(leases, 0.0, kHorizon)), value});
    };
    add(job.spec.deadline, job.spec.value);
    for (const ValueStep& step : job.spec.later) add(step.by, step.value);
    return wants;
  }

  // Jobs that came since get an answer; leases are dealt next at `from`.
  void answer(const View& view, int capacity, Seconds from) {
    if (arriving_.empty()) return;
    std::vector<LeaseJob> accepted;
    for (const Slot slot : view.jobs.active()) {
      if (!jobs_[index(slot)].promised) continue;
      accepted.push_back(wants(view, view.jobs[slot], from));
      // What the present lease will have done.
      if (jobs_[index(slot)].leased && from > view.now) --accepted.back().needed;
      if (accepted.back().needed <= 0) accepted.pop_back();
    }
    for (const Slot slot : arriving_) {
      accepted.push_back(wants(view, view.jobs[slot], from));
      jobs_[index(slot)].promised = leases_fit(accepted, capacity);
      if (!jobs_[index(slot)].promised) accepted.pop_back();
    }
    arriving_.clear();
  }

  void deal(const View& view, int capacity, Plan& plan) {
    std::vector<Slot> holders;
    std::vector<LeaseJob> jobs;
    bool others = false;
    for (const Slot slot : view.jobs.active()) {
      jobs_[index(slot)].leased = false;
      if (!jobs_[index(slot)].promised) {
        others = true;
        continue;
      }
      holders.push_back(slot);
      jobs.push_back(wants(view, view.jobs[slot], view.now));
    }
    if (capacity == 0) return;
    const LeaseAim aim = others ? LeaseAim::kFew : LeaseAim::kMany;
    const LeaseChoice choice = options_.exact ? choose_leases(jobs, capacity, aim, options_.program)
                                              : choose_leases_greedily(jobs, capacity, aim);
    if (!jobs.empty()) plan.solved(choice.gap);
    for (std::size_t i = 0; i < holders.size(); ++i) {
      State& state = jobs_[index(holders[i])];
      state.leased = choice.now[i] != 0;
      // Failures and slow restarts can break a promise; the job then takes what is left.
      if (choice.option[i] == LeaseChoice::kNone) state.promised = false;
    }
  }

  // Leases first; then, of the others, those that run already, so that only the end of a lease
  // interrupts a job.
  void rank(const View& view) {
    const auto late_in_lease = view.now + options_.lease > lease_end_;
    order_.assign(view.jobs.active().begin(), view.jobs.active().end());
    keys_.resize(view.jobs.slots());
    for (const Slot slot : order_) {
      const Job& job = view.jobs[slot];
      const State& state = jobs_[index(slot)];
      const int group = state.leased ? 0 : state.promised ? 2 : 1;
      const bool stays = late_in_lease && job.running();
      keys_[index(slot)] = {group, stays ? 0 : 1, left(view, job) * job.spec.gpus};
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [this](Slot a, Slot b) { return keys_[index(a)] < keys_[index(b)]; });
  }

  static constexpr double kHorizon = 20000;  // leases ahead; later deadlines are as good as none

  struct Key {
    int group = 0;
    int after = 0;
    double gpu_time = 0;
    friend bool operator<(const Key& a, const Key& b) {
      if (a.group != b.group) return a.group < b.group;
      return a.after != b.after ? a.after < b.after : a.gpu_time < b.gpu_time;
    }
  };

  Options options_;
  Seconds lease_end_ = -kNever;
  std::vector<State> jobs_;  // by slot
  std::vector<Slot> arriving_;
  std::vector<Slot> order_;
  std::vector<Key> keys_;  // by slot
};

}  // namespace

PolicyInfo<SchedulingPolicy> chronus_row() {
  return {"chronus",
          "leases for jobs with promised deadlines, by value; the other jobs get what is left",
          "Chronus, 2021",
          {kLease,
           kLeaseChoice,
           {"padding", ParamKind::kReal, "1.1", "safety factor on run times", 1, 100},
           kBranches},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            Chronus::Options options;
            options.lease = params.real("lease");
            options.padding = params.real("padding");
            options.exact = params.text("choice") == "exact";
            options.program.branches = static_cast<int>(params.integer("branches"));
            return std::make_unique<Chronus>(options);
          },
          "Chronus",
          "the paper"};
}

}  // namespace muster
