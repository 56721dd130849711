#include <algorithm>

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
    // In units of the longest job alone, so that the numbers are near one.
    double unit = 0;
    for (std::size_t c = 0; c < program.classes(); ++c) {
      unit = std::max(unit, program.job(c).steps_left / program.fastest(c));
    }
    if (!(unit > 0)) return;
    ShareProgram::Wish wish;
    wish.level_cost = -1;
    for (std::size_t c = 0; c < program.classes(); ++c) {
      const double left = program.job(c).steps_left;
      if (left > 0) wish.rows.push_back({c, unit / left, 0, 1});
    }
    const ShareProgram::Answer best = program.solve(wish);
    if (best.status != SolveStatus::kOptimal) {
      share_equally(problem, allocation);
      return;
    }
    if (options_.published) find_any(program, bisect(unit / best.level));
    program.write(allocation);
  }
  bool keep(Archive& /*archive*/) override { return true; }
  std::unique_ptr<Allocator> clone() const override { return std::make_unique<Makespan>(*this); }

 private:
  static void find_any(ShareProgram& program, double time) {
    ShareProgram::Wish wish;
    for (std::size_t c = 0; c < program.classes(); ++c) {
      const double left = program.job(c).steps_left;
      wish.rows.push_back({c, 1, left / time, 0});
    }
    program.solve(wish);
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
