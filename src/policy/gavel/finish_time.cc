#include <algorithm>
#include <cmath>
#include <map>

#include "policy/gavel/program_allocators.h"

namespace muster {
namespace {

// Source: Themis' finish-time fairness (NSDI'20) as Gavel states it: make the worst ratio rho of
// "when it will be done" to "when it would be done on its own m-th of the cluster" as small as
// possible: minimise over X the maximum over jobs of
//   (age + r / sum over types of T X) / (c + r / Tiso),
// where r are the steps left, Tiso the rate on an m-th of the cluster, and c the time that the
// steps done so far would have taken there. For a given rho this asks for rates, sum of T X >=
// need(rho) with need = r / (rho D - age), which a linear program can answer; the rho at which the
// best level of all needs is exactly 1 is found by Newton's method on the program's prices.
// Agnostic: every type has the rate of the cluster's first one.
class FinishTimeFairness final : public Allocator {
 public:
  explicit FinishTimeFairness(const ProgramOptions& options) : options_(options) {}
  AllocatorTraits traits() const override { return traits_of(options_.sight); }

  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    const std::vector<double> rates = seen_rates(problem, options_, BlindRate::kFirstType);
    book(problem, rates);
    std::vector<double> apart(problem.jobs.size());
    for (std::size_t j = 0; j < apart.size(); ++j) apart[j] = static_cast<double>(j);
    ShareProgram program(problem, rates, apart, options_.solver);
    std::vector<Term> terms;
    for (std::size_t c = 0; c < program.classes(); ++c) {
      const std::size_t j = program.members(c).front();
      const AllocationJob& job = problem.jobs[j];
      if (!(job.steps_left > 0)) continue;
      // Pairs see rates divided by the priority; others do not look at it.
      const double weight = options_.sight == Sight::kPairs ? job.weight : 1;
      const double whole = past_[job.id].isolated + job.steps_left / past_[job.id].rate;
      terms.push_back({c, job.age, job.steps_left * weight, whole});
    }
    if (!search(program, terms)) {
      share_equally(problem, allocation);
      return;
    }
    program.write(allocation);
  }
  std::unique_ptr<Allocator> clone() const override {
    return std::make_unique<FinishTimeFairness>(*this);
  }

 private:
  struct Past {
    double steps_left = 0;
    double rate = 0;      // on an m-th of the cluster, as of the last call
    double isolated = 0;  // seconds that the steps done would have taken there
  };
  struct Term {
    std::size_t of_class;
    double age;
    double steps;
    double whole;  // when it would be done on its own part, from its submission
  };

  void book(const AllocationProblem& problem, const std::vector<double>& rates) {
    std::map<JobId, Past> now;
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      const AllocationJob& job = problem.jobs[j];
      Past past;
      if (const auto found = past_.find(job.id); found != past_.end()) {
        past = found->second;
        past.isolated += (past.steps_left - job.steps_left) / past.rate;
      }
      past.steps_left = job.steps_left;
      past.rate = isolated_rate(problem, rates, j);
      if (!(past.rate > 0)) past.rate = 1e-10;
      now[job.id] = past;
    }
    past_ = std::move(now);
  }

  // Leaves the fractions of the best rho in the program. Far from it a rough answer shows the way.
  static bool search(ShareProgram& program, const std::vector<Term>& terms) {
    if (terms.empty()) return false;
    double latest = 0;  // at this rho somebody is too late already
    for (const Term& term : terms) latest = std::max(latest, term.age / term.whole);
    double low = latest;
    double high = HUGE_VAL;
    double rho = std::max(1.0, 1.5 * latest);
    constexpr double kRough = 1e-4;
    constexpr double kClose = 1e-2;
    constexpr double kNear = 1e-8;
    constexpr int kMostSteps = 100;
    bool rough = true;
    ShareProgram::Wish wish;
    wish.level_cost = -1;
    for (int i = 0; i < kMostSteps; ++i) {
      wish.rows.clear();
      for (const Term& term : terms) {
        wish.rows.push_back({term.of_class, (rho * term.whole - term.age) / term.steps, 0, 1});
      }
      const ShareProgram::Answer answer =
          program.solve(wish, rough ? kRough : ShareProgram::kExact);
      if (answer.status != SolveStatus::kOptimal || !(answer.level > 0)) return false;
      const double off = answer.level - 1;
      if (!rough && std::abs(off) < kNear) return true;
      // How the level grows with rho: each row's scale grows by whole / steps.
      double slope = 0;
      for (std::size_t r = 0; r < terms.size(); ++r) {
        slope += answer.prices[r] * terms[r].whole / terms[r].steps *
                 answer.throughput[terms[r].of_class];
      }
      double next = rho - off / slope;
      if (rough && std::abs(off) < kClose) {
        // What was found roughly does not bound what is sought exactly.
        rough = false;
        if (next > latest) rho = next;
        low = latest;
        high = HUGE_VAL;
        continue;
      }
      (off < 0 ? low : high) = rho;
      if (!(next > low) || !(next < high)) next = high == HUGE_VAL ? 2 * rho : (low + high) / 2;
      if (!rough && std::abs(next - rho) <= 1e-12 * rho) return true;
      rho = next;
    }
    return !rough;
  }

  ProgramOptions options_;
  std::map<JobId, Past> past_;
};

}  // namespace

std::unique_ptr<Allocator> make_gavel_finish_time(const ProgramOptions& options) {
  return std::make_unique<FinishTimeFairness>(options);
}

}  // namespace muster
