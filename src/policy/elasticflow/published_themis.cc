// Themis as the ElasticFlow artifact has it, after Gavel: every slot, fractions of time that keep
// the worst finish-time fairness as low as possible; the jobs with the largest fractions run.
#include <algorithm>
#include <cmath>
#include <utility>

#include "policy/builtin.h"
#include "policy/elasticflow/published.h"

namespace muster::published {
namespace {

class Themis final : public Scheduler {
 public:
  Themis() : Scheduler(Cap::kWidest) {}
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
    divide();
    std::stable_sort(jobs_.begin(), jobs_.end(),
                     [this](Slot a, Slot b) { return state(a).fraction > state(b).fraction; });
    int free = cluster_gpus_;
    for (const Slot slot : jobs_) {
      if (job(slot).request > free) continue;
      free -= job(slot).request;
      run(job(slot), job(slot).request);
      run_for_a_slot(slot);
    }
  }

 private:
  struct State {
    Seconds remaining = 0;    // by its recorded duration
    double fraction = 0;      // of time
    double alone = 0;         // fraction if all shared alike
    double left_before = -1;  // work left at the round before; negative: it was not there
    double alone_before = 1;
    double done_alone = 0;  // iterations it would have needed alone, as the artifact adds them up
  };
  // What the fairness of a job hangs on: (elapsed + work / fraction) / isolated.
  struct Term {
    double elapsed = 0;
    double work = 0;
    double isolated = 0;
    int gpus = 0;
  };
  State& state(Slot slot) { return state_[index(slot)]; }

  void divide() {
    const double fair =
        std::ceil(static_cast<double>(cluster_gpus_) / static_cast<double>(jobs_.size()));
    terms_.clear();
    for (const Slot slot : jobs_) {
      State& s = state(slot);
      const Job& j = job(slot);
      s.alone = std::min(1.0, fair / j.request);
      if (s.left_before >= 0) s.done_alone += (s.left_before - j.wants.left) / s.alone_before;
      s.left_before = j.wants.left;
      s.alone_before = s.alone;
      // Iterations over a share, where a throughput belongs.
      terms_.push_back({event_ - j.submit, j.wants.left / speed_of(j),
                        s.done_alone + j.wants.left / s.alone, j.request});
    }
    const auto [worst, binding] = least_worst();
    fractions_.clear();
    for (const Term& term : terms_) fractions_.push_back(fraction(term, worst));
    // Where GPUs are left over, any larger fractions are as good; a solver by interior points ends
    // in the midst of them.
    const double price = binding ? 0 : price_of_gpus();
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      state(jobs_[i]).fraction =
          binding ? fractions_[i] : centre(fractions_[i], price * terms_[i].gpus);
    }
  }
  static double speed_of(const Job& j) { return j.wants.speed(j.request); }
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
    for (int i = 0; i < kEnough && high * left_at(high) < 1; ++i) high *= 2;
    for (int i = 0; i < kEnough; ++i) {
      const double middle = low + (high - low) / 2;
      (middle * left_at(middle) < 1 ? low : high) = middle;
    }
    return high;
  }
  // The smallest bound on the unfairness for which fractions up to 1 fit into the cluster, and
  // whether the cluster is what keeps it from being smaller.
  std::pair<double, bool> least_worst() const {
    double low = 0;
    for (const Term& term : terms_) {
      low = std::max(low, (term.elapsed + term.work) / term.isolated);
    }
    const auto fits = [this](double worst) {
      double gpus = 0;
      for (const Term& term : terms_) gpus += term.gpus * fraction(term, worst);
      return gpus <= cluster_gpus_;
    };
    if (fits(low)) return {low, false};
    double high = 2 * low;
    while (!fits(high)) high *= 2;
    for (;;) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) return {high, true};
      (fits(middle) ? high : low) = middle;
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
  std::vector<double> fractions_;  // the least that keep everybody within the bound
  std::vector<Slot> ending_;
  Seconds event_ = 0;  // of the last arrival or end
};

}  // namespace
}  // namespace muster::published

namespace muster {

std::unique_ptr<SchedulingPolicy> make_published_themis(const Params&) {
  return std::make_unique<published::Themis>();
}

}  // namespace muster
