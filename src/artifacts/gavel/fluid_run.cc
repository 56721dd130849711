#include "artifacts/gavel/fluid_run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "model/record_of.h"
#include "policy/gavel/allocator.h"
#include "policy/gavel/problem.h"

namespace muster {
namespace {

struct FluidJob {
  JobSpec spec;
  double total = 0;  // steps
  double done = 0;
  double rate = 0;     // steps per second
  double gpus = 0;     // held, on average
  double dollars = 0;  // per second
  Seconds start = kNever;
  Seconds waited = 0;
  double gpu_seconds = 0;
  double cost = 0;
  Seconds ends = kNever;
};

class FluidRun final : public Execution {
 public:
  FluidRun(ExecutionParts parts, std::unique_ptr<Allocator> allocator)
      : parts_(std::move(parts.engine)),
        truth_(std::move(parts.truth)),
        allocator_(std::move(allocator)),
        cluster_(parts_.cluster) {
    problem_.types = types().size();
    problem_.capacity.assign(types().size(), 0);
    for (const Pool& pool : cluster_.pools()) {
      const auto at = std::find(types_.begin(), types_.end(), pool.gpu_type);
      problem_.capacity[static_cast<std::size_t>(at - types_.begin())] += pool.usable;
    }
  }

  Result<bool> run(const std::function<bool()>& keep_going) override {
    bool stopped = false;
    while (!stopped && step()) stopped = keep_going && !keep_going();
    if (auto error = parts_.source->error()) return *error;
    return !stopped;
  }

 private:
  // The next event; false when nothing is left to come.
  bool step() {
    const Seconds next = next_event();
    if (next == kNever || next > parts_.options.until) {
      if (next == kNever) give_up();
      return false;
    }
    advance(next);
    bool changed = finish_those_due();
    changed = take_arrivals() || changed;
    if (prices_changed()) changed = true;
    if (changed) allocate();
#if MUSTER_INVARIANTS
    check();
#endif
    report();
    return !over();
  }

  const std::vector<Symbol>& types() {
    if (types_.empty()) types_ = type_columns(cluster_);
    return types_;
  }

  Seconds next_event() {
    Seconds next = kNever;
    if (const JobSpec* job = parts_.source->peek()) next = std::max(now_, job->arrival);
    for (const FluidJob& job : jobs_) next = std::min(next, job.ends);
    if (!jobs_.empty() && parts_.prices != nullptr) {
      next = std::min(next, parts_.prices->next_change(now_));
    }
    return next;
  }

  void advance(Seconds to) {
    const Seconds span = started_ ? to - now_ : 0;
    spent_ = 0;
    for (FluidJob& job : jobs_) {
      job.done = job.ends <= to ? job.total : std::min(job.total, job.done + job.rate * span);
      job.gpu_seconds += job.gpus * span;
      job.cost += job.dollars * span;
      spent_ += job.dollars * span;
      if (!(job.rate > 0)) job.waited += span;
    }
    previous_ = started_ ? now_ : to;
    now_ = to;
    started_ = true;
  }

  bool finish_those_due() {
    bool any = false;
    for (FluidJob& job : jobs_) {
      if (job.done < job.total) continue;
      leave(job, JobState::kFinished, Reason::kCompleted);
      any = true;
    }
    std::erase_if(jobs_, [](const FluidJob& job) { return job.done >= job.total; });
    return any;
  }

  bool take_arrivals() {
    bool any = false;
    while (const JobSpec* next = parts_.source->peek()) {
      if (next->arrival > now_) break;
      FluidJob job;
      job.spec = *next;
      parts_.source->pop();
      job.spec.id = JobId{next_id_++};
      job.total = job.spec.iterations > 0 ? job.spec.iterations : job.spec.duration;
      tell(Action::kSubmit, Reason::kArrived, job.spec);
      const bool known = static_cast<bool>(parts_.perf->check(job.spec));
      if (!known || !could_run(job.spec)) {
        leave(job, JobState::kRefused, known ? Reason::kNeverFits : Reason::kUnknownSpeed);
        continue;
      }
      tell(Action::kAdmit, Reason::kAccepted, job.spec);
      jobs_.push_back(std::move(job));
      any = true;
    }
    return any;
  }

