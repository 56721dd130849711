#include <algorithm>
#include <cmath>
#include <map>

#include "policy/gavel/program_allocators.h"
#include "solve/worst_ratio.h"

namespace muster {
namespace {

// Source: Themis' finish-time fairness (NSDI'20) as Gavel states it: make the worst ratio rho of
// "when it will be done" to "when it would be done on its own m-th of the cluster" as small as
// possible: minimise over X the maximum over jobs of
//   (age + r / sum over types of T X) / (c + r / Tiso),
// where r are the steps left, Tiso the rate on an m-th of the cluster, and c the time that the
// steps done so far would have taken there. That is a convex program, which solve/worst_ratio.h
// solves as it stands.
//
// Where jobs share GPUs, or vertices are asked for: for a given rho it asks for rates, sum of
// T X >= need(rho) with need = r / (rho D - age), D the denominator. A linear program answers that:
// the largest level t with sum of T X >= t need(rho). The rho at which the level is exactly 1 is
// found by Newton's method, as for fractional programs (Dinkelbach 1967): the dual variables give
// the derivative of the level by rho, and a bracket guards the steps. Each step costs one linear
// program (allocation_program.h); Newton's method converges superlinearly, so from the rho of the
// call before mostly two exact programs are needed, and never more than 100.
// Agnostic: every type has the rate of the cluster's first one.
class FinishTimeFairness final : public Allocator {
 public:
  explicit FinishTimeFairness(const ProgramOptions& options) : options_(options) {}
  AllocatorTraits traits() const override { return traits_of(options_.sight); }

  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    const std::vector<double> rates = seen_rates(problem, options_, BlindRate::kFirstType);
    book(problem, rates);
    // Jobs of which the program asks the same at every rho are equal.
    std::map<std::pair<double, double>, double> known;
    std::vector<Term> term_of;
    std::vector<double> keys;
    for (const AllocationJob& job : problem.jobs) {
      term_of.push_back(term(job));
      const std::pair key(term_of.back().age, term_of.back().whole);
      keys.push_back(known.emplace(key, static_cast<double>(known.size())).first->second);
    }
    AllocationProgram program(problem, rates, keys, options_.solver, *options_.form);
    std::vector<Term> terms;
    for (std::size_t c = 0; c < program.classes(); ++c) {
      terms.push_back(term_of[program.members(c).front()]);
      terms.back().of_class = c;
      if (!(terms.back().whole > 0)) terms.pop_back();
    }
    if (!solve_as_stated(problem, program, terms) && !search(program, terms)) {
      share_equally(problem, allocation);
      return;
    }
    program.write(allocation);
  }
  bool checkpoint(Archive& archive) override {
    archive.map(past_);
    archive.value(rho_);
    return true;
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
  // Per step that is left.
  struct Term {
    std::size_t of_class;
    double age;
    double whole;  // when it would be done on its own part, from its submission; 0: it is done
  };

  Term term(const AllocationJob& job) const {
    if (!(job.steps_left > 0)) return {0, 0, 0};
    // Pairs see rates divided by the priority; others do not look at it.
    const double weight = options_.sight == Sight::kPairs ? job.weight : 1;
    const Past& past = past_.at(job.id);
    return {0, job.age / job.steps_left / weight,
            (past.isolated / job.steps_left + 1 / past.rate) / weight};
  }

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

  bool solve_as_stated(const AllocationProblem& problem, AllocationProgram& program,
                       const std::vector<Term>& terms) {
    if (!problem.pairs.empty() || options_.solver == solve_at_vertex) return false;
    RatioProgram stated;
    stated.capacity.assign(problem.capacity.begin(), problem.capacity.end());
    // A capacity of zero would leave it no interior; no job has time there.
    for (double& gpus : stated.capacity) gpus = std::max(1.0, gpus);
    for (std::size_t c = 0; c < program.classes(); ++c) {
      stated.rows.push_back({program.copies(c), static_cast<double>(program.job(c).gpus), 0, 0});
      for (std::size_t w = 0; w < problem.types; ++w) {
        stated.rates.push_back(program.asked(program.rate(c, w), w) ? program.rate(c, w) : -1);
      }
    }
    for (const Term& term : terms) {
      stated.rows[term.of_class].age = term.age;
      stated.rows[term.of_class].whole = term.whole;
    }
    const auto answer = smallest_worst_ratio(stated);
    if (!answer) return false;
    rho_ = answer->ratio;
    std::vector<double> x;
    for (std::size_t v = 0; v < stated.rates.size(); ++v) {
      if (stated.rates[v] >= 0) x.push_back(answer->fractions[v]);
    }
    program.accept(program.build({}), std::move(x));
    return true;
  }

  // Leaves the fractions of the best rho in the program. The last call's is mostly a very good
  // place to begin, two exact answers away; far from it a rough answer shows the way.
  bool search(AllocationProgram& program, const std::vector<Term>& terms) {
    if (terms.empty()) return false;
    double latest = 0;  // at this rho a job is too late already
    for (const Term& term : terms) latest = std::max(latest, term.age / term.whole);
    double low = latest;
    double high = HUGE_VAL;
    const bool warm = rho_ > 1.001 * latest;
    double rho = warm ? rho_ : std::max(1.0, 1.5 * latest);
    constexpr double kRough = 1e-4;
    constexpr double kClose = 1e-2;
    constexpr double kNear = 1e-8;
    constexpr int kMostSteps = 100;
    bool rough = !warm;
    AllocationProgram::Objective objective;
    objective.level_cost = -1;
    for (int i = 0; i < kMostSteps; ++i) {
      objective.rows.clear();
      for (const Term& term : terms) {
        objective.rows.push_back({term.of_class, rho * term.whole - term.age, 0, 1});
      }
      const AllocationProgram::Answer answer =
          program.solve(objective, rough ? kRough : AllocationProgram::kExact);
      if (answer.status != SolveStatus::kOptimal || !(answer.level > 0)) {
        if (i > 0 || !warm) return false;
        rough = true;
        rho = std::max(1.0, 1.5 * latest);
        continue;
      }
      const double off = answer.level - 1;
      rho_ = rho;
      if (!rough && std::abs(off) < kNear) return true;
      // How the level grows with rho: each row's scale grows by `whole`.
      double slope = 0;
      for (std::size_t r = 0; r < terms.size(); ++r) {
        slope += answer.duals[r] * terms[r].whole * answer.throughput[terms[r].of_class];
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
      if (i == 1 && std::abs(off) >= kClose) rough = true;
      if (!(next > low) || !(next < high)) next = high == HUGE_VAL ? 2 * rho : (low + high) / 2;
      if (!rough && std::abs(next - rho) <= 1e-12 * rho) return true;
      rho = next;
    }
    return !rough;
  }

  ProgramOptions options_;
  std::map<JobId, Past> past_;
  double rho_ = 0;  // of the last call
};

}  // namespace

std::unique_ptr<Allocator> make_gavel_finish_time(const ProgramOptions& options) {
  return std::make_unique<FinishTimeFairness>(options);
}

}  // namespace muster
