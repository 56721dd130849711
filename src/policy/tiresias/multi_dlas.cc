#include "policy/tiresias/multi_dlas.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: Tiresias (NSDI'19), multi-dlas-gpu: jobs of equal GPU count form a class with a part of
// the GPUs and two queues by attained GPU-seconds of its own. Every `every` seconds, and with
// kAlsoAtChanges whenever a job comes or goes, the GPUs are allocated to the classes by demand.
// What is in use stays. Time: O(jobs) for each allocation.
class MultiDlas final : public SchedulingPolicy {
 public:
  MultiDlas(const Params& params, AllocationTimes times)
      : limit_(params.real("limit")),
        every_(params.real("every")),
        at_once_(times == AllocationTimes::kAlsoAtChanges),
        next_allocation_(every_) {}

  SchedulingTraits traits() const override {
    return {.preemptive = true, .stable_between_events = false, .work_conserving = false};
  }

  void on_job(JobMoment moment, Slot slot, const View& view) override {
    if (states_.size() <= index(slot)) states_.resize(index(slot) + 1);
    State& state = states_[index(slot)];
    if (moment == JobMoment::kAdmitted) {
      state = {};
      state.last = view.now;
      class_of(view.jobs[slot].spec.gpus).queues[0].push_back(slot);
      came_or_went_ = true;
    } else if (moment == JobMoment::kLeft) {
      Class& at = class_of(view.jobs[slot].spec.gpus);
      for (std::vector<Slot>& queue : at.queues) std::erase(queue, slot);
      if (state.runs) at.free += at.gpus;
      state.runs = false;
      came_or_went_ = true;
      if (view.jobs.active().size() <= 1) asked_for_ = kNever;  // no job waits for it any more
    }
  }

  void schedule(const View& view, Plan& plan) override {
    // A pacing whose grid misses the time it was asked for comes a little later.
    const bool late = asked_for_ < view.now;
    while (next_allocation_ < view.now) next_allocation_ += every_;
    const bool allocation = next_allocation_ == view.now || late;
    // What happens at the time of an allocation happens before it.
    if (!allocation || came_or_went_) run_classes(view);
    if (allocation || (at_once_ && came_or_went_)) {
      allocate(view.cluster.usable_gpus());
      run_classes(view);
    }
    if (next_allocation_ == view.now) next_allocation_ += every_;
    asked_for_ = next_allocation_;
    came_or_went_ = false;
    for (const Class& at : classes_) {
      for (const std::vector<Slot>& queue : at.queues) {
        for (const Slot slot : queue) {
          if (states_[index(slot)].runs) plan.add(AllocationRequest::alone(slot, at.gpus));
        }
      }
    }
  }

  // The next allocation, or the next time a job might outgrow its queue by the original's formula.
  Seconds wake(const View& view) const override {
    if (view.jobs.active().empty()) return kNever;
    Seconds next = next_allocation_;
    for (const Class& at : classes_) {
      for (const Slot slot : at.queues[0]) {
        const State& state = states_[index(slot)];
        if (!state.runs) continue;
        next = std::min(next, std::floor((limit_ - state.executed) / at.gpus) + view.now);
      }
    }
    return next;
  }

  bool checkpoint(Archive& archive) override {
    archive.value(next_allocation_);
    archive.value(asked_for_);
    archive.value(came_or_went_);
    archive.each(classes_, [&archive](Class& at) {
      archive.value(at.gpus);
      archive.value(at.total);
      archive.value(at.free);
      archive.value(at.reserve);
      for (std::vector<Slot>& queue : at.queues) archive.list(queue);
    });
    archive.list(states_);
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<MultiDlas>(*this);
  }

 private:
  struct State {
    double executed = 0;
    Seconds last = 0;
    bool runs = false;
  };
  struct Class {
    int gpus = 0;
    int total = 0;
    int free = 0;
    int reserve = 0;
    std::array<std::vector<Slot>, 2> queues;
    int demand() const { return static_cast<int>(queues[0].size() + queues[1].size()) * gpus; }
    int used() const { return total - free; }
  };

