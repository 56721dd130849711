#include "policy/gavel/split.h"

#include <algorithm>

namespace muster {

// A partition at random would do (POP, section 3); ids modulo the number of parts are as good as
// that for streams of jobs, and repeat. Programs that cost O(n^k) together cost 1 / parts^(k-1) of
// it.
std::vector<ProblemPart> split_problem(const AllocationProblem& whole, std::size_t parts) {
  int most = 1;
  for (const int gpus : whole.capacity) most = std::max(most, gpus);
  parts = std::clamp(parts, std::size_t{1}, static_cast<std::size_t>(most));
  std::vector<ProblemPart> split(parts);
  for (std::size_t k = 0; k < parts; ++k) {
    AllocationProblem& part = split[k].problem;
    part.now = whole.now;
    part.types = whole.types;
    part.price = whole.price;
    for (const int gpus : whole.capacity) {
      // Each part gets an equal slice of every type, so that its program looks like the whole one
      // in small.
      const int rest = gpus % static_cast<int>(parts);
      part.capacity.push_back(gpus / static_cast<int>(parts) +
                              (static_cast<int>(k) < rest ? 1 : 0));
    }
  }
  std::vector<std::uint32_t> place(whole.jobs.size());
  const auto part_of = [&](std::size_t job) { return index(whole.jobs[job].id) % parts; };
  for (std::size_t j = 0; j < whole.jobs.size(); ++j) {
    ProblemPart& part = split[part_of(j)];
    place[j] = static_cast<std::uint32_t>(part.jobs.size());
    part.jobs.push_back(j);
    part.problem.jobs.push_back(whole.jobs[j]);
    for (std::size_t w = 0; w < whole.types; ++w) part.problem.rates.push_back(whole.rate(j, w));
  }
  for (std::size_t p = 0; p < whole.pairs.size(); ++p) {
    const AllocationProblem::Pair& pair = whole.pairs[p];
    // Pairs across parts are given up: one source of POP's loss.
    if (part_of(pair.first) != part_of(pair.second)) continue;
    ProblemPart& part = split[part_of(pair.first)];
    part.pairs.push_back(p);
    // Jobs of a part are numbered anew, so pairs are translated.
    part.problem.pairs.push_back({place[pair.first], place[pair.second]});
    for (std::size_t w = 0; w < whole.types; ++w) {
      part.problem.pair_rates.push_back(whole.pair_rate(p, w));
    }
  }
  return split;
}

// Parts share nothing, so their allocations together keep every constraint of the whole. O((jobs +
// pairs) x types) for all parts.
void put_back(const ProblemPart& part, const Allocation& from, Allocation& whole) {
  const std::size_t types = part.problem.types;
  for (std::size_t w = 0; w < types; ++w) {
    for (std::size_t j = 0; j < part.jobs.size(); ++j) {
      whole.alone[part.jobs[j] * types + w] = from.alone[j * types + w];
    }
    for (std::size_t p = 0; p < part.pairs.size(); ++p) {
      whole.paired[part.pairs[p] * types + w] = from.paired[p * types + w];
    }
  }
}

namespace {

class Split final : public Allocator {
 public:
  Split(std::unique_ptr<Allocator> each, std::size_t parts) : parts_(parts) {
    each_.push_back(std::move(each));
  }
  AllocatorTraits traits() const override { return each_.front()->traits(); }
  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    const std::vector<ProblemPart> parts = split_problem(problem, parts_);
    // What an allocator remembers is about the jobs of its part. Parts are independent subproblems
    // and could run in parallel; here they run one after another.
    while (each_.size() < parts.size()) each_.push_back(each_.front()->clone());
    for (std::size_t k = 0; k < parts.size(); ++k) {
      Allocation one;
      one.reset(parts[k].problem);
      if (!parts[k].jobs.empty()) each_[k]->allocate(parts[k].problem, one);
      put_back(parts[k], one, allocation);
    }
  }
  bool checkpoint(Archive& archive) override {
    std::uint64_t count = each_.size();
    archive.value(count);
    while (each_.size() < std::min<std::uint64_t>(count, parts_)) {
      each_.push_back(each_.front()->clone());
    }
    return std::all_of(each_.begin(), each_.end(),
                       [&](const auto& one) { return one->checkpoint(archive); });
  }
  std::unique_ptr<Allocator> clone() const override {
    auto copy = std::make_unique<Split>(each_.front()->clone(), parts_);
    for (std::size_t k = 1; k < each_.size(); ++k) copy->each_.push_back(each_[k]->clone());
    return copy;
  }

 private:
  std::size_t parts_;
  std::vector<std::unique_ptr<Allocator>> each_;
};

}  // namespace

std::unique_ptr<Allocator> make_gavel_split(std::unique_ptr<Allocator> each, std::size_t parts) {
  return std::make_unique<Split>(std::move(each), parts);
}

}  // namespace muster
