// FIFO as Gavel's code has it.
#include "policy/gavel/fifo.h"

#include "artifacts/gavel/allocators.h"

namespace muster {
namespace {

// It draws a type but uses the last one of its list of types with room (in practice the V100), even
// if the job does not fit or cannot run there; so free counts can go below zero and most jobs queue
// up on one type. A job that left hands its type to the head of the queue at once, before the GPUs
// of jobs behind it are counted: that overbooks. And where the rest is packed, it forgets the head.
class FifoAsCoded final : public GavelFifo {
 public:
  using GavelFifo::GavelFifo;
  AllocatorTraits traits() const override {
    AllocatorTraits traits = GavelFifo::traits();
    traits.overbooks = true;
    return traits;
  }
  std::unique_ptr<Allocator> clone() const override { return std::make_unique<FifoAsCoded>(*this); }

 protected:
  bool keeps_head() const override { return false; }
  void on_left(const AllocationProblem& problem, std::size_t column) override {
    if (queue_.empty()) return;
    const std::size_t head = queue_.back();
    if (problem.jobs[head].gpus > free_[column] || !(problem.rate(head, column) > 0)) return;
    queue_.pop_back();
    held_[problem.jobs[head].id] = column;
    free_[column] -= problem.jobs[head].gpus;
  }
  bool drawable(const AllocationProblem&, std::size_t, std::size_t) const override { return true; }
  std::size_t column_of(std::size_t drawn) const override {
    return mode() == FifoMode::kAnyType ? open_.back() : open_[drawn];
  }
};

}  // namespace

std::unique_ptr<Allocator> make_fifo_as_coded(FifoMode mode, std::int64_t seed, double threshold) {
  return std::make_unique<FifoAsCoded>(mode, seed, threshold);
}

}  // namespace muster
