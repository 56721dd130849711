#include "artifacts/muri/recharge_backend.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "artifacts/muri/merged_events_pacing.h"
#include "model/truth.h"

namespace muster {

RechargeBackend::RechargeBackend(SimParts parts, const RechargeOptions& options)
    : parts_(std::move(parts)), options_(options), nodes_(*parts_.cluster, parts_.failures) {}

double RechargeBackend::work_of(const Run& run) const {
  // Never below zero: before the first step both are equal except for rounding.
  return std::max(0.0, run.total_work - run.steps_left * run.solo_step_time);
}

void RechargeBackend::credit(Run& run, Seconds now) {
  const Seconds progress = std::max(now - run.last - run.overhead, 0.0);
  run.steps_left -= progress / run.step_time;
  run.last = now;
}

void RechargeBackend::remove(Slot slot) {
  Run& run = runs_[index(slot)];
  if (run.place == kNotRunning) return;
  running_[run.place] = running_.back();
  runs_[index(running_.back())].place = run.place;
  running_.pop_back();
  run.place = kNotRunning;
}

// The slot's run becomes that of another job.
void RechargeBackend::begin(const Command& command, Seconds now) {
  const Job& job = *command.job;
  remove(command.slot);
  Run& run = runs_[index(command.slot)];
  run = {};
  run.job = job.spec.id;
  run.steps_left = steps_of(*parts_.perf, as_it_is(job.spec));
  RunContext alone = command.context;
  alone.neighbours = {};
  alone.gpus = job.spec.gpus;
  run.solo_step_time = step_time_of(*parts_.perf, job.spec, alone);
  run.total_work = true_work(job);
  if (command.kind == CommandKind::kAdopt)
    run.steps_left = std::max(0.0, run.total_work - job.work_at(now)) / run.solo_step_time;
}

JobProgress RechargeBackend::act(const Command& command, Seconds now) {
  const Job& job = *command.job;
  const std::size_t slot = index(command.slot);
  if (runs_.size() <= slot) {
    runs_.resize(slot + 1);
    stamp_.resize(slot + 1, 0);
  }
  foreseen_ = false;
  Run& run = runs_[slot];
  if (run.job != job.spec.id) begin(command, now);
  if (job.spec.believed) {
    // A fork goes by what is believed. What is done is done.
    const double total = true_work(job);
    run.steps_left += (total - run.total_work) / run.solo_step_time;
    run.total_work = total;
  }
  JobProgress progress;
  if (command.kind == CommandKind::kStop) {
    // A node may have failed between two turns; the engine learns of it at the turn.
    if (run.place != kNotRunning && now > run.last) credit(run, now);
    remove(command.slot);
    progress.work = progress.saved_work = work_of(run);
    progress.since = now;
    return progress;
  }
  run.step_time = step_time_of(*parts_.perf, job.spec, command.context);
  assert(run.step_time > 0 && "a performance model gave a job no speed");
  if (run.charged_for != command.context.gpus) {
    run.charge = parts_.cost->restart_of(job.spec.model, command.context.gpus);
    run.charged_for = command.context.gpus;
  }
  run.overhead = run.charge;
  if (options_.groups_add) {
    for (const JobSpec* other : command.context.neighbours) {
      run.overhead += parts_.cost->restart_of(other->model, command.context.gpus);
    }
  }
  // A rate update may come for a job that ends in the same moment as its co-located job: it is
  // done.
  if (run.place == kNotRunning && command.kind != CommandKind::kUpdateRate) {
    run.place = static_cast<std::uint32_t>(running_.size());
    running_.push_back(command.slot);
    run.last = now;
  }
  progress.work = progress.saved_work = work_of(run);
  progress.rate = run.solo_step_time / run.step_time;
  progress.since = now + run.overhead;
  return progress;
}

// Of the policy's order, only running jobs are ever asked for; they tend to come first. Where most
// are of them, the others are passed over later: the order is seldom asked for at all.
void RechargeBackend::planned(const Plan& plan) {
  order_.clear();
  foreseen_ = false;
  const std::vector<AllocationRequest>& requests = plan.requests();
  const auto keep_running = [this](Slot slot) {
    if (index(slot) < runs_.size() && runs_[index(slot)].place != kNotRunning) {
      order_.push_back(slot);
    }
  };
  if (!plan.ranking().empty()) {
    for (const Slot slot : plan.ranking()) keep_running(slot);
  } else if (requests.size() <= 2 * running_.size()) {
    for (const AllocationRequest& request : requests) {
      order_.push_back(request.jobs[0]);
      for (int i = 1; i < request.size; ++i) {
        order_.push_back(request.jobs[static_cast<std::size_t>(i)]);
      }
    }
  } else {
    for (const AllocationRequest& request : requests) {
      if (order_.size() >= running_.size()) break;
      for (int i = 0; i < request.size; ++i) {
        keep_running(request.jobs[static_cast<std::size_t>(i)]);
      }
    }
  }
}

// Those in the policy's order first, the others by arrival.
void RechargeBackend::put_in_order(std::vector<Slot>& slots) {
  ++stamps_;
  for (const Slot slot : slots) stamp_[index(slot)] = stamps_;
  ranked_.clear();
  const auto take = [this](Slot slot) {
    if (index(slot) >= stamp_.size() || stamp_[index(slot)] != stamps_) return;
    stamp_[index(slot)] = 0;
    ranked_.push_back(slot);
  };
  for (const Slot slot : order_) take(slot);
  const auto rest = static_cast<std::ptrdiff_t>(ranked_.size());
  for (const Slot slot : slots) take(slot);
  std::sort(ranked_.begin() + rest, ranked_.end(),
            [this](Slot a, Slot b) { return runs_[index(a)].job < runs_[index(b)].job; });
  slots.swap(ranked_);
}

// Jobs join the first entry, in the policy's order, whose time is close; the earliest entry is
// next.
void RechargeBackend::foresee() {
  if (foreseen_) return;
  foreseen_ = true;
  due_.clear();
  due_time_ = kNever;
  const auto end_of = [this](Slot slot) {
    const Run& run = runs_[index(slot)];
    return run.last + run.steps_left * run.step_time;
  };
  ends_.clear();
  for (const Slot slot : running_) {
    ends_.push_back(end_of(slot));
    due_time_ = std::min(due_time_, ends_.back());
  }
  if (due_time_ == kNever) return;
  // Entries that could matter lie within a few widths of the earliest completion.
  constexpr double kWidths = 16;
  const Closeness& same = options_.completions;
  const Seconds horizon =
      due_time_ + kWidths * std::max(same.relative * std::abs(due_time_), same.absolute);
  near_.clear();
  for (std::size_t i = 0; i < running_.size(); ++i) {
    if (ends_[i] <= horizon) near_.push_back(running_[i]);
  }
  if (near_.size() == 1) {
    due_.push_back(near_.front());
    return;
  }
  put_in_order(near_);
  std::vector<Seconds> entries;
  std::vector<std::size_t> entry_of;
  for (const Slot slot : near_) {
    const Seconds end = end_of(slot);
    std::size_t entry = 0;
    while (entry < entries.size() && !same.close(end, entries[entry])) ++entry;
    if (entry == entries.size()) entries.push_back(end);
    entry_of.push_back(entry);
  }
  const auto earliest = std::min_element(entries.begin(), entries.end());
  due_time_ = *earliest;
  for (std::size_t i = 0; i < near_.size(); ++i) {
    if (entry_of[i] == static_cast<std::size_t>(earliest - entries.begin())) {
      due_.push_back(near_[i]);
    }
  }
}

Seconds RechargeBackend::next_event() {
  foresee();
  return std::min(due_time_, nodes_.next());
}

Seconds RechargeBackend::advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) {
  foresee();
  const bool first_only = stop_at_event || until == kNever;
  Seconds at = first_only ? std::min(until, std::max(now_, next_event())) : until;
  if (at == kNever) return now_;
  const bool ends = due_time_ <= at || options_.arrivals.close(due_time_, until);
  if (ends && options_.arrivals.close(due_time_, until)) at = until;
  if (!first_only) {
    // Fixed rounds: a job that is done within the round leaves at its end.
    due_.clear();
    for (const Slot slot : running_) {
      const Run& run = runs_[index(slot)];
      if (run.last + run.steps_left * run.step_time <= at) due_.push_back(slot);
    }
    std::sort(due_.begin(), due_.end(),
              [this](Slot a, Slot b) { return runs_[index(a)].job < runs_[index(b)].job; });
  }
  if (ends) {
    for (const Slot slot : due_) remove(slot);
  }
  for (const Slot slot : running_) {
    Run& run = runs_[index(slot)];
    credit(run, at);
    JobEvent& event = events.emplace_back();
    event.time = at + run.overhead;
    event.kind = EventKind::kProgress;
    event.slot = slot;
    event.job = run.job;
    event.work = work_of(run);
    event.rate = run.solo_step_time / run.step_time;
  }
  if (ends) {
    for (const Slot slot : due_) {
      JobEvent event;
      event.time = at;
      event.kind = EventKind::kFinished;
      event.slot = slot;
      event.job = runs_[index(slot)].job;
      events.push_back(event);
    }
  }
  while (nodes_.next() <= at) events.push_back(nodes_.pop());
  foreseen_ = false;
  now_ = at;
  return now_;
}

