#include <algorithm>
#include <map>
#include <optional>

#include "base/random_python.h"
#include "policy/gavel/simple_allocators.h"

namespace muster {
namespace {

// Source: Gavel (OSDI'20), its stand-in for Gandiva: while jobs ask for more GPUs than there are,
// pair them at random and keep the pairs that do not slow down too much; every pair and every
// single job left over owns an equal part of the cluster.
//
// Time: O(pairs + jobs (jobs + types + log pairs)); drawing takes the quadratic part.
// Invariant: each job is in at most one pair, and both members of a pair name each other.
class Gandiva final : public Allocator {
 public:
  Gandiva(std::int64_t seed, PairTest test) : random_(seed), test_(test) {}
  AllocatorTraits traits() const override { return {.pairs = true}; }

  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    const std::size_t m = problem.jobs.size();
    index_pairs(problem);
    forget(problem);
    int wanted = 0;
    for (const AllocationJob& job : problem.jobs) wanted += job.gpus;
    // Gandiva packs only under overload; otherwise all jobs run alone.
    if (wanted <= problem.gpus()) {
      for (std::size_t j = 0; j < m; ++j) {
        equal_split(problem, m, problem.jobs[j].gpus, &allocation.alone[j * problem.types]);
      }
      return;
    }
    draw_pairs(problem);
    std::size_t sharers = 0;
    for (const auto& [id, other] : packed_with_) sharers += other == kNoJob || id < other ? 1 : 0;
    for (std::size_t j = 0; j < m; ++j) {
      const JobId id = problem.jobs[j].id;
      const JobId other = packed_with_.at(id);
      const int gpus = problem.jobs[j].gpus;
      if (other == kNoJob) {
        equal_split(problem, sharers, gpus, &allocation.alone[j * problem.types]);
      } else if (id < other) {
        equal_split(problem, sharers, gpus,
                    &allocation.paired[*pair_of(id, other) * problem.types]);
      }
    }
  }
  bool checkpoint(Archive& archive) override {
    archive.value(random_);
    archive.map(packed_with_);
    return true;
  }
  std::unique_ptr<Allocator> clone() const override { return std::make_unique<Gandiva>(*this); }

 private:
  // Pairs by key: they come sorted as a rule, so that this is one pass.
  void index_pairs(const AllocationProblem& problem) {
    pairs_.clear();
    for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
      const AllocationProblem::Pair& pair = problem.pairs[p];
      pairs_.emplace_back(key(problem.jobs[pair.first].id, problem.jobs[pair.second].id), p);
    }
    if (!std::is_sorted(pairs_.begin(), pairs_.end())) std::sort(pairs_.begin(), pairs_.end());
  }

  static std::uint64_t key(JobId a, JobId b) {
    return std::uint64_t{index(std::max(a, b))} << 32 | index(std::min(a, b));
  }

  // The place of the pair in the problem; nothing if they cannot share.
  std::optional<std::size_t> pair_of(JobId a, JobId b) const {
    const std::uint64_t wanted = key(a, b);
    const auto found =
        std::lower_bound(pairs_.begin(), pairs_.end(), std::pair(wanted, std::size_t{0}));
    if (found == pairs_.end() || found->first != wanted) return std::nullopt;
    return found->second;
  }

  // Drops pairs of which one has left or which are too slow, and all jobs that were single.
  void forget(const AllocationProblem& problem) {
    std::map<JobId, JobId> kept;
    for (const auto& [id, other] : packed_with_) {
      if (other == kNoJob) continue;
      const auto pair = pair_of(id, other);
      if (pair && test_(problem, *pair)) kept[id] = other;
    }
    packed_with_ = std::move(kept);
  }

  void draw_pairs(const AllocationProblem& problem) {
    std::vector<std::size_t> loose;
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      if (packed_with_.count(problem.jobs[j].id) == 0) loose.push_back(j);
    }
    // As many random draws as loose jobs: a trial-and-error search, as Gandiva's, and not a
    // matching.
    const std::size_t tries = loose.size();
    for (std::size_t i = 0; i < tries && loose.size() > 1; ++i) {
      const std::vector<std::size_t> two = random_.sample(loose.size(), 2);
      const AllocationJob& a = problem.jobs[loose[two[0]]];
      const AllocationJob& b = problem.jobs[loose[two[1]]];
      // Jobs of different sizes, or of partitions with quotas of their own, cannot share.
      if (!pair_of(a.id, b.id)) continue;
      packed_with_[a.id] = b.id;
      packed_with_[b.id] = a.id;
      loose.erase(loose.begin() + static_cast<std::ptrdiff_t>(std::max(two[0], two[1])));
      loose.erase(loose.begin() + static_cast<std::ptrdiff_t>(std::min(two[0], two[1])));
    }
    for (const std::size_t j : loose) packed_with_[problem.jobs[j].id] = kNoJob;
  }

  PythonRandom random_;
  PairTest test_;
  std::map<JobId, JobId> packed_with_;  // kNoJob: alone
  std::vector<std::pair<std::uint64_t, std::size_t>> pairs_;
};

}  // namespace

// The speeds of both, each as a fraction of what it is alone on that type, add up to 1 if they get
// as much done as one after the other.
bool gains_on_average(const AllocationProblem& problem, std::size_t pair) {
  double sum = 0;
  int types = 0;
  for (std::size_t w = 0; w < problem.types; ++w) {
    const auto& [first, second] = problem.pair_rate(pair, w);
    if (first <= 0 || second <= 0) continue;
    sum += first / problem.rate(problem.pairs[pair].first, w);
    sum += second / problem.rate(problem.pairs[pair].second, w);
    ++types;
  }
  return types > 0 && sum >= types;
}

std::unique_ptr<Allocator> make_gavel_gandiva(std::int64_t seed, PairTest test) {
  return std::make_unique<Gandiva>(seed, test);
}

}  // namespace muster
