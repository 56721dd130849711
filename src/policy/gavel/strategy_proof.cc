#include <algorithm>
#include <cmath>

#include "policy/gavel/program_allocators.h"

namespace muster {
namespace {

// Source: Gavel (OSDI'20), its strategy-proof form of max-min fairness: no user gains by reporting
// wrong rates.
//
// It is the partial allocation mechanism (Cole, Gkatzelis and Goel, EC'13). First the fractions
// with the largest product of shares (Nash social welfare): maximise over X
//   sum over jobs of log(s / (p Tprop) * sum over types of T X).
// Then every job gives up a part, and more if it slows the others more: the fractions of job i are
// multiplied by the product over all other jobs k of (throughput of k) / (throughput of k if i were
// not there), both of the same policy. Time that is given up goes to no other job. That takes one
// program with logarithms more than there are classes of jobs.
class StrategyProof final : public Allocator {
 public:
  explicit StrategyProof(const ProgramOptions& options) : options_(options) {}
  AllocatorTraits traits() const override { return traits_of(options_.sight); }
  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    const std::vector<double> rates = seen_rates(problem, options_);
    const std::vector<double> same(problem.jobs.size(), 0.0);
    AllocationProgram::Objective objective;
    objective.log_gains = true;
    AllocationProgram all(problem, rates, same, options_.solver);
    if (all.classes() == 0) return;
    const AllocationProgram::Answer with = all.solve(objective);
    if (with.status != SolveStatus::kOptimal) {
      share_equally(problem, allocation);
      return;
    }
    all.write(allocation);
    // Equal jobs are in the way of the others alike: one of each class is taken out.
    for (std::size_t c = 0; c < all.classes(); ++c) {
      const double kept = part_kept(problem, rates, all, with, c);
      for (const std::size_t j : all.members(c)) {
        for (std::size_t w = 0; w < problem.types; ++w) {
          allocation.alone[j * problem.types + w] *= kept;
        }
      }
    }
  }
  bool checkpoint(Archive& /*archive*/) override { return true; }
  std::unique_ptr<Allocator> clone() const override {
    return std::make_unique<StrategyProof>(*this);
  }

 private:
  double part_kept(const AllocationProblem& problem, const std::vector<double>& rates,
                   const AllocationProgram& all, const AllocationProgram::Answer& with,
                   std::size_t left_out) const {
    const std::size_t out = all.members(left_out).front();
    std::vector<double> rest_rates = rates;
    // A job that can run nowhere is left out of the program.
    for (std::size_t w = 0; w < problem.types; ++w) rest_rates[out * problem.types + w] = 0;
    AllocationProgram others(problem, rest_rates, std::vector<double>(problem.jobs.size(), 0.0),
                             options_.solver);
    if (others.classes() == 0) return 1;
    AllocationProgram::Objective objective;
    objective.log_gains = true;
    const AllocationProgram::Answer without = others.solve(objective);
    if (without.status != SolveStatus::kOptimal) return 1;
    double log_kept = 0;
    for (std::size_t c = 0; c < others.classes(); ++c) {
      const double now = with.throughput[all.class_of(others.members(c).front())];
      log_kept += others.copies(c) * std::log(now / without.throughput[c]);
    }
    return std::min(1.0, std::exp(log_kept));
  }
  ProgramOptions options_;
};

}  // namespace

std::unique_ptr<Allocator> make_gavel_strategy_proof(const ProgramOptions& options) {
  return std::make_unique<StrategyProof>(options);
}

}  // namespace muster