  Class& class_of(int gpus) {
    const auto known = std::find_if(classes_.begin(), classes_.end(),
                                    [gpus](const Class& at) { return at.gpus == gpus; });
    if (known != classes_.end()) return *known;
    classes_.emplace_back();
    classes_.back().gpus = gpus;
    return classes_.back();
  }

  void run_classes(const View& view) {
    for (Class& at : classes_) {
      demote(at, view);
      at.free = at.total;
      for (std::vector<Slot>& queue : at.queues) {
        for (const Slot slot : queue) {
          State& state = states_[index(slot)];
          state.runs = at.free >= at.gpus;
          if (state.runs) at.free -= at.gpus;
        }
        std::stable_partition(queue.begin(), queue.end(),
                              [this](Slot slot) { return states_[index(slot)].runs; });
      }
    }
  }

  // In order of arrival, jobs that have outgrown the first queue go to the end of the second.
  void demote(Class& at, const View& view) {
    moved_.clear();
    for (std::vector<Slot>& queue : at.queues) {
      for (const Slot slot : queue) {
        State& state = states_[index(slot)];
        if (state.runs) state.executed += view.now - state.last;
        state.last = view.now;
        if (&queue == at.queues.data() && state.runs && state.executed * at.gpus >= limit_) {
          moved_.push_back(slot);
        }
      }
    }
    std::sort(moved_.begin(), moved_.end(),
              [&view](Slot a, Slot b) { return view.jobs[a].spec.id < view.jobs[b].spec.id; });
    for (const Slot slot : moved_) {
      std::erase(at.queues[0], slot);
      at.queues[1].push_back(slot);
    }
  }

  // Each class gets its part of the demand, rounded to hundredths and down to whole jobs, but keeps
  // what it uses; what is left goes round from the smallest jobs to the largest.
  void allocate(int gpus) {
    int demand = 0;
    int left = gpus;
    std::vector<Class*> order;
    for (Class& at : classes_) {
      demand += at.demand();
      left -= at.used();
      at.reserve = 0;
      order.push_back(&at);
    }
    if (demand == 0) return;
    std::stable_sort(order.begin(), order.end(),
                     [](const Class* a, const Class* b) { return a->demand() < b->demand(); });
    for (Class* at : order) {
      if (at->demand() == 0) continue;
      const double exact = static_cast<double>(at->demand()) / demand;
      const double part = rounded(exact, 2);
      const int whole = static_cast<int>(std::floor(part * gpus / at->gpus)) * at->gpus;
      int extra = std::max(0, std::min(at->demand(), whole) - at->used());
      if (extra > left) extra = std::max(0, left) / at->gpus * at->gpus;
      at->reserve = at->used() + extra;
      left -= extra;
    }
    std::sort(order.begin(), order.end(),
              [](const Class* a, const Class* b) { return a->gpus < b->gpus; });
    for (bool given = true; given && left > 0;) {
      given = false;
      for (Class* at : order) {
        if (at->demand() <= at->reserve || left < at->gpus) continue;
        left -= at->gpus;
        at->reserve += at->gpus;
        given = true;
      }
    }
    for (Class& at : classes_) {
      at.free = at.reserve - at.used();
      at.total = at.reserve;
    }
  }

  double limit_;
  Seconds every_;
  bool at_once_;
  Seconds next_allocation_;
  Seconds asked_for_ = kNever;  // the next allocation as of the last turn with jobs
  bool came_or_went_ = false;
  std::vector<Class> classes_;  // in order of appearance
  std::vector<State> states_;   // by slot
  std::vector<Slot> moved_;
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_multi_dlas(const Params& params, AllocationTimes times) {
  return std::make_unique<MultiDlas>(params, times);
}

PolicyInfo<SchedulingPolicy> multi_dlas_row() {
  return {
      "multi-dlas-gpu",
      "separate GPUs and two queues for each GPU count; demand decides how many GPUs each has",
      "Tiresias, 2019",
      {{"limit", ParamKind::kReal, "3600", "GPU-seconds after which a job leaves the first queue",
        0},
       {"every", ParamKind::kReal, "600", "seconds between two allocations of GPUs to the queues",
        1}},
      [](const Params& params) { return make_multi_dlas(params, AllocationTimes::kAlsoAtChanges); },
      "Tiresias",
      "the simulator of its authors"};
}

}  // namespace muster
