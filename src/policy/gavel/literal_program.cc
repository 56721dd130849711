// Programs as cvxpy (1.3) states them for ECOS.
#include <map>

#include "policy/gavel/share_program.h"
#include "solve/embedding.h"

namespace muster {

// The level comes first, then time type by type; rows that reach for the level, signs, GPUs of each
// type, time of each job, and the rows without level.
LinearSolution ShareProgram::solve_literally(const LinearProgram& program, const Wish& wish) const {
  const std::size_t types = type_rows();
  const bool levels = wish.level_cost != 0;
  const std::size_t times = program.variables() - (levels ? 1 : 0);
  const std::size_t each = types == 0 ? 0 : times / types;
  // Where the variables of the program stand, by number in the statement.
  std::vector<std::size_t> variables;
  if (levels) variables.push_back(times);
  for (std::size_t w = 0; w < types; ++w) {
    for (std::size_t i = 0; i < each; ++i) variables.push_back(i * types + w);
  }
  std::vector<std::size_t> rows;
  const auto add_wishes = [&](bool with_level) {
    for (std::size_t r = 0; r < wish.rows.size(); ++r) {
      if ((levels && wish.rows[r].level != 0) == with_level) rows.push_back(first_row() + r);
    }
  };
  add_wishes(true);
  const std::size_t first_sign = rows.size();
  for (std::size_t r = 0; r < first_row(); ++r) rows.push_back(r);
  add_wishes(false);

  LinearProgram stated;
  std::vector<std::size_t> place(program.rows());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == first_sign) {
      for (std::size_t v = 0; v < times; ++v) stated.add_row(0, 0);
    }
    place[rows[i]] = stated.add_row(program.bounds[rows[i]], 0);
  }
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::size_t v = variables[i];
    stated.mark_free(stated.add_variable(program.costs[v]));
    std::map<std::size_t, double> terms;  // by row
    if (v < times) terms[first_sign + i - (levels ? 1 : 0)] = -1;
    for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
      terms[place[program.terms[t].row]] = program.terms[t].value;
    }
    for (const auto& [row, value] : terms) stated.add_term(row, value);
  }
  const LinearSolution found = solve_embedded(stated, Equations::kWhole);
  LinearSolution solution = found;
  if (found.x.empty()) return solution;
  for (std::size_t i = 0; i < variables.size(); ++i) solution.x[variables[i]] = found.x[i];
  solution.prices.resize(program.rows());
  solution.slack.resize(program.rows());
  for (std::size_t r = 0; r < program.rows(); ++r) {
    solution.prices[r] = found.prices[place[r]];
    solution.slack[r] = found.slack[place[r]];
  }
  return solution;
}

}  // namespace muster
