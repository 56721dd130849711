// Chronus as the ElasticFlow artifact runs it (time-aware-with-lease), for its figures 6, 8 and 11.
#include <algorithm>
#include <cmath>
#include <optional>

#include "model/truth.h"
#include "policy/chronus/lease_params.h"
#include "policy/shared_params.h"
#include "policy/table.h"
#include "solve/lease_program.h"

namespace muster {
namespace {

// Source: the scheduler of Chronus (SoCC'21) in the artifact of ElasticFlow, lease 240 s. Time is
// looked at every check interval. At the end of a lease, an integer program chooses which accepted
// jobs have the next one. Every 240 s new jobs are accepted if their leases fit before their
// deadline with those of all others, and idle GPUs go to jobs that were not accepted: jobs that
// began and ran out of their estimate first, then the smallest remaining GPU time; jobs past saving
// last.
//
// Behaviour reproduced: estimates are 1.1 times the duration and a share of the resume cost; a
// resume adds 0.5 (1 + log2 GPUs) seconds to a job; a job beside leases is resumed anew in every
// lease; an accepted job is scored by its deadline rounded down to a lease; jobs without deadline
// keep the one of the trace, if the trace has one. Placement does not change speeds.
//
// Where it departs: the artifact's plan for later leases is whatever its solver returned, and new
// jobs must fit around it; here new jobs and old ones are packed together.
class ChronusAsCoded final : public SchedulingPolicy, public CompletionRule {
 public:
  struct Options {
    Seconds lease = 240;
    Seconds slot = 240;
    bool exact = true;
    IntegerOptions program;
  };
  explicit ChronusAsCoded(const Options& options) : options_(options) {}

  SchedulingTraits traits() const override {
    return {.needs = kNeeds,
            .preemptive = true,
            .stable_between_events = false,
            .work_conserving = false,
            .needs_periodic_turns = true,
            .optimises = true,
            .ends_jobs = true,
            .drives_completion = true,
            .keeps_truth = true,
            .needs_even_nodes = true,
            .reproduces_simulator = true,
            .pacing = "slots"};
  }
  CompletionRule* completion_rule() override { return this; }

  void on_job(JobMoment moment, Slot slot, const View& view) override {
    if (moment == JobMoment::kLeft) {
      std::erase(pending_, slot);
      std::erase(running_, slot);
    }
    if (moment != JobMoment::kAdmitted) return;
    if (jobs_.size() <= index(slot)) jobs_.resize(index(slot) + 1);
    const JobSpec& spec = view.jobs[slot].spec;
    State& job = jobs_[index(slot)];
    job = {};
    job.submit = spec.submit;
    job.duration = true_duration(spec);
    job.gpus = spec.gpus;
    job.user_deadline = spec.deadline;
    job.deadline = spec.deadline;
    if (spec.deadline != kNever) {
      job.options.emplace_back(spec.deadline, spec.value);
      for (const ValueStep& step : spec.later) job.options.emplace_back(step.by, step.value);
    }
    arriving_.push_back(slot);
  }

  void complete_jobs(const View& view, std::vector<PolicyCompletion>& completions) override {
    now_ = view.now;
    capacity_ = view.cluster.usable_gpus();
    run_on(completions);
    if (on_grid(options_.lease)) deal_leases();
    if (on_grid(options_.slot)) {
      take_arrivals();
      fill();
    }
  }
  void schedule(const View&, Plan& plan) override {
    if (gap_) plan.solved(*gap_);
    gap_.reset();
    for (const Slot slot : running_)
      plan.add(AllocationRequest::alone(slot, jobs_[index(slot)].gpus));
  }
  bool checkpoint(Archive& archive) override {
    archive.value(now_);
    archive.value(capacity_);
    archive.value(unaccepted_);
    archive.each(jobs_, [&archive](State& job) { checkpoint_job(archive, job); });
    archive.list(arriving_);
    archive.list(pending_);
    archive.list(running_);
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<ChronusAsCoded>(*this);
  }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kDuration}};
  enum class Class { kLowest = -1, kAccepted = 0, kUnaccepted = 1, kBestEffort = 2 };
  struct State {
    Seconds submit = 0;
    Seconds duration = 0;
    int gpus = 1;
    Seconds user_deadline = kNever;
    Seconds deadline = kNever;  // in use
    std::vector<std::pair<Seconds, double>> options;
    double estimate = 0;
    double progress = 0;
    Seconds executed = 0;
    Seconds checked = 0;
    int resumes = 0;
    int needed = 0;
    Class rank = Class::kAccepted;
    bool overrun = false;  // it has used up its estimate
    bool leased = false;
    double urgency = 0;
  };

