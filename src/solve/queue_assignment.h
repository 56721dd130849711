// The assignment of jobs to places in queues that minimises the sum of completion times: the job
// that is p-th from the end of a queue delays p jobs, itself included, and so costs p times its run
// time there, plus what it costs anywhere (Horn 1973; Bruno, Coffman and Sethi 1974: minimum mean
// flow time on unrelated machines is an assignment problem).
//
// The method, the invariant and the answer, ties included, are those of solve/assignment.h for the
// same costs. It is faster because only the first free place of a queue can end an augmenting path,
// and because places of one queue are relaxed four at a time. Time: O(jobs^2 * (jobs + queues)) at
// worst, instead of O(jobs^3 * queues).
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
