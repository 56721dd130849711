#include "policy/tiresias/dlas.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

constexpr Need kMemoryNeeds[] = {
    {Knowledge::kProfile, "such a job is taken to fill the memory of a GPU and shares none"}};

}  // namespace

Dlas::Dlas(const Params& params)
    : by_gpus_(params.text("service") == "gpu-seconds"),
      by_index_(params.text("order") == "gittins"),
      promote_(params.real("promote")),
      pack_(params.flag("pack")),
      memory_mb_(params.real("memory_mb")),
      sample_(params.real("delta")),
      learns_(params.text("durations").empty()) {
  sample_.read(params.text("durations"));
  limits_ = params.reals("limits");
  queues_.resize(limits_.size() + 1);
}

// It counts GPUs as if any would do; a placement that wants more shape may leave some idle.
SchedulingTraits Dlas::traits() const {
  return {.needs = pack_ ? Needs(kMemoryNeeds) : Needs(),
          .preemptive = true,
          .stable_between_events = false,
          .work_conserving = false,
          .co_locates = pack_,
          .needs_periodic_turns = pack_};
}

void Dlas::on_job(JobMoment moment, Slot slot, const View& view) {
  if (states_.size() <= index(slot)) states_.resize(index(slot) + 1);
  State& state = states_[index(slot)];
  if (moment == JobMoment::kAdmitted) {
    state = {};
    state.job = view.jobs[slot].spec.id;
    state.gpus = view.jobs[slot].spec.gpus;
    state.submit = view.jobs[slot].spec.submit;
    state.partition = view.jobs[slot].spec.partition;
    state.gpu_type = view.jobs[slot].spec.gpu_type;
    const WorkloadProfile* known = profile_of(view.perf, view.jobs[slot].spec.model);
    state.memory = known != nullptr && known->memory_mb > 0 ? known->memory_mb : memory_mb_;
    state.last = view.now;
    join(0, slot);
  } else if (moment == JobMoment::kStopped) {
    // Where a node failed, this comes before the turn.
    if (state.last < view.now) state.executed += view.now - state.last;
    state.last = view.now;
    state.waiting_since = view.now;
  } else if (moment == JobMoment::kStarted) {
    if (state.executed > 0) state.waited += view.now - state.waiting_since;
  } else if (moment == JobMoment::kLeft) {
    if (by_index_ && learns_) sample_.add(state.executed * state.gpus);
    // Its slot may be another job's before the next turn; and a job that is revised leaves and
    // comes back as itself.
    if (state.job != kNoJob) leave_queue(slot);
    state.job = kNoJob;
  }
}

void Dlas::schedule(const View& view, Plan& plan) {
  now_ = view.now;
  const SlotList& running = view.jobs.running();
  chosen_.resize(running.size());
  std::copy(running.begin(), running.end(), chosen_.begin());
  account();
  if (promote_ > 0) promote(view);
  allocate(view.cluster.usable_gpus());
  // Rounding may leave a job a hair short of its limit; it outgrows its queue all the same, in a
  // step of no length.
  while (someone_is_due()) {
    std::sort(chosen_.begin(), chosen_.end(),
              [this](Slot a, Slot b) { return states_[index(a)].job < states_[index(b)].job; });
    if (!account()) break;
    allocate(view.cluster.usable_gpus());
  }
  plan.add(requests_);
}

Seconds Dlas::wake(const View& view) const {
  Seconds next = kNever;
  for (const Slot slot : view.jobs.running()) {
    next = std::min(next, outgrows_at(states_[index(slot)], view.now));
  }
  if (by_index_ && follows_exactly() && !view.jobs.waiting().empty()) {
    // Every turn takes the index of every job anew, so none is out of date when it decides. Between
    // turns those of running jobs only grow, until the next change. At least a second, as past
    // durations may lie as close together as they like.
    for (const Slot slot : view.jobs.running()) {
      const State& state = states_[index(slot)];
      const double rate = service_rate(state.gpus);
      const double change = sample_.next_change(state.executed * rate);
      next = std::min(next, std::max((change / rate - state.executed) + view.now, view.now + 1));
    }
  }
  if (promote_ > 0) {
    for (const Slot slot : view.jobs.waiting()) {
      const Seconds at = promotes_at(states_[index(slot)]);
      if (at > view.now) next = std::min(next, at);
    }
  }
  return next;
}

