// Themis as the ElasticFlow artifact has it, after Gavel: every slot, fractions of time that keep
// the worst finish-time fairness as low as possible; the jobs with the largest fractions run.
#include <algorithm>
#include <cmath>
#include <utility>

#include "artifacts/elasticflow/scheduler.h"
#include "policy/table.h"

namespace muster::published {
namespace {

class Themis final : public Scheduler {
 public:
  Themis() : Scheduler(Cap::kWidest) {}
  SchedulingTraits traits() const override {
    SchedulingTraits traits = Scheduler::traits();
    traits.needs = kNeeds;
    return traits;
  }
  bool checkpoint(Archive& archive) override {
    archive.list(jobs_);
    archive.list(state_);
    archive.list(ending_);
    archive.value(event_);
    return checkpoint_books(archive);
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Themis>(*this);
  }

 protected:
  void round() override {
    for (const Slot slot : ending_) {
      finish(job(slot), job(slot).end, job(slot).end);
      std::erase(jobs_, slot);
    }
    if (!ending_.empty() || !arrivals_.empty()) event_ = now_;
    ending_.clear();
    for (const Slot slot : arrivals_) {
      if (state_.size() <= index(slot)) state_.resize(index(slot) + 1);
      state_[index(slot)] = {};
      state_[index(slot)].remaining = job(slot).duration;
      jobs_.push_back(slot);
    }
    if (jobs_.empty()) return;
    allocate();
    int free = cluster_gpus_;
    for (const Slot slot : jobs_) {
      if (job(slot).request > free) continue;
      free -= job(slot).request;
      run(job(slot), job(slot).request);
      run_for_a_slot(slot);
    }
  }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kDuration}};
  struct State {
    Seconds remaining = 0;    // by its recorded duration
    double alone = 0;         // fraction if all shared alike
    double left_before = -1;  // work left at the round before; negative: it was not there
    double alone_before = 1;
    double done_alone = 0;  // iterations it would have needed alone, as the artifact adds them up
  };
  struct Rank {
    double fraction;  // of time
    Slot slot;
  };
  // What the fairness of a job depends on: (elapsed + work / fraction) / isolated.
  struct Term {
    double elapsed = 0;
    double work = 0;
    double isolated = 0;
    int gpus = 0;
  };
  State& state(Slot slot) { return state_[index(slot)]; }

  // Brings the jobs into the order of their fractions.
  void allocate() {
    long long demand = 0;
    const double fair =
        std::ceil(static_cast<double>(cluster_gpus_) / static_cast<double>(jobs_.size()));
    terms_.clear();
    for (const Slot slot : jobs_) {
      State& s = state(slot);
      const Job& j = job(slot);
      demand += j.request;
      s.alone = std::min(1.0, fair / j.request);
      if (s.left_before >= 0) s.done_alone += (s.left_before - j.wants.left) / s.alone_before;
      s.left_before = j.wants.left;
      s.alone_before = s.alone;
      // Iterations over a share, where a throughput belongs.
      terms_.push_back({event_ - j.submit, j.wants.left / speed_of(j),
                        s.done_alone + j.wants.left / s.alone, j.request});
    }
    // If all jobs fit, no order matters.
    if (demand <= cluster_gpus_) return;
    const auto [worst, binding] = least_worst();
    fractions_.clear();
    for (const Term& term : terms_) fractions_.push_back(fraction(term, worst));
    // Where GPUs are left over, any larger fractions are as good; a solver by interior points ends
    // in the midst of them.
    const double price = binding ? 0 : price_of_gpus();
    ranks_.clear();
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const double centred =
          binding ? fractions_[i] : centre(fractions_[i], price * terms_[i].gpus);
      ranks_.push_back({centred, jobs_[i]});
    }
    std::stable_sort(ranks_.begin(), ranks_.end(),
                     [](const Rank& a, const Rank& b) { return a.fraction > b.fraction; });
    for (std::size_t i = 0; i < jobs_.size(); ++i) jobs_[i] = ranks_[i].slot;
  }
  // A size that was not measured is as fast as the next smaller one.
  static double speed_of(const Job& j) {
    const double measured = j.wants.speed(j.request);
    return measured > 0 ? measured : j.wants.speed(j.wants.fit(j.request));
  }
  static double fraction(const Term& term, double worst) {
    return std::min(1.0, term.work / (worst * term.isolated - term.elapsed));
  }
  // Between the least fraction and 1, as far from both as the barriers of the solver push it, given
  // what each unit of it costs.
  static double centre(double least, double cost) {
    const double room = 1 - least;
    const double sum = 3 + cost * room;
    return least + 4 * room / (sum + std::sqrt(sum * sum - 8 * cost * room));
  }
  // The barrier of the cluster's size: the inverse of what is left of it.
  double price_of_gpus() const {
    const auto left_at = [this](double price) {
      double left = cluster_gpus_;
      for (std::size_t i = 0; i < terms_.size(); ++i) {
        left -= terms_[i].gpus * centre(fractions_[i], price * terms_[i].gpus);
      }
      return left;
    };
    double low = 0;
    double high = 1;
    constexpr int kEnough = 200;
    for (int i = 0; i < kEnough && high * left_at(high) < 1; ++i) {
      low = high;
      high *= 2;
    }
    for (;;) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) return high;
      (middle * left_at(middle) < 1 ? low : high) = middle;
    }
  }
  // The smallest bound on the unfairness for which fractions up to 1 fit into the cluster, and
  // whether the cluster is what keeps it from being smaller.
  std::pair<double, bool> least_worst() const {
    double low = 0;
    for (const Term& term : terms_) {
      low = std::max(low, (term.elapsed + term.work) / term.isolated);
    }
    bool binding = false;
    // The GPUs that a bound takes fall and bend upwards: Newton's steps from the left never pass
    // the bound that takes all of them.
    for (;;) {
      double gpus = -cluster_gpus_;
      double slope = 0;
      for (const Term& term : terms_) {
        const double rest = low * term.isolated - term.elapsed;
        const double share = term.gpus * term.work / rest;
        gpus += share;
        slope += share * term.isolated / rest;
      }
      if (gpus <= 0) return {low, binding};
      binding = true;
      const double next = low + gpus / slope;
      if (!(next > low)) return {low, true};
      low = next;
    }
  }

  void run_for_a_slot(Slot slot) {
    State& s = state(slot);
    Job& j = job(slot);
    const Seconds next = now_ + slot_;
    Seconds end = now_ + s.remaining;
    s.remaining = std::max(0.0, s.remaining - slot_);
    j.wants.left -= slot_ * speed_of(j);
    if (j.wants.left <= 0) {
      s.remaining = 0;
      end = next;
    }
    if (end > next) return;
    j.end = end;
    ending_.push_back(slot);
  }

  std::vector<Slot> jobs_;    // in the order in which they were last sorted
  std::vector<State> state_;  // by slot
  std::vector<Term> terms_;
  std::vector<double> fractions_;  // the least that keep all jobs within the bound
  std::vector<Rank> ranks_;
  std::vector<Slot> ending_;
  Seconds event_ = 0;  // of the last arrival or end
};

}  // namespace
}  // namespace muster::published

namespace muster {

PolicyInfo<SchedulingPolicy> published_themis_row() {
  return {"themis-as-coded",
          "Themis as coded in ElasticFlow's artifact, after Gavel",
          "ElasticFlow, 2023",
          {},
          [](const Params&) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<published::Themis>();
          },
          "Themis",
          "the artifact of ElasticFlow, after Gavel"};
}

}  // namespace muster
