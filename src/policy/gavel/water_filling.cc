#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "policy/gavel/program_allocators.h"
#include "solve/simplex.h"

namespace muster {
namespace {

// Source: Gavel (OSDI'20), section 4.3: water filling, on one level and on two. The answer is the
// lexicographic max-min fair allocation, and the method progressive filling (Bertsekas and
// Gallager, "Data Networks", section 6.5.2).
//
// Max-min fairness raises the least share and says nothing about the others. Water filling goes on:
// raise the level of all jobs in proportion to their weights until some cannot rise any further,
// the bottlenecks; fix those where they are; raise the rest. Each level is a linear program and
// fixes at least one job, so there are at most as many programs as classes of jobs. With entities,
// an entity's weight is split among its jobs that can still rise, in proportion to their priorities
// (fairness), or goes to the oldest of them (fifo).
//
// Bottlenecks are read off the dual variables: by complementary slackness a job whose row has a
// positive dual is tight in every optimum. The published code asks a mixed integer program instead;
// where that cannot be solved it takes every job for full after the first level, unseen
// (`one_level`).
class WaterFilling final : public Allocator {
 public:
  WaterFilling(const ProgramOptions& options, WaterOptions water)
      : options_(options), water_(std::move(water)) {}
  AllocatorTraits traits() const override { return traits_of(options_.sight); }

  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    const std::vector<double> rates = seen_rates(problem, options_);
    AllocationProgram program(problem, rates, keys(problem), options_.solver, options_.form());
    std::vector<Water> waters(program.classes());
    for (std::size_t c = 0; c < waters.size(); ++c) {
      waters[c].fair = proportional_rate(problem, rates, program.members(c).front());
    }
    if (waters.empty()) return;
    // As published, levels follow from the fractions of the one before; with pairs they do not
    // matter in the end.
    const bool steps = options_.published && options_.sight != Sight::kPairs;
    const bool any = steps ? fill_as_published(program, waters) : fill(program, waters);
    if (any) {
      program.write(allocation);
    } else {
      share_equally(problem, allocation);
    }
  }
  bool checkpoint(Archive& /*archive*/) override { return true; }
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

  Entity entity_of(const AllocationJob& job) const {
    return job.owner < water_.entities.size() ? water_.entities[job.owner] : Entity{};
  }

  // Jobs of one entity that is fair inside, with one priority, stay equal; those of others are
  // apart.
  std::vector<double> keys(const AllocationProblem& problem) const {
    std::map<std::tuple<std::size_t, double, std::size_t>, double> known;
    std::vector<double> keys;
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      const AllocationJob& job = problem.jobs[j];
      const bool flat = water_.entities.empty();
      const bool fifo = !flat && entity_of(job).fifo;
      const std::tuple key(flat ? 0 : job.owner, job.weight, fifo ? j : 0);
      keys.push_back(known.emplace(key, static_cast<double>(known.size())).first->second);
    }
    return keys;
  }

  void weigh(const AllocationProgram& program, std::vector<Water>& waters) const {
    if (water_.entities.empty()) {
      for (std::size_t c = 0; c < waters.size(); ++c) waters[c].weight = program.job(c).weight;
      return;
    }
    struct Inside {
      double sum = 0;        // of the priorities of those who can rise
      JobId first = kNoJob;  // of them
    };
    std::map<std::size_t, Inside> insides;
    for (std::size_t c = 0; c < waters.size(); ++c) {
      if (waters[c].full) continue;
      Inside& inside = insides[program.job(c).owner];
      inside.sum += program.job(c).weight * program.copies(c);
      inside.first = std::min(inside.first, program.job(c).id);
    }
    for (std::size_t c = 0; c < waters.size(); ++c) {
      const AllocationJob& job = program.job(c);
      const Entity entity = entity_of(job);
      const Inside& inside = insides[job.owner];
      if (waters[c].full) {
        waters[c].weight = 0;
      } else if (entity.fifo) {
        waters[c].weight = job.id == inside.first ? entity.weight : 0;
      } else {
        waters[c].weight = entity.weight * (job.weight / inside.sum);
      }
    }
  }

  // All levels, and then the middle of all answers with these levels. False if there is no answer.
  bool fill(AllocationProgram& program, std::vector<Water>& waters) const {
    if (!find_levels(program, waters)) return false;
    if (options_.solver == solve_at_vertex) return true;
    const double most = most_share(program, waters);
    AllocationProgram::Objective objective;
    for (std::size_t c = 0; c < waters.size(); ++c) {
      const double scale = program.job(c).gpus / waters[c].fair;
      const double level = waters[c].level * program.job(c).gpus;
      // A little less than it has, so that the program keeps an inside.
      if (!options_.published) objective.rows.push_back({c, scale, level * (1 - 1e-7), 0});
      if (!options_.published) continue;
      // The published code compares the number of full jobs with that of jobs and pairs. With pairs
      // it goes on when all are full, and solves once more, with nothing to raise.
      objective.rows.push_back({c, 0, -most, 1});
      objective.rows.push_back({c, 1 / waters[c].fair, waters[c].level, 0});
      objective.level_cost = -1;
    }
    program.solve(objective);
    return true;
  }