  static void checkpoint_job(Archive& archive, State& job) {
    archive.value(job.submit);
    archive.value(job.duration);
    archive.value(job.gpus);
    archive.value(job.user_deadline);
    archive.value(job.deadline);
    archive.each(job.options, [&archive](std::pair<Seconds, double>& option) {
      archive.value(option.first);
      archive.value(option.second);
    });
    archive.value(job.estimate);
    archive.value(job.progress);
    archive.value(job.executed);
    archive.value(job.checked);
    archive.value(job.resumes);
    archive.value(job.needed);
    archive.value(job.rank);
    archive.value(job.overrun);
    archive.value(job.leased);
    archive.value(job.urgency);
  }
  bool on_grid(Seconds length) const { return std::fmod(now_, length) == 0; }
  State& job(Slot slot) { return jobs_[index(slot)]; }
  static double resume_cost(const State& s) { return 0.5 * (1 + std::log2(s.gpus)); }
  // Sizes between powers of two count as the next one when leases are dealt.
  static int demand(int gpus) { return gpus == 3 ? 4 : gpus >= 5 && gpus <= 7 ? 8 : gpus; }
  int needs(const State& s) const {
    return static_cast<int>(std::ceil((s.estimate - s.progress) / options_.lease));
  }
  // The number of the lease that begins now, or after now.
  double next_lease() const { return std::floor(now_ / options_.lease); }

  void run_on(std::vector<PolicyCompletion>& completions) {
    std::vector<Slot> still;
    for (const Slot slot : running_) {
      State& s = job(slot);
      const Seconds passed = std::floor(now_ - s.checked);
      const Seconds whole = s.duration + s.resumes * resume_cost(s);
      if (passed + s.progress >= whole) {
        const Seconds end = s.checked + whole - s.progress;
        // Scored by the deadline in use, which is not later than the user's.
        const Seconds done = s.user_deadline == kNever ? end : end + s.user_deadline - s.deadline;
        completions.push_back({slot, JobState::kFinished, Reason::kCompleted, end, done});
        continue;
      }
      if (passed + s.executed >= s.estimate && (on_grid(options_.lease) || !s.leased)) {
        s.rank = Class::kUnaccepted;
        s.overrun = true;
      }
      s.executed += passed;
      s.progress += passed;
      s.checked = now_;
      still.push_back(slot);
    }
    running_.swap(still);
  }

  void deal_leases() {
    const std::vector<Slot> before = running_;
    for (const Slot slot : running_) {
      State& s = job(slot);
      s.leased = false;
      if (s.rank == Class::kAccepted) s.needed = std::min(s.needed, needs(s));
      pending_.push_back(slot);
    }
    running_.clear();
    std::vector<Slot> holders;
    std::vector<LeaseJob> wants;
    for (const Slot slot : pending_) {
      State& s = job(slot);
      if (s.rank != Class::kAccepted || s.needed <= 0) continue;
      holders.push_back(slot);
      wants.push_back(lease_job(s, next_lease()));
    }
    const LeaseAim aim = unaccepted_ > 0 ? LeaseAim::kFew : LeaseAim::kMany;
    const LeaseChoice choice = options_.exact
                                   ? choose_leases(wants, capacity_, aim, options_.program)
                                   : choose_leases_greedily(wants, capacity_, aim);
    if (!wants.empty()) gap_ = choice.gap;
    for (std::size_t i = 0; i < holders.size(); ++i) {
      State& s = job(holders[i]);
      if (choice.option[i] == LeaseChoice::kNone) s.rank = Class::kUnaccepted;
      if (choice.now[i] == 0) continue;
      s.leased = true;
      s.checked = now_;
      --s.needed;
      start(holders[i], before);
    }
    unaccepted_ = 0;
    for (const auto* list : {&pending_, &running_}) {
      for (const Slot slot : *list) unaccepted_ += job(slot).rank == Class::kUnaccepted ? 1 : 0;
    }
  }

