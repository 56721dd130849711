#include <algorithm>
#include <optional>

#include "policy/gavel/program_allocators.h"

namespace muster {
namespace {

// Source: Gavel (OSDI'20), least makespan: all jobs should be done as soon as possible together.
//
// With fractions X a job of r steps takes r / (sum over types of T X). The shortest time in which
// all can be done is one linear program: the largest level t with sum of T X >= t r for all jobs;
// the time is 1 / t. As published, the time is then not the shortest but what a bisection from 100
// s to 1,000,000 s (or the next power of ten) finds within 5 %, and the answer is the first X that
// its solver meets among all that make it, as there is nothing to raise.
class Makespan final : public Allocator {
 public:
  explicit Makespan(const ProgramOptions& options) : options_(options) {}
  AllocatorTraits traits() const override { return traits_of(options_.sight); }
  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    const std::vector<double> rates = seen_rates(problem, options_, BlindRate::kFirstType);
    std::vector<double> steps;
    for (const AllocationJob& job : problem.jobs) steps.push_back(job.steps_left);
    ShareProgram program(problem, rates, steps, options_.solver, options_.form());
    if (options_.published) {
      const std::optional<double> time = bisect(problem, rates, steps);
      if (time) {
        find_any(program, *time);
        program.write(allocation);
      } else if (program.classes() > 0) {
        share_equally(problem, allocation);
      }
      return;
    }
    if (!(unit_of(program) > 0)) return;
    if (solve_shortest(program).status == SolveStatus::kOptimal) {
      program.write(allocation);
    } else {
      share_equally(problem, allocation);
    }
  }
  bool keep(Archive& /*archive*/) override { return true; }
  std::unique_ptr<Allocator> clone() const override { return std::make_unique<Makespan>(*this); }

 private:
  // The longest job alone: in this unit of time the numbers are near one.
  static double unit_of(const ShareProgram& program) {
    double unit = 0;
    for (std::size_t c = 0; c < program.classes(); ++c) {
      unit = std::max(unit, program.job(c).steps_left / program.fastest(c));
    }
    return unit;
  }
  static ShareProgram::Answer solve_shortest(ShareProgram& program,
                                             double tolerance = ShareProgram::kExact) {
    const double unit = unit_of(program);
    ShareProgram::Wish wish;
    wish.level_cost = -1;
    for (std::size_t c = 0; c < program.classes(); ++c) {
      const double left = program.job(c).steps_left;
      if (left > 0) wish.rows.push_back({c, unit / left, 0, 1});
    }
    return program.solve(wish, tolerance);
  }
  static void find_any(ShareProgram& program, double time) {
    ShareProgram::Wish wish;
    for (std::size_t c = 0; c < program.classes(); ++c) {
      const double left = program.job(c).steps_left;
      wish.rows.push_back({c, 1, left / time, 0});
    }
    program.solve(wish);
  }
  // The published bisection needs no more of the shortest time than between which two of its times
  // it lies: mostly a rough answer says it. Nothing where there is no answer.
  std::optional<double> bisect(const AllocationProblem& problem, const std::vector<double>& rates,
                               const std::vector<double>& steps) const {
    ShareProgram program(problem, rates, steps, options_.solver);
    const double unit = unit_of(program);
    if (!(unit > 0)) return std::nullopt;
    constexpr double kRough = 1e-4;
    constexpr double kDoubt = 20;  // how far off, in tolerances, a rough answer is taken to be
    for (const double tolerance : {kRough, ShareProgram::kExact}) {
      const ShareProgram::Answer best = solve_shortest(program, tolerance);
      if (best.status != SolveStatus::kOptimal || !(best.level > 0)) continue;
      const double shortest = unit / best.level;
      const double least = bisect(shortest * (1 - kDoubt * tolerance));
      if (least == bisect(shortest * (1 + kDoubt * tolerance))) return least;
      if (tolerance == ShareProgram::kExact) return bisect(shortest);
    }
    return std::nullopt;
  }
  // The last time that the published bisection finds feasible, where `shortest` is the least one.
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
};

}  // namespace

std::unique_ptr<Allocator> make_gavel_makespan(const ProgramOptions& options) {
  return std::make_unique<Makespan>(options);
}

}  // namespace muster