  // By programs that differ in a few numbers: each begins at the last one's corner.
  bool find_levels(AllocationProgram& program, std::vector<Water>& waters) const {
    AllocationProgram::Objective objective;
    objective.level_cost = -1;
    for (std::size_t c = 0; c < waters.size(); ++c) {
      objective.rows.push_back({c, program.job(c).gpus / waters[c].fair, 0, 1});
    }
    const double most = most_share(program, waters);
    if (options_.published) objective.most_level = most;
    const LinearProgram raising = program.build(objective);
    WarmSimplex simplex(raising);
    bool any = false;
    for (std::size_t full = 0; full < waters.size();) {
      weigh(program, waters);
      bool all = true;
      for (std::size_t c = 0; c < waters.size(); ++c) {
        const std::size_t row = program.first_row() + c;
        const double weight = waters[c].full ? 0 : waters[c].weight;
        all = all && weight > 0;
        simplex.set_bound(row, -waters[c].level * program.job(c).gpus);
        simplex.set_coefficient(row, raising.variables() - 1, weight);
      }
      constexpr double kNoLimit = 1e30;
      if (options_.published) simplex.set_bound(raising.rows() - 1, all ? kNoLimit : most);
      LinearSolution solution = simplex.solve();
      if (solution.status != SolveStatus::kOptimal) break;
      any = true;
      const std::size_t before = full;
      for (std::size_t c = 0; c < waters.size(); ++c) {
        Water& water = waters[c];
        if (water.full || !(water.weight > 0)) continue;
        water.level += solution.x.back() * water.weight / program.job(c).gpus;
        constexpr double kNoDual = 1e-9;
        if (water_.one_level || solution.duals[program.first_row() + c] > kNoDual) {
          water.full = true;
          ++full;
        }
      }
      program.accept(raising, std::move(solution.x));
      if (full == before) break;
    }
    return any;
  }

  double most_share(const AllocationProgram& program, const std::vector<Water>& waters) const {
    double most = 0;
    const bool pairs = options_.sight == Sight::kPairs;  // the last digit hangs on the order
    for (std::size_t c = 0; c < waters.size(); ++c) {
      const double fair = waters[c].fair;
      const double part = pairs ? program.fastest(c) / fair : program.fastest(c) * (1 / fair);
      most = std::max(most, part * program.job(c).gpus);
    }
    return most;
  }

  bool fill_as_published(AllocationProgram& program, std::vector<Water>& waters) const {
    const double most = most_share(program, waters);
    bool any = false;
    // The published code compares the number of full jobs with that of jobs and pairs: with pairs
    // it goes on when all are full, and solves once more.
    std::size_t full = 0;
    for (std::size_t before = 1; full != before;) {
      before = full;
      weigh(program, waters);
      if (!raise_as_published(program, waters, most, full)) break;
      any = true;
      if (options_.sight != Sight::kPairs && full == waters.size()) break;
    }
    return any;
  }

  // One level higher; counts those who are full then. False if there is no answer.
  bool raise_as_published(AllocationProgram& program, std::vector<Water>& waters, double most,
                          std::size_t& full) const {
    AllocationProgram::Objective objective;
    objective.level_cost = -1;
    struct Rising {
      std::size_t row;
      std::size_t of_class;
      double scale;
    };
    std::vector<Rising> rising;
    for (std::size_t c = 0; c < waters.size(); ++c) {
      const Water& water = waters[c];
      if (!water.full && water.weight > 0) {
        const double scale = 1 / water.weight * program.job(c).gpus;
        rising.push_back({objective.rows.size(), c, scale});
        objective.rows.push_back({c, scale / water.fair, scale * water.level, 1});
      } else {
        objective.rows.push_back({c, 0, -most, 1});
      }
      objective.rows.push_back({c, 1 / water.fair, water.level, 0});  // nobody falls
    }
    const AllocationProgram::Answer answer = program.solve(objective);
    if (answer.status != SolveStatus::kOptimal) return false;
    // The level that the fractions reach: levels to come are sensitive to its last digits.
    double level = rising.size() < waters.size() ? most : HUGE_VAL;
    for (const Rising& one : rising) {
      const Water& water = waters[one.of_class];
      const double now = answer.throughput[one.of_class] * (1 / water.fair);
      level = std::min(level, (now - water.level) * one.scale);
    }
    for (const Rising& one : rising) {
      Water& water = waters[one.of_class];
      water.level += 1 / one.scale * level;
      constexpr double kNoDual = 1e-10;
      if (water_.one_level || answer.duals[one.row] > std::max(kNoDual, answer.slack[one.row])) {
        water.full = true;
        ++full;
      }
    }
    return true;
  }

  ProgramOptions options_;
  WaterOptions water_;
};

}  // namespace

std::unique_ptr<Allocator> make_gavel_water_filling(const ProgramOptions& options,
                                                    const WaterOptions& water) {
  return std::make_unique<WaterFilling>(options, water);
}

}  // namespace muster