  LeaseJob lease_job(const State& s, double from) const {
    LeaseJob wants;
    wants.gpus = demand(s.gpus);
    wants.needed = s.needed;
    for (const auto& [by, value] : s.options) {
      const double within = std::floor(by / options_.lease) - from;
      wants.options.push_back({std::max(0, static_cast<int>(within)), value});
    }
    return wants;
  }

  void start(Slot slot, const std::vector<Slot>& before) {
    std::erase(pending_, slot);
    running_.push_back(slot);
    if (std::find(before.begin(), before.end(), slot) == before.end()) ++job(slot).resumes;
  }

  void take_arrivals() {
    const double from = next_lease() + 1;
    std::vector<LeaseJob> accepted;
    for (const auto* list : {&pending_, &running_}) {
      for (const Slot slot : *list) {
        const State& s = job(slot);
        if (s.rank == Class::kAccepted && s.needed > 0) accepted.push_back(lease_job(s, from));
      }
    }
    for (const Slot slot : arriving_) {
      State& s = job(slot);
      const double share = 1 + resume_cost(s) / options_.lease;
      constexpr double kPadding = 1.1;
      s.estimate = std::floor(s.duration * share * kPadding);
      s.needed = needs(s);
      s.checked = now_;
      pending_.push_back(slot);
      if (s.options.empty()) {
        s.rank = Class::kBestEffort;
        continue;
      }
      LeaseJob wants = lease_job(s, from);
      accepted.push_back(wants);
      const int within = wants.options.back().within;
      if (s.needed <= within && leases_fit(accepted, capacity_)) {
        s.deadline = options_.lease * (within + from);
        continue;
      }
      accepted.pop_back();
      s.rank = Class::kUnaccepted;
      ++unaccepted_;
    }
    arriving_.clear();
  }

  // Idle GPUs go to those that were not accepted.
  void fill() {
    const std::vector<Slot> before = running_;
    for (const Slot slot : pending_) {
      State& s = job(slot);
      s.checked = now_;
      const bool slo = s.rank != Class::kBestEffort && s.rank != Class::kLowest;
      if (slo && s.deadline < now_ + s.duration - s.progress) s.rank = Class::kLowest;
      const bool spare = s.rank == Class::kBestEffort || s.rank == Class::kUnaccepted;
      const double time =
          spare ? s.estimate - s.progress : s.deadline - now_ - s.estimate + s.progress;
      s.urgency = -time * s.gpus;
    }
    std::stable_sort(pending_.begin(), pending_.end(), [this](Slot a, Slot b) {
      const State& one = job(a);
      const State& other = job(b);
      if (one.overrun != other.overrun) return one.overrun;
      const Class rank = std::min(one.rank, Class::kUnaccepted);
      const Class other_rank = std::min(other.rank, Class::kUnaccepted);
      if (rank != other_rank) return rank > other_rank;
      if (one.urgency != other.urgency) return one.urgency > other.urgency;
      return one.submit < other.submit;
    });
    int free = capacity_;
    for (const Slot slot : running_) free -= job(slot).gpus;
    const std::vector<Slot> waiting = pending_;
    for (const Slot slot : waiting) {
      State& s = job(slot);
      if (s.rank == Class::kAccepted || s.gpus > free) continue;
      free -= s.gpus;
      start(slot, before);
    }
  }

  Options options_;
  Seconds now_ = 0;
  int capacity_ = 0;
  std::optional<double> gap_;  // of the leases dealt this turn
  int unaccepted_ = 0;         // at the last lease, and since
  std::vector<State> jobs_;    // by slot
  std::vector<Slot> arriving_;
  std::vector<Slot> pending_;
  std::vector<Slot> running_;
};

}  // namespace

PolicyInfo<SchedulingPolicy> chronus_as_coded_row() {
  return {"chronus-as-coded",
          "Chronus as coded in ElasticFlow's artifact",
          "ElasticFlow, 2023",
          {kLease,
           kLeaseChoice,
           {"slot", ParamKind::kReal, "240",
            "seconds between two checks for new jobs and idle GPUs", 1e-3},
           kBranches},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            ChronusAsCoded::Options options;
            options.lease = params.real("lease");
            options.slot = params.real("slot");
            options.exact = params.text("choice") == "exact";
            options.program.branches = static_cast<int>(params.integer("branches"));
            return std::make_unique<ChronusAsCoded>(options);
          },
          "Chronus",
          "the artifact of ElasticFlow"};
}

}  // namespace muster
