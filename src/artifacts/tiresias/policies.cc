// The scheduling policies of Tiresias' simulator, with what it does beyond what they are meant to.
#include <algorithm>
#include <cmath>

#include "artifacts/tiresias/gittins_table.h"
#include "artifacts/tiresias/shortest_expected.h"
#include "artifacts/variant.h"
#include "base/text.h"
#include "policy/tiresias/dlas.h"
#include "policy/tiresias/multi_dlas.h"

namespace muster {

PolicyInfo<SchedulingPolicy> gandiva_row();

namespace {

// Shortest remaining service first; jobs with equal keys keep the order of the previous turn.
class SrsfInOrder final : public SchedulingPolicy {
 public:
  SchedulingTraits traits() const override {
    return {.needs = kNeeds, .preemptive = true, .stable_between_events = false};
  }
  void on_job(JobMoment moment, Slot slot, const View&) override {
    if (moment == JobMoment::kAdmitted) list_.push_back(slot);
    if (moment == JobMoment::kLeft) std::erase(list_, slot);
  }
  void schedule(const View& view, Plan& plan) override {
    const auto key = [&view](Slot slot) {
      const Job& job = view.jobs[slot];
      return job.remaining_at(view.now) * job.spec.gpus;
    };
    std::stable_sort(list_.begin(), list_.end(), [&](Slot a, Slot b) { return key(a) < key(b); });
    for (const Slot slot : list_) {
      const JobSpec& spec = view.jobs[slot].spec;
      if (!plan.add(AllocationRequest::alone(slot, spec.gpus, spec.gpu_type))) return;
    }
  }
  bool checkpoint(Archive& archive) override {
    archive.list(list_);
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<SrsfInOrder>(*this);
  }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kDuration}};
  std::vector<Slot> list_;
};

// Every start passes over the next in line until the next turn: the original walks a list from
// which it removes what it starts.
class SkippingLongestPending final : public SchedulingPolicy {
 public:
  SchedulingTraits traits() const override { return {.strict = true, .work_conserving = false}; }
  void schedule(const View& view, Plan& plan) override {
    bool skip = false;
    for (const Slot slot : view.jobs.waiting()) {
      const JobSpec& spec = view.jobs[slot].spec;
      if (!skip && !plan.add(AllocationRequest::alone(slot, spec.gpus, spec.gpu_type))) return;
      skip = !skip;
    }
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<SkippingLongestPending>(*this);
  }
};

// The next demotion is predicted too early or too late: after (limit - seconds served) / GPUs. The
// Gittins index is looked up in the original's table.
class LooseDlas final : public Dlas {
 public:
  using Dlas::Dlas;
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<LooseDlas>(*this);
  }

 protected:
  Seconds outgrows_at(const State& state, Seconds now) const override {
    if (state.allowed == kNever) return kNever;
    return std::floor((limit(state.queue) - state.executed) / service_rate(state.gpus)) + now;
  }
  double index_of(double service) const override { return gittins_as_coded(sample(), service); }
  bool follows_exactly() const override { return false; }
};

// GPUs are allocated to the classes at fixed times only, by parts of the demand that are rounded to
// hundredths. The next demotion is predicted too early or too late: after (limit - seconds served)
// / GPUs, in whole seconds.
class MultiDlasAsCoded final : public MultiDlas {
 public:
  using MultiDlas::MultiDlas;
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<MultiDlasAsCoded>(*this);
  }

 protected:
  Seconds outgrows_at(const State& state, int gpus, Seconds now) const override {
    return std::floor((limit() - state.executed) / gpus) + now;
  }
  bool outgrown(const State& state, int gpus, Seconds) const override {
    return state.runs && state.executed * gpus >= limit();
  }
  int share(const Demand& demand) const override {
    const double part = rounded(static_cast<double>(demand.own) / demand.all, 2);
    return static_cast<int>(std::floor(part * demand.gpus / demand.each)) * demand.each;
  }
  bool allocates_at_changes() const override { return false; }
};

template <typename Policy>
std::unique_ptr<SchedulingPolicy> make_without(const Params&) {
  return std::make_unique<Policy>();
}
template <typename Policy>
std::unique_ptr<SchedulingPolicy> make_with(const Params& params) {
  return std::make_unique<Policy>(params);
}

// The Gittins index of the original looks ahead less far than ours.
PolicyInfo<SchedulingPolicy> looking_ahead_as_coded(PolicyInfo<SchedulingPolicy> row) {
  for (ParamInfo& param : row.params) {
    if (param.name == kDelta.name) param.initial = "3250";
  }
  return row;
}

}  // namespace

std::vector<PolicyInfo<SchedulingPolicy>> tiresias_scheduling_rows() {
  const auto variant = [](std::string_view general, std::string_view name,
                          std::string_view sentence,
                          std::unique_ptr<SchedulingPolicy> (*make)(const Params&)) {
    return variant_of<SchedulingPolicy>(scheduling_table(), general, name, sentence, make);
  };
  return {
      {"srsf-as-coded",
       "shortest remaining time times GPUs first; jobs with equal keys keep the order of the "
       "previous turn",
       "Tiresias, 2019",
       {},
       make_without<SrsfInOrder>},
      looking_ahead_as_coded(
          variant("dlas-gpu", "dlas-gpu-as-coded",
                  "as dlas-gpu, but the next demotion is predicted too early or too late, and the "
                  "Gittins index comes from a table of rounded numbers",
                  make_with<LooseDlas>)),
      variant("multi-dlas-gpu", "multi-dlas-gpu-as-coded",
              "as multi-dlas-gpu, but GPUs are allocated at fixed times only, first after `every` "
              "seconds, by parts of the demand rounded to hundredths, and the next demotion is "
              "predicted too early or too late",
              make_with<MultiDlasAsCoded>),
      looking_ahead_as_coded(variant("shortest-expected", "shortest-expected-as-coded",
                                     "as shortest-expected, with the defects of the original",
                                     make_with<ShortestExpectedAsCoded>)),
      variant("longest-pending", "longest-pending-as-coded",
              "as longest-pending, and every start passes over the next in line",
              make_without<SkippingLongestPending>),
      gandiva_row(),
  };
}

}  // namespace muster
