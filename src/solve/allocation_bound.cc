// How good a table could be at all: a bound on the first objective of the genetic search.
//
// Nodes are forgotten and only the number of GPUs is kept: each job takes one of its sizes, or
// none, and all sizes together are at most the GPUs that there are. That is the multiple-choice
// knapsack problem, whose linear relaxation is solved by taking the segments of the jobs' convex
// hulls in the order of their slopes (Kellerer, Pferschy and Pisinger, "Knapsack Problems",
// section 11.2.1). A job of a given size is taken to run on as few nodes as can hold it, so the
// bound holds where a job never runs faster on more of them.
#include <algorithm>
#include <cmath>

#include "solve/allocation_search.h"

namespace muster {

// A power below 0 makes small sums good; the others, large ones. Costs are what is to be small.
double AllocationSearch::cost(double term) const { return options_.fairness < 0 ? term : -term; }

double AllocationSearch::value_of_mean(double mean) const {
  return options_.fairness == 0 ? std::exp(mean) : std::pow(mean, 1 / options_.fairness);
}

// The points of the lower convex hull of cost over GPUs, from no GPUs on.
void AllocationSearch::list_hull(std::size_t job) {
  hull_.assign(1, {0, cost(term(0))});
  const SearchJob& wants = (*jobs_)[job];
  int largest = 0;
  for (std::size_t n = 0; n < nodes_; ++n) {
    largest = std::max(largest,
                       wants.room.empty() ? node_gpus_[n] : std::min(wants.room[n], node_gpus_[n]));
  }
  RowSize held;
  for (std::size_t n = 0; n < nodes_; ++n) {
    const int there = byte(held_.data() + job * words_, n);
    held.gpus += there;
    held.nodes += there > 0 ? 1 : 0;
  }
  const int most_nodes = std::min(options_.most_nodes, static_cast<int>(nodes_));
  const int most = std::min(briefs_[job].most, largest * most_nodes);
  for (int gpus = std::max(1, wants.least); gpus <= most; ++gpus) {
    const Entry& changes = entry(job, (gpus + largest - 1) / largest, gpus);
    double least = cost(changes.changes);
    if (gpus == held.gpus && held.nodes <= most_nodes) {
      least = std::min(least, cost(entry(job, held.nodes, gpus).stays));
    }
    const HullPoint point{gpus, least};
    const auto flat = [&](const HullPoint& a, const HullPoint& b) {
      return (b.cost - a.cost) * (point.gpus - b.gpus) >= (point.cost - b.cost) * (b.gpus - a.gpus);
    };
    while (hull_.size() > 1 && flat(hull_[hull_.size() - 2], hull_.back())) hull_.pop_back();
    hull_.push_back(point);
  }
}

double AllocationSearch::bound() {
  segments_.clear();
  double sum = 0;
  for (std::size_t j = 0; j < jobs_->size(); ++j) {
    list_hull(j);
    sum += hull_[0].cost;
    for (std::size_t i = 1; i < hull_.size(); ++i) {
      const int gpus = hull_[i].gpus - hull_[i - 1].gpus;
      const double slope = (hull_[i].cost - hull_[i - 1].cost) / gpus;
      if (slope < 0) segments_.emplace_back(slope, gpus);
    }
  }
  std::sort(segments_.begin(), segments_.end());
  int left = 0;
  for (const int gpus : node_gpus_) left += gpus;
  for (const auto& [slope, gpus] : segments_) {
    const int taken = std::min(left, gpus);
    sum += slope * taken;
    left -= taken;
    if (left == 0) break;
  }
  return value_of_mean(cost(sum) / static_cast<double>(jobs_->size()));
}

}  // namespace muster
