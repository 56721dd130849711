#include "policy/gavel/makespan.h"

#include <algorithm>

namespace muster {
namespace {

// Source: Gavel (OSDI'20), least makespan: all jobs should be done as soon as possible together.
//
// With fractions X a job of r steps takes r / (sum over types of T X). The shortest time in which
// all can be done is one linear program: the largest level t with sum of T X >= t r for all jobs;
// the time is 1 / t. Time: see allocation_program.h.
class Makespan final : public Allocator {
 public:
  explicit Makespan(const ProgramOptions& options) : options_(options) {}
  AllocatorTraits traits() const override { return traits_of(options_.sight); }
  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    const std::vector<double> rates = seen_rates(problem, options_, BlindRate::kFirstType);
    std::vector<double> steps;
    for (const AllocationJob& job : problem.jobs) steps.push_back(job.steps_left);
    AllocationProgram program(problem, rates, steps, options_.solver, *options_.form);
    const double unit = longest_alone(program);
    if (unit > 0) allocate_best(program, shortest_time(program, unit), problem, allocation);
  }
  bool checkpoint(Archive& /*archive*/) override { return true; }
  std::unique_ptr<Allocator> clone() const override { return std::make_unique<Makespan>(*this); }

 private:
  ProgramOptions options_;
};

}  // namespace

double longest_alone(const AllocationProgram& program) {
  double unit = 0;
  for (std::size_t c = 0; c < program.classes(); ++c) {
    unit = std::max(unit, program.job(c).steps_left / program.fastest(c));
  }
  return unit;
}

AllocationProgram::Objective shortest_time(const AllocationProgram& program, double unit) {
  AllocationProgram::Objective objective;
  // Epigraph form: maximise the level t. Rows are scaled by the longest run alone, so that t is of
  // the order of one.
  objective.level_cost = -1;
  for (std::size_t c = 0; c < program.classes(); ++c) {
    const double left = program.job(c).steps_left;
    if (left > 0) objective.rows.push_back({c, unit / left, 0, 1});
  }
  return objective;
}

std::unique_ptr<Allocator> make_gavel_makespan(const ProgramOptions& options) {
  return std::make_unique<Makespan>(options);
}

}  // namespace muster
