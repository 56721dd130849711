// The assignment of jobs to places in queues: the job that is p-th from the end of a queue costs
// p times its run time there, plus what it costs anywhere.
//
// The answer is that of solve/assignment.h for the same costs, ties included. It is found faster
// because only the first free place of a queue is worth a look, and because places of one queue are
// weighed several at a time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace muster {

// `runs` is job by job, positive and finite. Of each job its column: (p - 1) * queues + queue.
std::vector<std::size_t> assign_to_queues(std::span<const double> runs,
                                          std::span<const double> anywhere, std::size_t queues);

// The costs of all columns, job by job: p times the run time, plus what it costs anywhere.
std::vector<double> queue_costs(std::span<const double> runs, std::span<const double> anywhere,
                                std::size_t queues);

}  // namespace muster
