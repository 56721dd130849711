// First come, first served over several GPU types.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/random_python.h"
#include "policy/gavel/simple_allocators.h"

namespace muster {

// Source: Gavel (OSDI'20), its three FIFO baselines: jobs in order of arrival get whole GPUs of one
// type and keep them to the end; no job overtakes another.
//
// clang-format off
//   any type    a type is drawn at random among those with free GPUs; jobs keep their type
//   best type   decided anew each time: the type on which the job is fastest among those with free
//               GPUs
//   packed      as best type; a job that fits nowhere shares the GPUs of the job with which both
//               lose least, if the sum of their relative speeds exceeds the threshold
// clang-format on
//
// Time: O(jobs (types + log jobs)), and packed O(waiting jobs x running jobs x log pairs) more.
class GavelFifo : public Allocator {
 public:
  GavelFifo(FifoMode mode, std::int64_t seed, double threshold)
      : mode_(mode), threshold_(threshold), random_(seed) {}
  AllocatorTraits traits() const override {
    return {.pairs = mode_ == FifoMode::kPacked,
            .knows_types = mode_ != FifoMode::kAnyType,
            .strict = true};
  }
  void allocate(const AllocationProblem& problem, Allocation& allocation) override;
  bool checkpoint(Archive& archive) override;
  std::unique_ptr<Allocator> clone() const override { return std::make_unique<GavelFifo>(*this); }

 protected:
  FifoMode mode() const { return mode_; }
  // Whether the head of the queue, having found no room, is the first to be packed.
  virtual bool keeps_head() const { return true; }
  // A job that held GPUs of this type has left, as the jobs that hold some are gone through.
  virtual void on_left(const AllocationProblem& /*problem*/, std::size_t /*column*/) {}
  // Whether a type with room may be drawn for the job.
  virtual bool drawable(const AllocationProblem& problem, std::size_t job,
                        std::size_t column) const {
    return mode_ != FifoMode::kAnyType || problem.rate(job, column) > 0;
  }
  // The type that a job gets, where `drawn` is the position of the chosen one in `open_`.
  virtual std::size_t column_of(std::size_t drawn) const { return open_[drawn]; }

  std::map<JobId, std::size_t> held_;  // the type of each job that has one
  std::vector<int> free_;              // GPUs, by type
  std::vector<std::size_t> queue_;     // jobs without a type; the head is at the back
  std::vector<std::size_t> open_;      // types with free GPUs

 private:
  // Jobs that are still here keep their GPUs.
  void keep_held(const AllocationProblem& problem);
  void serve_queue(const AllocationProblem& problem);
  // The position in `roomy_`.
  std::size_t choose(const AllocationProblem& problem, std::size_t head);
  void pack(const AllocationProblem& problem, Allocation& allocation);

  FifoMode mode_;
  double threshold_;
  PythonRandom random_;
  std::vector<std::size_t> roomy_;  // positions in `open_` with enough GPUs
  std::vector<std::size_t> order_;  // jobs in the order in which they got their type
};

}  // namespace muster
