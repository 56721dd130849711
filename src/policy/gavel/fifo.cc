#include "policy/gavel/fifo.h"

#include <algorithm>
#include <optional>

namespace muster {
namespace {

// Jobs are in order of arrival, except for those that were put on hold or changed, and came back.
std::size_t position(const AllocationProblem& problem, JobId id) {
  const auto first = problem.jobs.begin();
  const auto at = std::lower_bound(first, problem.jobs.end(), id,
                                   [](const auto& job, JobId wanted) { return job.id < wanted; });
  if (at != problem.jobs.end() && at->id == id) return static_cast<std::size_t>(at - first);
  const auto found =
      std::find_if(first, problem.jobs.end(), [id](const auto& job) { return job.id == id; });
  return static_cast<std::size_t>(found - first);
}

// The sum of the two speeds, each as a part of what it is alone on the type.
double speeds(const AllocationProblem& problem, std::size_t pair, std::size_t column) {
  const auto& [mine, other] = problem.pair_rate(pair, column);
  double sum = 0;
  if (mine > 0) sum += mine / problem.rate(problem.pairs[pair].first, column);
  if (other > 0) sum += other / problem.rate(problem.pairs[pair].second, column);
  return sum;
}

}  // namespace

// An allocation of whole GPUs: every fraction is 0 or 1. Only jobs of a random type keep it from
// one allocation to the next.
void GavelFifo::allocate(const AllocationProblem& problem, Allocation& allocation) {
  free_ = problem.capacity;
  if (mode_ != FifoMode::kAnyType) held_.clear();
  order_.clear();
  queue_.clear();
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    if (held_.count(problem.jobs[j].id) == 0) queue_.push_back(j);
  }
  std::reverse(queue_.begin(), queue_.end());  // the head is at the back
  keep_held(problem);
  serve_queue(problem);
  for (const auto& [id, column] : held_) {
    allocation.alone[position(problem, id) * problem.types + column] = 1;
  }
  if (mode_ == FifoMode::kPacked) pack(problem, allocation);
}

bool GavelFifo::checkpoint(Archive& archive) {
  archive.value(random_);
  archive.map(held_);
  return true;
}

void GavelFifo::keep_held(const AllocationProblem& problem) {
  const std::map<JobId, std::size_t> before = held_;
  for (const auto& [id, column] : before) {
    const std::size_t at = position(problem, id);
    if (at < problem.jobs.size() && problem.jobs[at].id == id) {
      free_[column] -= problem.jobs[at].gpus;
      continue;
    }
    held_.erase(id);
    on_left(problem, column);
  }
}

// Strict order, without backfill: the first job for which no type has room ends the walk. O(waiting
// jobs x types).
void GavelFifo::serve_queue(const AllocationProblem& problem) {
  open_.clear();
  for (std::size_t w = 0; w < problem.types; ++w) {
    if (free_[w] > 0) open_.push_back(w);
  }
  while (!queue_.empty() && !open_.empty()) {
    const std::size_t head = queue_.back();
    queue_.pop_back();
    const int gpus = problem.jobs[head].gpus;
    roomy_.clear();
    bool room = false;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      // Gangs: all GPUs of the job must be free on one type.
      if (free_[open_[i]] < gpus) continue;
      room = true;
      if (drawable(problem, head, open_[i])) roomy_.push_back(i);
    }
    if (!room) {
      if (keeps_head()) queue_.push_back(head);
      break;
    }
    if (roomy_.empty()) continue;
    const std::size_t drawn = choose(problem, head);
    const std::size_t column = column_of(roomy_[drawn]);
    // A job that no type with room can run is passed over; it is asked again next time.
    if (!(problem.rate(head, column) > 0)) continue;
    held_[problem.jobs[head].id] = column;
    order_.push_back(head);
    free_[column] -= gpus;
    if (free_[column] == 0) {
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(roomy_[drawn]));
    }
  }
}

std::size_t GavelFifo::choose(const AllocationProblem& problem, std::size_t head) {
  // Heterogeneity-agnostic FIFO draws a type; the aware form takes the fastest one.
  if (mode_ == FifoMode::kAnyType) return random_.choice(roomy_.size());
  std::size_t best = 0;
  for (std::size_t i = 1; i < roomy_.size(); ++i) {
    // The first of equals wins, so ties go by the order of types.
    const double rate = problem.rate(head, open_[roomy_[i]]);
    if (rate > problem.rate(head, open_[roomy_[best]])) best = i;
  }
  return best;
}

// Greedy: each waiting job in turn joins the holder of GPUs with which the two are fastest, and no
// other job joins that holder. The first that finds none ends the walk. O(waiting jobs x holders x
// log pairs).
void GavelFifo::pack(const AllocationProblem& problem, Allocation& allocation) {
  // Holders in the order in which they got their GPUs.
  std::vector<std::size_t> holders;
  holders.swap(order_);
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> pairs;
  if (!queue_.empty()) {
    for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
      pairs[{problem.pairs[p].first, problem.pairs[p].second}] = p;
    }
  }
  while (!queue_.empty()) {
    const std::size_t second = queue_.back();
    queue_.pop_back();
    // A pair is worth it only if both together keep more than this sum of normalised throughputs (1
    // would be time slicing).
    double most = threshold_;
    std::optional<std::size_t> best;
    std::size_t best_pair = 0;
    for (std::size_t i = 0; i < holders.size(); ++i) {
      const std::size_t holder = holders[i];
      const auto found = pairs.find({std::min(holder, second), std::max(holder, second)});
      if (found == pairs.end()) continue;
      const double sum = speeds(problem, found->second, held_.at(problem.jobs[holder].id));
      if (sum > most) {
        most = sum;
        best = i;
        best_pair = found->second;
      }
    }
    if (!best) return;
    const std::size_t holder = holders[*best];
    const std::size_t column = held_.at(problem.jobs[holder].id);
    allocation.alone[holder * problem.types + column] = 0;
    allocation.paired[best_pair * problem.types + column] = 1;
    holders.erase(holders.begin() + static_cast<std::ptrdiff_t>(*best));
  }
}

std::unique_ptr<Allocator> make_gavel_fifo(FifoMode mode, std::int64_t seed, double threshold) {
  return std::make_unique<GavelFifo>(mode, seed, threshold);
}

}  // namespace muster
