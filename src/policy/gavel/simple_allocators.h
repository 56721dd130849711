// Makers of the allocators that need no solver; their rows are in policy/gavel/rows.cc.
#pragma once

#include <span>

#include "policy/gavel/allocator.h"
#include "solve/queue_assignment.h"

namespace muster {

std::unique_ptr<Allocator> make_gavel_isolated();
std::unique_ptr<Allocator> make_gavel_proportional();

// Whether two jobs on the same GPUs are fast enough to stay together.
using PairTest = bool (*)(const AllocationProblem& problem, std::size_t pair);
// On the average type on which both can run, they get as much done together as one after the other.
bool gains_on_average(const AllocationProblem& problem, std::size_t pair);
std::unique_ptr<Allocator> make_gavel_gandiva(std::int64_t seed, PairTest test = gains_on_average);

// Assigns jobs to places in queues (solve/queue_assignment.h); of equally good assignments one.
using QueueAssigner = std::vector<std::size_t> (*)(std::span<const double> runs,
                                                   std::span<const double> anywhere,
                                                   std::size_t queues);
std::unique_ptr<Allocator> make_gavel_allox(double alpha,
                                            QueueAssigner assigner = assign_to_queues);

enum class FifoMode { kAnyType, kBestType, kPacked };
std::unique_ptr<Allocator> make_gavel_fifo(FifoMode mode, std::int64_t seed, double threshold);

}  // namespace muster
