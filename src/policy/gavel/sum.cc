#include <algorithm>

#include "policy/gavel/program_allocators.h"

namespace muster {
namespace {

// Source: Gavel (OSDI'20), the largest sum of throughputs, or of throughputs per dollar: maximise
//   sum over jobs and types of (T / price) X.
// With deadlines a job that has one gets at least the rate at which it just meets it; if that
// cannot be done for all of them, no deadline counts. A job whose deadline has passed has no such
// constraint.
//
// One linear program, and one more before it where jobs have deadlines. Time: see
// allocation_program.h.
class SumOfThroughputs final : public Allocator {
 public:
  SumOfThroughputs(const ProgramOptions& options, const SumGoal& goal)
      : options_(options), goal_(goal) {}
  AllocatorTraits traits() const override { return traits_of(options_.sight); }
  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    std::vector<double> needs(problem.jobs.size(), 0.0);
    for (std::size_t j = 0; goal_.deadlines && j < problem.jobs.size(); ++j) {
      const AllocationJob& job = problem.jobs[j];
      if (job.deadline_in != kNever && job.deadline_in > 0) {
        needs[j] = job.steps_left / job.deadline_in;
      }
    }
    AllocationProgram program(problem, problem.rates, needs, options_.solver, *options_.form);
    if (program.classes() == 0) return;
    AllocationProgram::Objective objective;
    objective.gains.assign(problem.types, 1.0);
    for (std::size_t w = 0; goal_.by_cost && w < problem.price.size(); ++w) {
      objective.gains[w] = 1 / problem.price[w];
    }
    if (all_can_be_met(program, needs)) {
      for (std::size_t c = 0; c < program.classes(); ++c) {
        const double need = needs[program.members(c).front()];
        if (!(need > 0)) continue;
        const ProgramForm::Bound met = options_.form->at_least(need);
        objective.rows.push_back({c, met.scale, met.bound, 0});
      }
    }
    allocate_best(program, objective, problem, allocation);
  }
  bool checkpoint(Archive& /*archive*/) override { return true; }
  std::unique_ptr<Allocator> clone() const override {
    return std::make_unique<SumOfThroughputs>(*this);
  }

 private:
  // Maximises the least part of their needs that all with a deadline get at once; the level is
  // capped, as anything beyond 1 is enough.
  static bool all_can_be_met(AllocationProgram& program, const std::vector<double>& needs) {
    AllocationProgram::Objective objective;
    objective.level_cost = -1;
    objective.most_level = 2;
    for (std::size_t c = 0; c < program.classes(); ++c) {
      const double need = needs[program.members(c).front()];
      if (need > 0) objective.rows.push_back({c, 1 / need, 0, 1});
    }
    if (objective.rows.empty()) return true;
    const AllocationProgram::Answer answer = program.solve(objective);
    return answer.status == SolveStatus::kOptimal && answer.level >= 1 - 1e-7;
  }
  ProgramOptions options_;
  SumGoal goal_;
};

}  // namespace

std::unique_ptr<Allocator> make_gavel_sum(const ProgramOptions& options, const SumGoal& goal) {
  return std::make_unique<SumOfThroughputs>(options, goal);
}

}  // namespace muster
