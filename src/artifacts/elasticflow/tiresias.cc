// Tiresias (dlas-gpu) as the ElasticFlow artifact has it: three queues by GPU-seconds attained,
// jobs at the size they asked for.
#include <algorithm>
#include <array>
#include <cmath>

#include "artifacts/elasticflow/scheduler.h"
#include "policy/table.h"

namespace muster::published {
namespace {

class Tiresias final : public Scheduler {
 public:
  Tiresias(double limit_1, double limit_2, bool as_of_2022)
      : Scheduler(Cap::kWidest), limits_{limit_1, limit_2}, as_of_2022_(as_of_2022) {}
  bool checkpoint(Archive& archive) override {
    for (std::vector<Slot>& queue : queues_) archive.list(queue);
    archive.list(jobs_);
    archive.list(state_);
    archive.value(end_);
    archive.list(ending_);
    archive.value(jump_);
    return checkpoint_books(archive);
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Tiresias>(*this);
  }
  Seconds wake(const View&) const override { return std::min(end_, jump_); }

 protected:
  void round() override {
    if (now_ == end_) {
      for (const Slot slot : ending_) {
        finish(job(slot), job(slot).end, job(slot).end);
        std::erase(jobs_, slot);
        for (auto& queue : queues_) std::erase(queue, slot);
      }
    }
    for (const Slot slot : arrivals_) {
      if (state_.size() <= index(slot)) state_.resize(index(slot) + 1);
      state_[index(slot)] = {};
      jobs_.push_back(slot);
      queues_[0].push_back(slot);
    }
    age();
    const bool restart = restart_due();
    choose(restart);
    std::stable_sort(jobs_.begin(), jobs_.end(),
                     [this](Slot a, Slot b) { return job(a).request > job(b).request; });
    for (auto& queue : queues_) {
      std::stable_partition(queue.begin(), queue.end(), [this](Slot s) { return running(s); });
    }
    foresee_end(restart);
    foresee_jump();
    for (const Slot slot : jobs_) {
      if (running(slot)) run(job(slot), job(slot).request);
    }
  }

 private:
  struct State {
    bool running = false;
    std::size_t queue = 0;
    Seconds checked = 0;
  };
  State& state(Slot slot) { return state_[index(slot)]; }
  bool running(Slot slot) const { return state_[index(slot)].running; }

  void age() {
    for (const Slot slot : jobs_) {
      State& s = state(slot);
      Job& j = job(slot);
      if (s.running) {
        const double ran = std::max(std::trunc(now_ - s.checked) - j.overhead, 0.0);
        j.executed = std::trunc(j.executed + ran);
        j.overhead = 0;
        if (s.queue < limits_.size() && j.executed * j.request >= limits_[s.queue]) {
          std::erase(queues_[s.queue], slot);
          queues_[++s.queue].push_back(slot);
        }
      }
      s.checked = now_;
    }
  }

  void choose(bool restart) {
    int free = cluster_gpus_;
    for (const auto& queue : queues_) {
      for (const Slot slot : queue) {
        Job& j = job(slot);
        const bool fits = j.request <= free;
        if (fits) free -= j.request;
        if (fits && !running(slot)) {
          j.overhead = overhead_of(j.request, restart, false, cluster_gpus_);
        }
        state(slot).running = fits;
      }
    }
  }

  // Only the earliest end is kept, of a slot; in 2022, of a second, and a job that ends later in
  // the slot waits for the next round. It does not know of overheads, except when trainers restart.
  void foresee_end(bool restart) {
    end_ = kNever;
    ending_.clear();
    for (const Slot slot : jobs_) {
      if (!running(slot)) continue;
      Job& j = job(slot);
      double remaining = j.duration - j.executed;
      if (restart) {
        j.overhead = overhead_of(j.request, true, false, cluster_gpus_);
        remaining += j.overhead;
      }
      const Seconds end = std::trunc(now_ + remaining);
      const Seconds event = as_of_2022_ ? end : std::max(now_ + slot_, end);
      if (event > end_) continue;
      if (event < end_) ending_.clear();
      end_ = event;
      j.end = end;
      ending_.push_back(slot);
    }
    if (end_ != kNever) end_ = std::max(end_, now_ + slot_);
  }

  // When a job leaves its queue; seconds are taken for GPU-seconds here.
  void foresee_jump() {
    jump_ = kNever;
    for (const Slot slot : jobs_) {
      const std::size_t queue = state(slot).queue;
      if (!running(slot) || queue >= limits_.size()) continue;
      const Job& j = job(slot);
      jump_ = std::min(jump_, std::ceil((limits_[queue] - j.executed) / j.request) + now_);
    }
    if (jump_ != kNever) jump_ = std::max(jump_, now_ + slot_);
  }

  std::array<double, 2> limits_;
  bool as_of_2022_;
  std::array<std::vector<Slot>, 3> queues_;
  std::vector<Slot> jobs_;    // in the order in which they were last placed
  std::vector<State> state_;  // by slot
  Seconds end_ = kNever;
  std::vector<Slot> ending_;
  Seconds jump_ = kNever;
};

}  // namespace
}  // namespace muster::published

namespace muster {

PolicyInfo<SchedulingPolicy> published_tiresias_row() {
  return {"tiresias-as-coded",
          "Tiresias as coded in ElasticFlow's artifact (dlas-gpu)",
          "ElasticFlow, 2023",
          {{"limit_1", ParamKind::kReal, "3250",
            "GPU-seconds after which a job leaves the first queue", 0},
           {"limit_2", ParamKind::kReal, "7200",
            "GPU-seconds after which it leaves the second queue", 0},
           published::kAsOf2022},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<published::Tiresias>(
                params.real("limit_1"), params.real("limit_2"), params.flag("as_of_2022"));
          },
          "Tiresias",
          "the artifact of ElasticFlow"};
}

}  // namespace muster
