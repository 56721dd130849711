// Water filling: lexicographic max-min fairness, over jobs or over entities and their jobs.
#pragma once

#include <memory>
#include <vector>

#include "policy/gavel/program_allocators.h"

namespace muster {

// Source: Gavel (OSDI'20), section 4.3: water filling, on one level and on two. The answer is the
// lexicographic max-min fair allocation, and the method progressive filling (Bertsekas and
// Gallager, "Data Networks", section 6.5.2).
//
// Max-min fairness raises the least throughput and says nothing about the others. Water filling
// goes on: raise the level of all jobs in proportion to their weights until some cannot rise any
// further, the bottlenecks; fix those where they are; raise the rest. Each level is a linear
// program and fixes at least one job, so there are at most as many programs as classes of jobs.
// With entities, an entity's weight is split among its jobs that can still rise, in proportion to
// their priorities (fairness), or goes to the oldest of them (fifo).
//
// Bottlenecks are read off the dual variables: by complementary slackness a job whose row has a
// positive dual is tight in every optimum (Gavel's code asks a mixed integer program instead).
class WaterFilling : public Allocator {
 public:
  WaterFilling(const ProgramOptions& options, WaterOptions water)
      : options_(options), water_(std::move(water)) {}
  AllocatorTraits traits() const override { return traits_of(options_.sight); }
  void allocate(const AllocationProblem& problem, Allocation& allocation) override;
  bool checkpoint(Archive& /*archive*/) override { return true; }
  std::unique_ptr<Allocator> clone() const override {
    return std::make_unique<WaterFilling>(*this);
  }

 protected:
  // A class of equal jobs on its way up.
  struct Water {
    double fair = 1;    // rate on an average GPU
    double level = 0;   // throughput / fair so far
    double weight = 0;  // in this round
    bool full = false;
  };

  const ProgramOptions& options() const { return options_; }
  // All levels, and then the analytic centre of the allocations with these levels. False if there
  // is no answer.
  virtual bool fill(AllocationProgram& program, std::vector<Water>& waters) const;
  // The most by which a level may rise at a time while some have no weight.
  virtual double most_rise(const AllocationProgram& /*program*/,
                           const std::vector<Water>& /*waters*/) const {
    return kNever;
  }
  // Whether a job whose row has this dual variable cannot rise any further.
  virtual bool is_bottleneck(double dual) const;
  // The weights of all that can still rise.
  void weigh(const AllocationProgram& program, std::vector<Water>& waters) const;
  // A sequence of programs that differ in a few numbers: each starts from the basis of the one
  // before (warm start).
  bool find_levels(AllocationProgram& program, std::vector<Water>& waters) const;

 private:
  Entity entity_of(const AllocationJob& job) const;
  // Jobs of one entity that is fair inside, with one priority, stay equal; those of others are
  // apart.
  std::vector<double> keys(const AllocationProblem& problem) const;

  ProgramOptions options_;
  WaterOptions water_;
};

}  // namespace muster
