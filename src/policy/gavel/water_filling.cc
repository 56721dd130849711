#include <algorithm>

#include "policy/gavel/program_allocators.h"

namespace muster {
namespace {

// Source: Gavel (OSDI'20), water filling, on one level and on two.
//
// Max-min fairness raises the least share and says nothing about the others. Water filling goes on:
// raise the level of all jobs in proportion to their weights until some cannot rise any further;
// fix those where they are; raise the rest. With entities, an entity's weight is split among its
// jobs that can still rise, in proportion to their priorities (fairness), or goes to the oldest of
// them (fifo).
//
// Who cannot rise is read off the prices of the program: a job's row has a positive price exactly
// if it is a bottleneck in every best answer. The published code asks a mixed-integer program
// instead; where that cannot be solved it takes every job for full after the first level, unseen
// (`one_level`).
class WaterFilling final : public Allocator {
 public:
  WaterFilling(Sight sight, Hierarchy hierarchy, bool one_level)
      : sight_(sight), hierarchy_(std::move(hierarchy)), one_level_(one_level) {}
  AllocatorTraits traits() const override { return traits_of(sight_); }

  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    const std::vector<double> rates = seen_rates(problem, sight_, false);
    ShareProgram program(problem, rates, keys(problem));
    std::vector<Water> waters(program.classes());
    double most = 0;
    for (std::size_t c = 0; c < waters.size(); ++c) {
      const std::size_t j = program.members(c).front();
      waters[c].fair = proportional_rate(problem, rates, j);
      for (std::size_t w = 0; w < problem.types; ++w) {
        most = std::max(most, program.rate(c, w) * problem.jobs[j].gpus / waters[c].fair);
      }
    }
    bool any = false;
    for (std::size_t full = 0; full < waters.size();) {
      const std::size_t before = full;
      weigh(program, waters);
      if (!raise(program, waters, most, full)) break;
      any = true;
      if (full == before) break;
    }
    if (any) program.write(allocation);
  }
  std::unique_ptr<Allocator> clone() const override {
    return std::make_unique<WaterFilling>(*this);
  }

 private:
  struct Water {
    double fair = 1;    // rate on an average GPU
    double level = 0;   // throughput / fair so far
    double weight = 0;  // in this round
    bool full = false;
  };

  // Jobs of one entity that is fair inside stay equal; those of others are apart.
  std::vector<double> keys(const AllocationProblem& problem) const {
    std::vector<double> keys;
    constexpr double kApart = 1e9;
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      const AllocationJob& job = problem.jobs[j];
      if (hierarchy_.entities.empty()) {
        keys.push_back(job.weight);
        continue;
      }
      const std::size_t entity = hierarchy_.entity_of.at(job.id);
      const bool fifo = hierarchy_.entities[entity].fifo;
      keys.push_back(fifo ? kApart + static_cast<double>(j)
                          : static_cast<double>(entity) * 1e4 + job.weight);
    }
    return keys;
  }

  void weigh(const ShareProgram& program, std::vector<Water>& waters) const {
    if (hierarchy_.entities.empty()) {
      for (std::size_t c = 0; c < waters.size(); ++c) waters[c].weight = program.job(c).weight;
      return;
    }
    std::vector<double> sums(hierarchy_.entities.size(), 0.0);
    std::vector<JobId> first(hierarchy_.entities.size(), kNoJob);
    for (std::size_t c = 0; c < waters.size(); ++c) {
      if (waters[c].full) continue;
      const std::size_t entity = hierarchy_.entity_of.at(program.job(c).id);
      sums[entity] += program.job(c).weight * program.copies(c);
      first[entity] = std::min(first[entity], program.job(c).id);
    }
    for (std::size_t c = 0; c < waters.size(); ++c) {
      const AllocationJob& job = program.job(c);
      const std::size_t at = hierarchy_.entity_of.at(job.id);
      const Entity& entity = hierarchy_.entities[at];
      if (waters[c].full) {
        waters[c].weight = 0;
      } else if (entity.fifo) {
        waters[c].weight = job.id == first[at] ? entity.weight : 0;
      } else {
        waters[c].weight = entity.weight * job.weight / sums[at];
      }
    }
  }

  // One level higher; counts those who are full then. False if there is no answer.
  bool raise(ShareProgram& program, std::vector<Water>& waters, double most, std::size_t& full) {
    ShareProgram::Wish wish;
    wish.level_cost = -1;
    std::vector<std::size_t> rising;  // the row of each class that rises, in order
    for (std::size_t c = 0; c < waters.size(); ++c) {
      const Water& water = waters[c];
      if (!water.full && water.weight > 0) {
        const double scale = program.job(c).gpus / water.weight;
        rising.push_back(wish.rows.size());
        wish.rows.push_back({c, scale / water.fair, scale * water.level, 1});
      }
      // Nobody falls. A little less than it has, so that the program keeps an inside.
      wish.rows.push_back({c, 1 / water.fair, water.level * (1 - 1e-7), 0});
    }
    if (rising.empty()) return false;
    if (rising.size() < waters.size()) wish.most_level = most;
    const ShareProgram::Answer answer = program.solve(wish);
    if (answer.status != SolveStatus::kOptimal) return false;
    for (const std::size_t r : rising) {
      Water& water = waters[wish.rows[r].of_class];
      water.level += answer.level * water.weight / program.job(wish.rows[r].of_class).gpus;
      if (one_level_ || answer.prices[r] > answer.slack[r]) {
        water.full = true;
        ++full;
      }
    }
    return true;
  }

  Sight sight_;
  Hierarchy hierarchy_;
  bool one_level_;
};

}  // namespace

std::unique_ptr<Allocator> make_gavel_water_filling(Sight sight, Hierarchy hierarchy,
                                                    bool one_level) {
  return std::make_unique<WaterFilling>(sight, std::move(hierarchy), one_level);
}

}  // namespace muster
