// The least makespan as Gavel's code finds it.
#include "policy/gavel/makespan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "artifacts/gavel/allocators.h"

namespace muster {
namespace {

// The time is not the shortest but what a bisection from 100 s to 1,000,000 s (or the next power of
// ten) finds within 5 %, and the answer is the first X that the solver meets among all that make
// it, as there is nothing to raise.
class BisectedMakespan final : public Allocator {
 public:
  explicit BisectedMakespan(const ProgramOptions& options)
      : options_(options),
        quick_(options.solver == solve_self_dual ? solve_in_interior : options.solver) {}
  AllocatorTraits traits() const override { return traits_of(options_.sight); }
  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    const std::vector<double> rates = seen_rates(problem, options_, BlindRate::kFirstType);
    std::vector<double> steps;
    for (const AllocationJob& job : problem.jobs) steps.push_back(job.steps_left);
    AllocationProgram program(problem, rates, steps, options_.solver, *options_.form);
    if (find(problem, rates, steps, program)) {
      program.write(allocation);
    } else if (program.classes() > 0) {
      share_equally(problem, allocation);
    }
  }
  bool checkpoint(Archive& /*archive*/) override { return true; }
  std::unique_ptr<Allocator> clone() const override {
    return std::make_unique<BisectedMakespan>(*this);
  }

 private:
  static bool find_any(AllocationProgram& program, double time) {
    AllocationProgram::Objective objective;
    for (std::size_t c = 0; c < program.classes(); ++c) {
      const double left = program.job(c).steps_left;
      objective.rows.push_back({c, 1, left / time, 0});
    }
    return program.solve(objective).status == SolveStatus::kOptimal;
  }

  // Fractions for the time of the bisection. Mostly the last call's dual variables say
  // which that is: they prove that below one of the bisection's times nothing can be done, and in
  // that time it can. False where there is no answer.
  bool find(const AllocationProblem& problem, const std::vector<double>& rates,
            const std::vector<double>& steps, AllocationProgram& program) {
    const AllocationProgram plain(problem, rates, steps);
    const double unit = longest_alone(plain);
    if (!(unit > 0)) return false;
    const AllocationProgram::Objective objective = shortest_time(plain, unit);
    const LinearProgram raising = plain.build(objective);
    if (const double most = level_by_duality(plain, objective, raising); most < HUGE_VAL) {
      if (find_any(program, bisect(unit / most))) return true;
    }
    const std::optional<double> time = bisect(plain, objective, raising, unit);
    if (!time) return false;
    find_any(program, *time);
    return true;
  }
  // The bisection needs no more of the shortest time than between which two of its times
  // it lies: mostly a rough answer says it. Nothing where there is no answer.
  std::optional<double> bisect(const AllocationProgram& plain,
                               const AllocationProgram::Objective& objective,
                               const LinearProgram& raising, double unit) {
    constexpr double kRough = 1e-4;
    constexpr double kDoubt = 20;  // how far off, in tolerances, a rough answer is taken to be
    for (const double tolerance : {kRough, AllocationProgram::kExact}) {
      const LinearSolution best = quick_(raising, tolerance);
      if (best.status != SolveStatus::kOptimal || !(best.x.back() > 0)) continue;
      remember(plain, objective, best.duals);
      const double shortest = unit / best.x.back();
      const double least = bisect(shortest * (1 - kDoubt * tolerance));
      if (least == bisect(shortest * (1 + kDoubt * tolerance))) return least;
      if (tolerance == AllocationProgram::kExact) return bisect(shortest);
    }
    return std::nullopt;
  }

  void remember(const AllocationProgram& program, const AllocationProgram::Objective& objective,
                const std::vector<double>& duals) {
    const std::size_t types = program.type_rows();
    type_duals_.assign(duals.begin(), duals.begin() + static_cast<std::ptrdiff_t>(types));
    job_duals_.clear();
    for (std::size_t r = 0; r < objective.rows.size(); ++r) {
      const std::size_t c = objective.rows[r].of_class;
      job_duals_[program.job(c).id] = {
          duals[types + c] / program.copies(c),
          duals[program.first_row() + r] * objective.rows[r].scale / program.copies(c)};
    }
  }
  // Weak duality: any feasible dual bounds the level from above. The last duals are made feasible
  // for this program by raising those of the GPU types. Without duals there is no such bound.
  double level_by_duality(const AllocationProgram& program,
                          const AllocationProgram::Objective& objective,
                          const LinearProgram& raising) const {
    const std::size_t types = program.type_rows();
    if (type_duals_.size() != types) return HUGE_VAL;
    std::vector<double> duals(raising.rows(), 0.0);
    std::copy(type_duals_.begin(), type_duals_.end(), duals.begin());
    double sum = 0;
    for (std::size_t r = 0; r < objective.rows.size(); ++r) {
      const std::size_t c = objective.rows[r].of_class;
      const auto found = job_duals_.find(program.job(c).id);
      if (found == job_duals_.end()) continue;
      duals[types + c] = found->second.time * program.copies(c);
      sum += duals[program.first_row() + r] =
          found->second.step * program.copies(c) / objective.rows[r].scale;
    }
    if (!(sum > 0)) return HUGE_VAL;
    std::vector<double> missing(types, 0.0);
    for (std::size_t v = 0; v + 1 < raising.variables(); ++v) {
      double left = 0;
      for (std::size_t t = raising.first_term(v); t < raising.last_term(v); ++t) {
        left += duals[raising.terms[t].row] * raising.terms[t].value;
      }
      const LinearProgram::Term& gpus = raising.terms[raising.first_term(v)];
      missing[gpus.row] = std::max(missing[gpus.row], -left / gpus.value);
    }
    double level = 0;
    for (std::size_t w = 0; w < types; ++w) duals[w] += missing[w];
    for (std::size_t r = 0; r < raising.rows(); ++r) level += raising.bounds[r] * duals[r];
    return level / sum;
  }
  // The last time that the bisection finds feasible, where `shortest` is the least one.
  static double bisect(double shortest) {
    double low = 100;
    double high = 1e6;
    for (;;) {
      double found = 0;
      while (1.05 * low < high) {
        const double middle = (low + high) / 2;
        if (middle >= shortest) {
          high = middle;
          found = middle;
        } else {
          low = middle;
        }
      }
      if (found > 0) return found;
      low = high;
      high = 10 * (low < 1e6 ? 1e6 : low);
      while (high < shortest) {
        low = high;
        high *= 10;
      }
    }
  }
  ProgramOptions options_;
  LinearSolver quick_;  // for the shortest time, of which any best answer tells as much
  // Of the last call that had to find the shortest time: by type, and by job for its time and for
  // each of its steps. They save time and decide nothing, so that they need not be kept.
  struct JobDuals {
    double time = 0;
    double step = 0;
  };
  std::vector<double> type_duals_;
  std::map<JobId, JobDuals> job_duals_;
};

}  // namespace

std::unique_ptr<Allocator> make_makespan_as_coded(const ProgramOptions& options) {
  return std::make_unique<BisectedMakespan>(options);
}

}  // namespace muster
