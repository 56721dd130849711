#include <algorithm>
#include <tuple>

#include "model/belief.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Quasi-shortest-service-first as Helios' and Lucid's simulators have it: while the queue holds
// only jobs that came in this very turn, they go by GPU count, and their estimates are looked at
// from the next turn on. Between equal services the smaller job goes first.
class QssfAsCoded final : public SchedulingPolicy {
 public:
  explicit QssfAsCoded(bool strict) : strict_(strict) {}
  SchedulingTraits traits() const override {
    return {.needs = kNeeds, .strict = strict_, .work_conserving = !strict_};
  }
  void on_job(JobMoment moment, Slot slot, const View& view) override {
    if (moment == JobMoment::kAdmitted || moment == JobMoment::kStopped) fresh_.push_back(slot);
    if (moment == JobMoment::kStarted || moment == JobMoment::kLeft) remove(slot, view);
  }
  void schedule(const View& view, Plan& plan) override {
    only_fresh_ = view.turn_length > 0 && queue_.empty() &&
                  std::all_of(fresh_.begin(), fresh_.end(), [&view](Slot slot) {
                    return view.jobs[slot].waiting_since == view.now;
                  });
    if (only_fresh_) {
      std::stable_sort(fresh_.begin(), fresh_.end(), [&view](Slot a, Slot b) {
        return view.jobs[a].spec.gpus < view.jobs[b].spec.gpus;
      });
      for (const Slot slot : fresh_) {
        const JobSpec& spec = view.jobs[slot].spec;
        if (!plan.add(AllocationRequest::alone(slot, spec.gpus, spec.gpu_type))) return;
      }
      return;
    }
    for (const Slot slot : fresh_) {
      const Entry entry = entry_of(view.jobs[slot].spec, slot);
      queue_.insert(std::upper_bound(queue_.begin(), queue_.end(), entry), entry);
    }
    fresh_.clear();
    for (const Entry& entry : queue_) {
      const JobSpec& spec = view.jobs[entry.slot].spec;
      if (!plan.add(AllocationRequest::alone(entry.slot, spec.gpus, spec.gpu_type))) return;
    }
  }
  // Jobs that went by size are looked at again, by estimate, in the next turn.
  Seconds wake(const View& view) const override {
    return only_fresh_ && !fresh_.empty() ? view.now + view.turn_length : kNever;
  }
  bool checkpoint(Archive& archive) override {
    archive.value(only_fresh_);
    archive.list(fresh_);
    archive.list(queue_);
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<QssfAsCoded>(*this);
  }

 private:
  static constexpr Need kNeeds[] = {
      {Knowledge::kEstimate, "such a job counts as the shortest: where no job has one it is fifo"}};
  struct Entry {
    double service;
    int size;  // decides between equal services
    JobId id;
    Slot slot;
    friend bool operator<(const Entry& a, const Entry& b) {
      return std::tie(a.service, a.size, a.id) < std::tie(b.service, b.size, b.id);
    }
  };
  static Entry entry_of(const JobSpec& spec, Slot slot) {
    return {estimate_of(spec) * spec.gpus, spec.gpus, spec.id, slot};
  }
  void remove(Slot slot, const View& view) {
    if (std::erase(fresh_, slot) > 0) return;
    const Entry entry = entry_of(view.jobs[slot].spec, slot);
    const auto found = std::lower_bound(queue_.begin(), queue_.end(), entry);
    if (found != queue_.end() && found->id == entry.id) queue_.erase(found);
  }

  bool strict_;
  bool only_fresh_ = false;
  std::vector<Slot> fresh_;   // not yet in the queue, in order of arrival
  std::vector<Entry> queue_;  // ascending
};

}  // namespace

PolicyInfo<SchedulingPolicy> qssf_as_coded_row() {
  return {"qssf-as-coded",
          "as qssf, and jobs that find an empty queue go by GPU count in their first turn",
          "Helios, 2021",
          {kStrict},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<QssfAsCoded>(params.flag("strict"));
          }};
}

}  // namespace muster
