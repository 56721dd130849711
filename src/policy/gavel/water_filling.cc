#include "policy/gavel/water_filling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "solve/simplex.h"

namespace muster {

void WaterFilling::allocate(const AllocationProblem& problem, Allocation& allocation) {
  const std::vector<double> rates = seen_rates(problem, options_);
  AllocationProgram program(problem, rates, keys(problem), options_.solver, *options_.form);
  std::vector<Water> waters(program.classes());
  for (std::size_t c = 0; c < waters.size(); ++c) {
    waters[c].fair = proportional_rate(problem, rates, program.members(c).front());
  }
  if (waters.empty()) return;
  if (fill(program, waters)) {
    program.write(allocation);
  } else {
    share_equally(problem, allocation);
  }
}

Entity WaterFilling::entity_of(const AllocationJob& job) const {
  return job.owner < water_.entities.size() ? water_.entities[job.owner] : Entity{};
}

// Jobs with the same key may be merged: the same entity and priority. An entity that serves first
// come, first served, treats no two of its jobs alike.
std::vector<double> WaterFilling::keys(const AllocationProblem& problem) const {
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

// With entities, two levels: the weight of an entity goes to those of its jobs that can still rise.
// O(classes log entities).
void WaterFilling::weigh(const AllocationProgram& program, std::vector<Water>& waters) const {
  if (water_.entities.empty()) {
    for (std::size_t c = 0; c < waters.size(); ++c) waters[c].weight = program.job(c).weight;
    return;
  }
  struct Inside {
    double sum = 0;        // of the priorities of jobs that can rise
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

// Levels are unique, fractions are not: of all allocations with these levels the interior point
// method gives one near the analytic centre. A solver of vertices keeps the vertex of the last
// pass.
bool WaterFilling::fill(AllocationProgram& program, std::vector<Water>& waters) const {
  if (!find_levels(program, waters)) return false;
  if (options_.solver == solve_at_vertex) return true;
  AllocationProgram::Objective objective;
  for (std::size_t c = 0; c < waters.size(); ++c) {
    const double scale = program.job(c).gpus / waters[c].fair;
    const double level = waters[c].level * program.job(c).gpus;
    // A little less than it has, so that the feasible set keeps an interior.
    objective.rows.push_back({c, scale, level * (1 - 1e-7), 0});
  }
  program.solve(objective);
  return true;
}

// Complementary slackness: a positive dual means that the row is tight in every optimum. A
// bottleneck with a dual of zero (degeneracy) is found in a later pass, which raises nothing.
bool WaterFilling::is_bottleneck(double dual) const {
  constexpr double kNoDual = 1e-9;
  return dual > kNoDual;
}

// Progressive filling. Each pass maximises t subject to
//   throughput gpus / fair >= level gpus + weight t   for every class,
// adds weight t / gpus to the levels, and fixes the bottlenecks, whose weight is zero from then on.
// Passes differ in bounds and in the column of t alone: the simplex method begins each at the last
// basis.
//
// Invariant: levels never fall, and a pass fixes at least one class, since weighted by their
// weights the duals add up to 1 (the dual constraint of t). So there are at most as many passes as
// classes, unless t stops at its cap.
bool WaterFilling::find_levels(AllocationProgram& program, std::vector<Water>& waters) const {
  AllocationProgram::Objective objective;
  objective.level_cost = -1;
  for (std::size_t c = 0; c < waters.size(); ++c) {
    objective.rows.push_back({c, program.job(c).gpus / waters[c].fair, 0, 1});
  }
  const double most = most_rise(program, waters);
  objective.most_level = most;
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
    if (most != kNever) simplex.set_bound(raising.rows() - 1, all ? kNoLimit : most);
    LinearSolution solution = simplex.solve();
    if (solution.status != SolveStatus::kOptimal) break;
    any = true;
    const std::size_t before = full;
    for (std::size_t c = 0; c < waters.size(); ++c) {
      Water& water = waters[c];
      if (water.full || !(water.weight > 0)) continue;
      water.level += solution.x.back() * water.weight / program.job(c).gpus;
      if (is_bottleneck(solution.duals[program.first_row() + c])) {
        water.full = true;
        ++full;
      }
    }
    program.accept(raising, std::move(solution.x));
    if (full == before) break;
  }
  return any;
}

std::unique_ptr<Allocator> make_gavel_water_filling(const ProgramOptions& options,
                                                    const WaterOptions& water) {
  return std::make_unique<WaterFilling>(options, water);
}

}  // namespace muster
