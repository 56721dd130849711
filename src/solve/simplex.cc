#include "solve/simplex.h"

#include <coin/Clp_C_Interface.h>
#include <limits>

#include "base/shared_library.h"
#include "solve/stop_solving.h"

namespace muster {
namespace {

// Loaded when it is first used: the interior point method does the daily work.
struct Clp {
  SharedLibrary library{{"libClp.so.1"}, "coinor-libclp1"};
  MUSTER_LOADED(Clp_deleteModel);
  MUSTER_LOADED(Clp_dualRowSolution);
  MUSTER_LOADED(Clp_isProvenDualInfeasible);
  MUSTER_LOADED(Clp_isProvenOptimal);
  MUSTER_LOADED(Clp_isProvenPrimalInfeasible);
  MUSTER_LOADED(Clp_loadProblem);
  MUSTER_LOADED(Clp_modifyCoefficient);
  MUSTER_LOADED(Clp_newModel);
  MUSTER_LOADED(Clp_numberColumns);
  MUSTER_LOADED(Clp_numberIterations);
  MUSTER_LOADED(Clp_objectiveValue);
  MUSTER_LOADED(Clp_primal);
  MUSTER_LOADED(Clp_primalColumnSolution);
  MUSTER_LOADED(Clp_primalRowSolution);
  MUSTER_LOADED(Clp_rowUpper);
  MUSTER_LOADED(Clp_scaling);
  MUSTER_LOADED(Clp_setDualTolerance);
  MUSTER_LOADED(Clp_setLogLevel);
  MUSTER_LOADED(Clp_setPrimalTolerance);
};

const Clp& clp() {
  static const Clp table;
  return table;
}

}  // namespace

struct WarmSimplex::Model {
  Model() : clp(muster::clp().Clp_newModel()) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() { muster::clp().Clp_deleteModel(clp); }
  Clp_Simplex* clp;
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
  Clp_Simplex* model = model_->clp;
  clp().Clp_setLogLevel(model, 0);
  // Debian's build of CLP can abort on its own scaling.
  clp().Clp_scaling(model, 0);
  // Without bounds of their own, variables are at least 0 and rows have no lower end.
  clp().Clp_loadProblem(model, columns, rows, starts.data(), indices.data(), values.data(), nullptr,
                        nullptr, program.costs.data(), nullptr, program.bounds.data());
  clp().Clp_setPrimalTolerance(model, 1e-9);
  clp().Clp_setDualTolerance(model, 1e-9);
  // The bounds are kept because CLP reports row activities and not slacks.
  model_->bounds = program.bounds;
}

WarmSimplex::~WarmSimplex() = default;

void WarmSimplex::set_bound(std::size_t row, double bound) {
  model_->bounds[row] = bound;
  // From 1e27 on CLP takes a bound for none.
  constexpr double kNoBound = 1e27;
  clp().Clp_rowUpper(model_->clp)[row] =
      bound > kNoBound ? std::numeric_limits<double>::max() : bound;
}

void WarmSimplex::set_coefficient(std::size_t row, std::size_t variable, double value) {
  clp().Clp_modifyCoefficient(model_->clp, static_cast<int>(row), static_cast<int>(variable), value,
                              true);
}

// The primal simplex method of CLP, from the basis of the last call: a changed bound or coefficient
// leaves it near the optimum, mostly a few pivots away. The duals are turned to our sign: those of
// rows E x <= b are never negative.
LinearSolution WarmSimplex::solve() {
  StopSolving::look();
  Clp_Simplex* model = model_->clp;
  clp().Clp_primal(model, 0);
  LinearSolution solution;
  solution.iterations = clp().Clp_numberIterations(model);
  if (clp().Clp_isProvenPrimalInfeasible(model) != 0) solution.status = SolveStatus::kInfeasible;
  if (clp().Clp_isProvenDualInfeasible(model) != 0) solution.status = SolveStatus::kUnbounded;
  if (clp().Clp_isProvenOptimal(model) == 0) return solution;
  solution.status = SolveStatus::kOptimal;
  solution.cost = clp().Clp_objectiveValue(model);
  const double* x = clp().Clp_primalColumnSolution(model);
  solution.x.assign(x, x + clp().Clp_numberColumns(model));
  solution.slack.resize(model_->bounds.size());
  solution.duals.resize(model_->bounds.size());
  // Complementary slackness holds at an optimal basis: a row has no slack or a dual of zero, up to
  // the tolerances above.
  const double* rows = clp().Clp_primalRowSolution(model);
  const double* duals = clp().Clp_dualRowSolution(model);
  for (std::size_t r = 0; r < model_->bounds.size(); ++r) {
    solution.slack[r] = model_->bounds[r] - rows[r];
    solution.duals[r] = -duals[r];
  }
  return solution;
}

LinearSolution solve_simplex(const LinearProgram& program) {
  if (!program.linear()) return {};
  return WarmSimplex(program).solve();
}

}  // namespace muster
