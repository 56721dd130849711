// The rows and columns of the linear programs behind Gavel's policies.
#include <algorithm>
#include <numeric>

#include "policy/gavel/allocation_program.h"

namespace muster {

// Where the rows of a program are.
struct AllocationProgram::Places {
  // A row with the throughput of a class, and the scale it has there.
  struct Reach {
    std::size_t row;
    double scale;
  };
  static constexpr std::size_t kNoRow = static_cast<std::size_t>(-1);
  std::vector<std::size_t> row_of_type;
  std::size_t first_class = 0;
  std::size_t first_row = 0;  // of the objective
  std::size_t first_log = 0;
  std::size_t cap = kNoRow;                 // of the level
  std::vector<std::vector<Reach>> rows_of;  // by class

  // Time of one job of a class, at that rate; so many of the variable's equal ones are this job's.
  void add_time(LinearProgram& program, std::size_t c, double rate, double time,
                double equal) const {
    program.add_term(first_class + c, time, equal);
    for (const Reach& reach : rows_of[c]) {
      program.add_term(reach.row, -reach.scale * rate * time, equal);
    }
  }
};

// Classes that share GPUs, directly or through others, are one group: those on equally many GPUs.
std::vector<std::int32_t> AllocationProgram::groups_of_classes() const {
  // Disjoint sets with path halving (Tarjan and van Leeuwen 1984): almost linear in the pairs.
  std::vector<std::size_t> leader(classes());
  std::iota(leader.begin(), leader.end(), std::size_t{0});
  const auto find = [&](std::size_t c) {
    while (leader[c] != c) c = leader[c] = leader[leader[c]];
    return c;
  };
  for (const PairClass& pair : pair_classes_) {
    const auto [low, high] = std::minmax({find(pair.first), find(pair.second)});
    leader[high] = low;
  }
  std::vector<std::int32_t> groups(classes());
  std::int32_t next = 0;
  for (std::size_t c = 0; c < classes(); ++c) {
    const std::size_t first = find(c);
    groups[c] = first == c ? next++ : groups[first];
  }
  return groups;
}

// Column by column: time alone, time in pairs, logarithms, and last the level (an epigraph
// variable).
LinearProgram AllocationProgram::build(const Objective& objective) const {
  LinearProgram program;
  const Places places = add_rows(program, objective);
  add_singles(program, objective, places);
  add_pairs(program, objective, places);
  for (std::size_t c = 0; objective.log_gains && c < classes(); ++c) {
    program.log_gains[program.add_variable(0)] = copies(c);
    program.add_term(places.first_log + c, 1);
  }
  if (objective.level_cost != 0) {
    program.mark_shared(program.add_variable(objective.level_cost));
    for (std::size_t r = 0; r < objective.rows.size(); ++r) {
      program.add_term(places.first_row + r, objective.rows[r].level);
    }
    if (places.cap != Places::kNoRow) program.add_term(places.cap, 1);
  }
  return program;
}

// Capacities of the GPU types; the time of each class; the objective's rows; one row for each
// logarithm; the bound of the level.
AllocationProgram::Places AllocationProgram::add_rows(LinearProgram& program,
                                                      const Objective& objective) const {
  Places places;
  const std::vector<std::int32_t> groups = groups_of_classes();
  const bool one_group =
      !pair_classes_.empty() && *std::max_element(groups.begin(), groups.end()) == 0;
  const std::int32_t group_of_links = one_group ? 0 : LinearProgram::kLinking;
  places.row_of_type.assign(problem_.types, Places::kNoRow);
  for (std::size_t w = 0; w < problem_.types; ++w) {
    if (problem_.capacity[w] <= 0 && !form_->has_empty_rows()) continue;
    // A bound of zero would leave the row no interior.
    places.row_of_type[w] = program.add_row(std::max(1, problem_.capacity[w]), group_of_links);
  }
  places.first_class = program.rows();
  for (std::size_t c = 0; c < classes(); ++c) program.add_row(1, groups[c], copies(c));
  places.rows_of.resize(classes());
  places.first_row = program.rows();
  for (const Row& row : objective.rows) {
    places.rows_of[row.of_class].push_back({program.rows(), row.scale});
    program.add_row(-row.least, groups[row.of_class], copies(row.of_class));
  }
  places.first_log = program.rows();
  for (std::size_t c = 0; objective.log_gains && c < classes(); ++c) {
    places.rows_of[c].push_back({program.rows(), 1 / fastest(c)});
    program.add_row(0, groups[c], copies(c));
  }
  if (objective.level_cost != 0 && objective.most_level != kNever) {
    places.cap = program.add_row(objective.most_level, group_of_links);
  }
  return places;
}

// A variable is the time of one job of the class; all its copies have as much. In the rows of GPU
// types all of them count, in those of the class one.
void AllocationProgram::add_singles(LinearProgram& program, const Objective& objective,
                                    const Places& places) const {
  for (std::size_t c = 0; c < classes(); ++c) {
    for (std::size_t w = 0; w < problem_.types; ++w) {
      const double here = rate(c, w);
      if (!asked(here, w)) continue;
      program.add_variable(-copies(c) * here * objective.gain(w), copies(c));
      program.add_term(places.row_of_type[w], copies(c) * job(c).gpus, copies(c));
      places.add_time(program, c, here, 1, 1);
    }
  }
}

// A variable is the time of all pairs of two classes together, or of one pair (unit()). A job of a
// class of k copies has 1 / k of the pairs' time; where both members are of one class, 2 / k.
void AllocationProgram::add_pairs(LinearProgram& program, const Objective& objective,
                                  const Places& places) const {
  for (const PairClass& pair : pair_classes_) {
    const auto count = static_cast<double>(pair.pairs.size());
    const double all = unit(pair);
    for (std::size_t w = 0; w < problem_.types; ++w) {
      const auto rates = pair_rate(pair, w);
      if (!asked(pair, rates, w)) continue;
      const auto [first, second] = rates;
      program.add_variable(-(first + second) * objective.gain(w) * all, count);
      program.add_term(places.row_of_type[w], job(pair.first).gpus * all, all);
      if (pair.first == pair.second) {
        const double time = 2 * all / copies(pair.first);
        places.add_time(program, pair.first, (first + second) / 2, time, std::max(1.0, time));
      } else {
        const double time = all / copies(pair.first);
        places.add_time(program, pair.first, first, time, std::max(1.0, time));
        const double other = all / copies(pair.second);
        places.add_time(program, pair.second, second, other, std::max(1.0, other));
      }
    }
  }
}

}  // namespace muster
