#include "solve/simplex.h"

#include <coin/ClpSimplex.hpp>

namespace muster {

LinearSolution solve_simplex(const LinearProgram& program) {
  if (!program.linear()) return {};
  const int rows = static_cast<int>(program.rows());
  const int columns = static_cast<int>(program.variables());
  std::vector<CoinBigIndex> starts;
  std::vector<int> indices;
  std::vector<double> values;
  for (std::size_t v = 0; v < program.variables(); ++v) {
    starts.push_back(static_cast<CoinBigIndex>(indices.size()));
    for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
      indices.push_back(static_cast<int>(program.terms[t].row));
      values.push_back(program.terms[t].value);
    }
  }
  starts.push_back(static_cast<CoinBigIndex>(indices.size()));
  ClpSimplex model;
  model.setLogLevel(0);
  // Debian's build of CLP can abort on its own scaling.
  model.scaling(0);
  // Without bounds of their own, variables are at least 0 and rows have no lower end.
  model.loadProblem(columns, rows, starts.data(), indices.data(), values.data(), nullptr, nullptr,
                    program.costs.data(), nullptr, program.bounds.data());
  model.setPrimalTolerance(1e-9);
  model.setDualTolerance(1e-9);
  model.primal();
  LinearSolution solution;
  solution.iterations = model.numberIterations();
  if (model.isProvenPrimalInfeasible()) solution.status = SolveStatus::kInfeasible;
  if (model.isProvenDualInfeasible()) solution.status = SolveStatus::kUnbounded;
  if (!model.isProvenOptimal()) return solution;
  solution.status = SolveStatus::kOptimal;
  solution.cost = model.objectiveValue();
  solution.x.assign(model.primalColumnSolution(), model.primalColumnSolution() + columns);
  solution.slack.resize(program.rows());
  solution.prices.resize(program.rows());
  for (std::size_t r = 0; r < program.rows(); ++r) {
    solution.slack[r] = program.bounds[r] - model.primalRowSolution()[r];
    solution.prices[r] = -model.dualRowSolution()[r];
  }
  return solution;
}

}  // namespace muster
