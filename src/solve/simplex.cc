#include "solve/simplex.h"

#include <coin/ClpSimplex.hpp>

namespace muster {

struct WarmSimplex::Model {
  ClpSimplex clp;
  std::vector<double> bounds;
};

WarmSimplex::WarmSimplex(const LinearProgram& program) : model_(std::make_unique<Model>()) {
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
  ClpSimplex& clp = model_->clp;
  clp.setLogLevel(0);
  // Debian's build of CLP can abort on its own scaling.
  clp.scaling(0);
  // Without bounds of their own, variables are at least 0 and rows have no lower end.
  clp.loadProblem(columns, rows, starts.data(), indices.data(), values.data(), nullptr, nullptr,
                  program.costs.data(), nullptr, program.bounds.data());
  clp.setPrimalTolerance(1e-9);
  clp.setDualTolerance(1e-9);
  model_->bounds = program.bounds;
}

WarmSimplex::~WarmSimplex() = default;

void WarmSimplex::set_bound(std::size_t row, double bound) {
  model_->bounds[row] = bound;
  model_->clp.setRowUpper(static_cast<int>(row), bound);
}

void WarmSimplex::set_coefficient(std::size_t row, std::size_t variable, double value) {
  model_->clp.modifyCoefficient(static_cast<int>(row), static_cast<int>(variable), value, true);
}

LinearSolution WarmSimplex::solve() {
  ClpSimplex& clp = model_->clp;
  clp.primal();
  LinearSolution solution;
  solution.iterations = clp.numberIterations();
  if (clp.isProvenPrimalInfeasible()) solution.status = SolveStatus::kInfeasible;
  if (clp.isProvenDualInfeasible()) solution.status = SolveStatus::kUnbounded;
  if (!clp.isProvenOptimal()) return solution;
  solution.status = SolveStatus::kOptimal;
  solution.cost = clp.objectiveValue();
  solution.x.assign(clp.primalColumnSolution(), clp.primalColumnSolution() + clp.numberColumns());
  solution.slack.resize(model_->bounds.size());
  solution.prices.resize(model_->bounds.size());
  for (std::size_t r = 0; r < model_->bounds.size(); ++r) {
    solution.slack[r] = model_->bounds[r] - clp.primalRowSolution()[r];
    solution.prices[r] = -clp.dualRowSolution()[r];
  }
  return solution;
}

LinearSolution solve_simplex(const LinearProgram& program) {
  if (!program.linear()) return {};
  return WarmSimplex(program).solve();
}

}  // namespace muster