  bool could_run(const JobSpec& job) const {
    for (std::size_t w = 0; w < types_.size(); ++w) {
      if (job.gpus > 0 && job.gpus <= problem_.capacity[w] &&
          rate_on(*parts_.perf, job, types_[w], nullptr) > 0) {
        return true;
      }
    }
    return false;
  }

  bool prices_changed() {
    if (parts_.prices == nullptr) return false;
    std::vector<double> now;
    for (const Symbol type : types_) now.push_back(parts_.prices->at(type, now_));
    if (now == problem_.price) return false;
    problem_.price = std::move(now);
    return true;
  }

  void ask() {
    problem_.now = now_;
    problem_.jobs.clear();
    problem_.rates.clear();
    problem_.pairs.clear();
    problem_.pair_rates.clear();
    const auto rate = [this](const JobSpec& job, std::size_t w, const JobSpec* co_located) {
      return job.gpus <= problem_.capacity[w] ? rate_on(*parts_.perf, job, types_[w], co_located)
                                              : 0;
    };
    for (const FluidJob& job : jobs_) {
      problem_.jobs.push_back(allocation_job(job.spec, job.total - job.done, now_));
      for (std::size_t w = 0; w < types_.size(); ++w) {
        problem_.rates.push_back(rate(job.spec, w, nullptr));
      }
    }
    if (allocator_->traits().pairs) {
      for (std::uint32_t i = 0; i < jobs_.size(); ++i) {
        for (std::uint32_t j = i + 1; j < jobs_.size(); ++j) {
          const JobSpec& a = jobs_[i].spec;
          const JobSpec& b = jobs_[j].spec;
          if (a.gpus != b.gpus) continue;
          problem_.pairs.push_back({i, j});
          for (std::size_t w = 0; w < types_.size(); ++w) {
            problem_.pair_rates.emplace_back(rate(a, w, &b), rate(b, w, &a));
          }
        }
      }
    }
    allocation_.reset(problem_);
    if (!jobs_.empty()) allocator_->allocate(problem_, allocation_);
  }

  // From fractions to the progress of each job.
  void allocate() {
    ask();
    const std::size_t types = types_.size();
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      jobs_[i].rate = jobs_[i].gpus = jobs_[i].dollars = 0;
      for (std::size_t w = 0; w < types; ++w) {
        serve(jobs_[i], w, allocation_.alone[i * types + w], nullptr, 1);
      }
    }
    for (std::size_t p = 0; p < problem_.pairs.size(); ++p) {
      FluidJob& a = jobs_[problem_.pairs[p].first];
      FluidJob& b = jobs_[problem_.pairs[p].second];
      for (std::size_t w = 0; w < types; ++w) {
        const double fraction = allocation_.paired[p * types + w];
        // Two jobs share the GPUs, and what they cost.
        serve(a, w, fraction, &b.spec, 2);
        serve(b, w, fraction, &a.spec, 2);
      }
    }
    for (FluidJob& job : jobs_) {
      job.ends = job.rate > 0 ? now_ + (job.total - job.done) / job.rate : kNever;
      if (!(job.rate > 0) || job.start != kNever) continue;
      job.start = now_;
      tell(Action::kStart, Reason::kFirstInOrder, job.spec);
    }
  }

  void serve(FluidJob& job, std::size_t w, double fraction, const JobSpec* co_located,
             int sharers) {
    if (!(fraction > 0)) return;
    const double steps = rate_on(*truth_, job.spec, types_[w], co_located);
    if (!(steps > 0)) return;
    job.rate += fraction * steps;
    job.gpus += fraction * job.spec.gpus / sharers;
    if (problem_.price.empty()) return;
    constexpr double kHour = 3600;
    job.dollars += fraction * job.spec.gpus / sharers * problem_.price[w] / kHour;
  }