void Dlas::join(std::size_t queue, Slot slot) {
  State& state = states_[index(slot)];
  state.queue = queue;
  state.allowed =
      queue == limits_.size() ? kNever : std::ceil(limits_[queue] / service_rate(state.gpus));
  queues_[queue].tail.push_back(slot);
}

// A job that runs may stand among those that wait or that came since: some placements let jobs run
// on that the plan does not name, and a selector lets another policy start them.
void Dlas::leave_queue(Slot slot) {
  const State& state = states_[index(slot)];
  ServiceQueue& queue = queues_[state.queue];
  if (std::erase(queue.front, slot) + std::erase(queue.tail, slot) > 0) return;
  std::erase_if(queue.line(state.gpus), [slot](const Waiting& w) { return w.slot == slot; });
}

// When a job that ran and waits will have waited its multiple of what it got, in whole seconds.
Seconds Dlas::promotes_at(const State& state) const {
  if (state.queue == 0 || state.executed <= 0) return kNever;
  return std::floor(state.executed * promote_) - state.waited + state.waiting_since;
}

bool Dlas::someone_is_due() const {
  if (!follows_exactly()) return false;
  return std::any_of(chosen_.begin(), chosen_.end(),
                     [this](Slot slot) { return outgrows_at(states_[index(slot)], now_) <= now_; });
}

bool Dlas::account() {
  moved_.clear();
  bool changed = false;
  for (const Slot slot : chosen_) {
    State& state = states_[index(slot)];
    // In this order: the sum is rounded to what the clock can tell apart, so that a job a hair
    // short of its limit reaches it.
    const double executed = state.executed + now_ - state.last;
    changed = changed || executed != state.executed;
    state.executed = executed;
    state.last = now_;
    if (state.allowed == kNever) continue;
    const double service = by_gpus_ ? state.executed * state.gpus : state.executed;
    if (service >= limits_[state.queue]) moved_.push_back(slot);
  }
  for (const Slot slot : moved_) {
    leave_queue(slot);
    join(states_[index(slot)].queue + 1, slot);
  }
  return changed || !moved_.empty();
}

void Dlas::promote(const View& view) {
  moved_.clear();
  for (const Slot slot : view.jobs.waiting()) {
    const State& state = states_[index(slot)];
    if (promotes_at(state) <= now_) moved_.push_back(slot);
  }
  for (const Slot slot : moved_) {
    State& state = states_[index(slot)];
    leave_queue(slot);
    state.executed = 0;
    state.waited = 0;
    state.waiting_since = now_;
    join(0, slot);
  }
}

void Dlas::allocate(int gpus) {
  chosen_.clear();
  requests_.clear();
  for (ServiceQueue& queue : queues_) {
    if (by_index_ || pack_) {
      walk_all(queue, gpus);
    } else {
      walk(queue, gpus);
    }
  }
}