std::unique_ptr<Backend> RechargeBackend::fork() const {
  auto future = std::make_unique<RechargeBackend>(*this);
  future->nodes_.forget_failures();
  return future;
}

bool RechargeBackend::checkpoint(Archive& archive) {
  nodes_.checkpoint(archive);
  archive.list(runs_);
  archive.list(running_);
  archive.list(order_);
  archive.list(due_);
  archive.list(stamp_);
  archive.value(stamps_);
  archive.value(due_time_);
  archive.value(foreseen_);
  archive.value(now_);
  return true;
}

ProgressInfo recharged_progress() {
  return {"recharged",
          "every turn charges a restart to every running job, whether it changes or not",
          "Tiresias, 2019, and Muri, 2022",
          {{"merge", ParamKind::kReal, "1e-9",
            "completions this close, relative to the time, are one event", 0},
           {"groups_add", ParamKind::kFlag, "false",
            "each job of a group pays the restarts of all its members"}},
          [](const Params& p, SimParts parts, const Pacing& pacing) -> std::unique_ptr<Backend> {
            RechargeOptions options;
            options.completions = {p.real("merge"), 0};
            options.arrivals = arrival_closeness(pacing);
            options.groups_add = p.flag("groups_add");
            return std::make_unique<RechargeBackend>(std::move(parts), options);
          }};
}

}  // namespace muster