  void leave(const FluidJob& job, JobState status, Reason reason) {
    const bool finished = status == JobState::kFinished;
    tell(finished ? Action::kFinish : Action::kRefuse, reason, job.spec);
    JobRecord record = record_of(job.spec);
    record.start = job.start;
    record.end = now_;
    record.queue = job.start == kNever ? now_ - job.spec.submit : job.waited;
    record.status = status;
    record.reason = reason;
    record.gpu_seconds = job.gpu_seconds;
    record.cost = job.cost;
    if (finished) record.value = job.spec.value_at(now_);
    for (Observer* observer : parts_.observers) observer->on_job_end(record);
    const auto& window = parts_.options.until_left;
    if (window && job.spec.id >= window->first && job.spec.id <= window->second) ++window_left_;
  }

  // No job makes progress any more, and none will arrive.
  void give_up() {
    for (const FluidJob& job : jobs_) leave(job, JobState::kRefused, Reason::kNeverFits);
    if (jobs_.empty()) return;
    jobs_.clear();
    report();
  }

  void tell(Action action, Reason reason, const JobSpec& job) {
    Decision decision;
    decision.time = now_;
    decision.job = job.id;
    decision.gpus = job.gpus;
    decision.action = action;
    decision.reason = reason;
    for (Observer* observer : parts_.observers) observer->on_decision(decision);
  }

  void report() {
    TurnStats stats;
    stats.time = now_;
    stats.previous = previous_;
    double used = 0;
    for (const FluidJob& job : jobs_) {
      ++(job.rate > 0 ? stats.running : stats.waiting);
      stats.demanded_gpus += job.spec.gpus;
      used += job.gpus;
    }
    stats.usable_gpus = cluster_.usable_gpus();
    stats.used_gpus = static_cast<std::int32_t>(std::lround(used));
    stats.spent = spent_;
    for (Observer* observer : parts_.observers) observer->on_turn(stats);
  }

  bool over() {
    if (parts_.options.until_left) {
      const auto [first, last] = *parts_.options.until_left;
      if (window_left_ == static_cast<long long>(index(last) - index(first)) + 1) return true;
    }
    return jobs_.empty() && parts_.source->peek() == nullptr && parts_.source->finished();
  }

  // What must hold after every event.
  void check() const {
    std::optional<std::string> broken =
        broken_allocation(problem_, allocation_, allocator_->traits());
    if (now_ < previous_) broken = "time went back";
    for (const FluidJob& job : jobs_) {
      if (!(job.done >= 0 && job.done <= job.total) || job.ends < now_ || job.rate < 0)
        broken = fmt::format("job {} has done {} of {} steps and ends at {} s", index(job.spec.id),
                             job.done, job.total, job.ends);
    }
    if (!broken) return;
    fmt::print(stderr, "invariant broken at {} s: {}\n", now_, *broken);
    std::abort();
  }

  Engine::Parts parts_;  // its `perf` is what the policy is told
  std::shared_ptr<const PerfModel> truth_;
  std::unique_ptr<Allocator> allocator_;
  ClusterState cluster_;
  std::vector<Symbol> types_;
  std::vector<FluidJob> jobs_;  // by id
  AllocationProblem problem_;
  Allocation allocation_;
  Seconds now_ = 0;
  Seconds previous_ = 0;
  double spent_ = 0;
  std::uint32_t next_id_ = 0;
  long long window_left_ = 0;
  bool started_ = false;
};

}  // namespace

ExecutionInfo fluid_execution() {
  return {"fluid",
          "fractions of time are carried out exactly, without rounds or placement",
          "Gavel, 2020",
          [](ExecutionParts parts) -> Result<std::unique_ptr<Execution>> {
            const Allocator* own = parts.engine.policy_sets.size() == 1
                                       ? parts.engine.policy_sets[0].scheduling->allocator()
                                       : nullptr;
            if (own == nullptr) {
              return Error{
                  "the execution 'fluid' carries out fractions of time and needs a policy that "
                  "allocates them, one and no selector: those whose names begin with gavel-"};
            }
            if (parts.nodes_change) {
              return Error{
                  "the execution 'fluid' knows no nodes: they cannot fail, join or leave in it"};
            }
            auto allocator = own->clone();
            return std::unique_ptr<Execution>(
                std::make_unique<FluidRun>(std::move(parts), std::move(allocator)));
          },
          {},
          false,
          true};
}

}  // namespace muster