void Dlas::walk(ServiceQueue& queue, int& left) {
  ran_.clear();
  stopped_.clear();
  const auto give = [&](Slot slot) {
    take(slot, states_[index(slot)], left);
    ran_.push_back(slot);
  };
  for (const Slot slot : queue.front) {
    if (states_[index(slot)].gpus <= left) {
      give(slot);
    } else {
      stopped_.push_back(slot);
    }
  }
  while (left > 0) {
    std::deque<Waiting>* next = nullptr;
    for (auto& [gpus, line] : queue.waiting) {
      if (gpus > left) break;
      while (!line.empty() && states_[index(line.front().slot)].job != line.front().job) {
        line.pop_front();
      }
      if (!line.empty() && (next == nullptr || line.front().order < next->front().order)) {
        next = &line;
      }
    }
    if (next == nullptr) break;
    give(next->front().slot);
    next->pop_front();
  }
  for (std::size_t i = stopped_.size(); i-- > 0;) {
    const State& state = states_[index(stopped_[i])];
    queue.line(state.gpus).push_front({--queue.first, stopped_[i], state.job});
  }
  for (const Slot slot : queue.tail) {
    const State& state = states_[index(slot)];
    if (state.gpus <= left) {
      give(slot);
    } else {
      queue.line(state.gpus).push_back({queue.last++, slot, state.job});
    }
  }
  queue.tail.clear();
  queue.front.swap(ran_);
}

bool Dlas::choose(Slot slot, int& left) {
  State& state = states_[index(slot)];
  AllocationRequest* holder = nullptr;
  for (std::size_t i = 0; pack_ && i < requests_.size() && holder == nullptr; ++i) {
    if (fits_with(state, requests_[i])) holder = &requests_[i];
  }
  if (holder == nullptr) {
    if (state.gpus > left) return false;
    take(slot, state, left);
    return true;
  }
  holder->join(slot);
  state.last = now_;
  chosen_.push_back(slot);
  return true;
}

bool Dlas::fits_with(const State& state, const AllocationRequest& request) const {
  if (request.size == kMaxGroup || request.gpus != state.gpus) return false;
  double memory = state.memory;
  for (int i = 0; i < request.size; ++i) {
    memory += states_[index(request.jobs[static_cast<std::size_t>(i)])].memory;
  }
  const State& lead = states_[index(request.lead())];
  return memory <= memory_mb_ && lead.partition == state.partition &&
         lead.gpu_type == state.gpu_type;
}

void Dlas::walk_all(ServiceQueue& queue, int& left) {
  ranked_.clear();
  for (const std::vector<Slot>* part : {&queue.front, &queue.tail}) {
    for (const Slot slot : *part) {
      const State& state = states_[index(slot)];
      const double service = by_gpus_ ? state.executed * state.gpus : state.executed;
      const double value = by_index_ ? -index_of(service) : 0;
      ranked_.push_back({value, by_index_ ? state.submit : 0, slot});
    }
  }
  std::stable_sort(ranked_.begin(), ranked_.end(), [](const Ranked& a, const Ranked& b) {
    return a.value != b.value ? a.value < b.value : a.submit < b.submit;
  });
  queue.front.clear();
  queue.tail.clear();
  stopped_.clear();
  for (const Ranked& ranked : ranked_) {
    (choose(ranked.slot, left) ? queue.front : stopped_).push_back(ranked.slot);
  }
  queue.front.insert(queue.front.end(), stopped_.begin(), stopped_.end());
}

PolicyInfo<SchedulingPolicy> dlas_row() {
  return {"dlas-gpu",
          "least attained service in queues; running jobs stay in front of their queue",
          "Tiresias, 2019",
          {kService,
           {"limits", ParamKind::kReals, "3250,7200",
            "service after which a job leaves each queue except the last, separated by commas", 0},
           {"promote", ParamKind::kReal, "0",
            "promote a job to the first queue after it has waited this multiple of its service; 0: "
            "never",
            0},
           {"order",
            ParamKind::kText,
            "arrival",
            "order within a queue: by arrival or by Gittins index",
            -1,
            1,
            {"arrival", "gittins"}},
           kPastDurations,
           kDelta,
           {"pack", ParamKind::kFlag, "false",
            "pack jobs of equal GPU count on the same GPUs if their memory fits"},
           {"memory_mb", ParamKind::kReal, "16384", "memory of a GPU in MB, for packing", 1}},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<Dlas>(params);
          },
          "Tiresias",
          "the simulator of its authors, and of Muri"};
}

}  // namespace muster
