#include <algorithm>
#include <map>
#include <optional>

#include "base/random_python.h"
#include "policy/gavel/simple_allocators.h"

namespace muster {
namespace {

// Source: Gavel (OSDI'20), its three FIFO baselines: jobs in order of arrival get whole GPUs of one
// type and keep them to the end; nobody overtakes.
//
//   any type    a type is drawn at random among those with room; jobs keep their type
//   best type   decided anew each time: the type on which the job is fastest among those with room
//   packed      as best type; whoever finds no room shares the GPUs of the job with which the two
//               lose least, if their speeds add up to more than the threshold
//
// The published code draws a type but uses the last one of its list of types with room (in practice
// the V100), even if the job does not fit there; so free counts can go below zero and most jobs
// queue up on one type. `published` does the same, draw for draw.
class GavelFifo final : public Allocator {
 public:
  GavelFifo(FifoMode mode, std::int64_t seed, bool published, double threshold)
      : mode_(mode), published_(published), threshold_(threshold), random_(seed) {}

  AllocatorTraits traits() const override {
    return {.pairs = mode_ == FifoMode::kPacked,
            .knows_types = mode_ != FifoMode::kAnyType,
            .strict = true,
            .overbooks = published_};
  }

  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    free_ = problem.capacity;
    if (mode_ != FifoMode::kAnyType) held_.clear();
    order_.clear();
    queue_.clear();
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      if (held_.count(problem.jobs[j].id) == 0) queue_.push_back(j);
    }
    std::reverse(queue_.begin(), queue_.end());  // the head is at the back
    hand_over(problem);
    allocate(problem);
    for (const auto& [id, column] : held_) {
      allocation.alone[position(problem, id) * problem.types + column] = 1;
    }
    if (mode_ == FifoMode::kPacked) pack(problem, allocation);
  }
  bool checkpoint(Archive& archive) override {
    archive.value(random_);
    archive.map(held_);
    return true;
  }
  std::unique_ptr<Allocator> clone() const override { return std::make_unique<GavelFifo>(*this); }

 private:
  static std::size_t position(const AllocationProblem& problem, JobId id) {
    const auto found =
        std::lower_bound(problem.jobs.begin(), problem.jobs.end(), id,
                         [](const AllocationJob& job, JobId wanted) { return job.id < wanted; });
    return static_cast<std::size_t>(found - problem.jobs.begin());
  }

  // Jobs that are still here keep their GPUs. As published, a job that left hands its type to the
  // head of the queue at once, before the GPUs of jobs behind it are counted: that overbooks.
  void hand_over(const AllocationProblem& problem) {
    const std::map<JobId, std::size_t> before = held_;
    for (const auto& [id, column] : before) {
      const std::size_t at = position(problem, id);
      if (at < problem.jobs.size() && problem.jobs[at].id == id) {
        free_[column] -= problem.jobs[at].gpus;
        continue;
      }
      held_.erase(id);
      if (!published_ || queue_.empty()) continue;
      const std::size_t head = queue_.back();
      if (problem.jobs[head].gpus > free_[column] || !(problem.rate(head, column) > 0)) continue;
      queue_.pop_back();
      held_[problem.jobs[head].id] = column;
      free_[column] -= problem.jobs[head].gpus;
    }
  }

  void allocate(const AllocationProblem& problem) {
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
        if (free_[open_[i]] < gpus) continue;
        room = true;
        if (drawable(problem, head, open_[i])) roomy_.push_back(i);
      }
      if (!room) {
        // The published code forgets the head here, so that the one behind it is packed first.
        if (!published_) queue_.push_back(head);
        break;
      }
      if (roomy_.empty()) continue;
      const std::size_t drawn = choose(problem, head);
      const std::size_t column =
          mode_ == FifoMode::kAnyType && published_ ? open_.back() : open_[roomy_[drawn]];
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

  // The published code draws also among types where the job cannot run.
  bool drawable(const AllocationProblem& problem, std::size_t job, std::size_t column) const {
    return mode_ != FifoMode::kAnyType || published_ || problem.rate(job, column) > 0;
  }

  // The position in `roomy_`.
  std::size_t choose(const AllocationProblem& problem, std::size_t head) {
    if (mode_ == FifoMode::kAnyType) return random_.choice(roomy_.size());
    std::size_t best = 0;
    for (std::size_t i = 1; i < roomy_.size(); ++i) {
      const double rate = problem.rate(head, open_[roomy_[i]]);
      if (rate > problem.rate(head, open_[roomy_[best]])) best = i;
    }
    return best;
  }

  void pack(const AllocationProblem& problem, Allocation& allocation) {
    // Hosts in the order in which they got their GPUs.
    std::vector<std::size_t> hosts;
    hosts.swap(order_);
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> pairs;
    if (!queue_.empty()) {
      for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
        pairs[{problem.pairs[p].first, problem.pairs[p].second}] = p;
      }
    }
    while (!queue_.empty()) {
      const std::size_t second = queue_.back();
      queue_.pop_back();
      double most = threshold_;
      std::optional<std::size_t> best;
      std::size_t best_pair = 0;
      for (std::size_t i = 0; i < hosts.size(); ++i) {
        const std::size_t host = hosts[i];
        const auto found = pairs.find({std::min(host, second), std::max(host, second)});
        if (found == pairs.end()) continue;
        const double sum = speeds(problem, found->second, held_.at(problem.jobs[host].id));
        if (sum > most) {
          most = sum;
          best = i;
          best_pair = found->second;
        }
      }
      if (!best) return;
      const std::size_t host = hosts[*best];
      const std::size_t column = held_.at(problem.jobs[host].id);
      allocation.alone[host * problem.types + column] = 0;
      allocation.paired[best_pair * problem.types + column] = 1;
      hosts.erase(hosts.begin() + static_cast<std::ptrdiff_t>(*best));
    }
  }

  // The sum of the two speeds, each as a part of what it is alone on the type.
  static double speeds(const AllocationProblem& problem, std::size_t pair, std::size_t column) {
    const auto& [mine, other] = problem.pair_rate(pair, column);
    double sum = 0;
    if (mine > 0) sum += mine / problem.rate(problem.pairs[pair].first, column);
    if (other > 0) sum += other / problem.rate(problem.pairs[pair].second, column);
    return sum;
  }

  FifoMode mode_;
  bool published_;
  double threshold_;
  PythonRandom random_;
  std::map<JobId, std::size_t> held_;  // the type of each job that has one
  std::vector<int> free_;
  std::vector<std::size_t> queue_;
  std::vector<std::size_t> open_;   // types with free GPUs
  std::vector<std::size_t> roomy_;  // positions in `open_` with enough of them
  std::vector<std::size_t> order_;  // jobs in the order in which they got their type
};

}  // namespace

std::unique_ptr<Allocator> make_gavel_fifo(FifoMode mode, std::int64_t seed, bool published,
                                           double threshold) {
  return std::make_unique<GavelFifo>(mode, seed, published, threshold);
}

}  // namespace muster
