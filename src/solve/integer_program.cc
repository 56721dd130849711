#include "solve/integer_program.h"

#include <algorithm>
#include <cmath>
#include <coin/Cbc_C_Interface.h>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "base/shared_library.h"

namespace muster {
namespace {

// Loaded when the first program is solved: most runs need none, and the command starts sooner.
struct Cbc {
  SharedLibrary library{{"libCbcSolver.so.3"}, "coinor-libcbc3"};
  MUSTER_LOADED(Cbc_bestSolution);
  MUSTER_LOADED(Cbc_deleteModel);
  MUSTER_LOADED(Cbc_getBestPossibleObjValue);
  MUSTER_LOADED(Cbc_getColSolution);
  MUSTER_LOADED(Cbc_isProvenInfeasible);
  MUSTER_LOADED(Cbc_isProvenOptimal);
  MUSTER_LOADED(Cbc_loadProblem);
  MUSTER_LOADED(Cbc_newModel);
  MUSTER_LOADED(Cbc_setAllowableFractionGap);
  MUSTER_LOADED(Cbc_setColName);
  MUSTER_LOADED(Cbc_setInteger);
  MUSTER_LOADED(Cbc_setLogLevel);
  MUSTER_LOADED(Cbc_setMIPStartI);
  MUSTER_LOADED(Cbc_setMaximumNodes);
  MUSTER_LOADED(Cbc_setMaximumSeconds);
  MUSTER_LOADED(Cbc_setObjSense);
  MUSTER_LOADED(Cbc_setParameter);
  MUSTER_LOADED(Cbc_solve);
};

const Cbc& cbc() {
  static const Cbc table;
  return table;
}

struct Close {
  void operator()(Cbc_Model* model) const { cbc().Cbc_deleteModel(model); }
};
using Model = std::unique_ptr<Cbc_Model, Close>;

void load(Cbc_Model* model, const IntegerProgram& program) {
  const std::size_t count = program.variables();
  std::vector<CoinBigIndex> starts;
  std::vector<int> rows;
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    starts.push_back(static_cast<CoinBigIndex>(program.starts[i]));
  }
  starts.push_back(static_cast<CoinBigIndex>(program.terms.size()));
  for (const IntegerProgram::Term& term : program.terms) {
    rows.push_back(static_cast<int>(term.row));
    values.push_back(term.value);
  }
  cbc().Cbc_loadProblem(model, static_cast<int>(count), static_cast<int>(program.rows()),
                        starts.data(), rows.data(), values.data(), program.variables_least.data(),
                        program.variables_most.data(), program.gains.data(),
                        program.rows_least.data(), program.rows_most.data());
  cbc().Cbc_setObjSense(model, -1);  // the most
  for (std::size_t i = 0; i < count; ++i) {
    if (program.is_whole[i] != 0) cbc().Cbc_setInteger(model, static_cast<int>(i));
    // CBC finds the variables of a known solution again by their names.
    cbc().Cbc_setColName(model, static_cast<int>(i), fmt::format("x{}", i).c_str());
  }
}

double gain_of(const IntegerProgram& program, const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += program.gains[i] * x[i];
  return sum;
}

// Feasibility within the solver's own tolerance. O(terms).
bool satisfies(const IntegerProgram& program, const std::vector<double>& x) {
  constexpr double kSlack = 1e-6;
  std::vector<double> sums(program.rows(), 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] < program.variables_least[i] - kSlack || x[i] > program.variables_most[i] + kSlack) {
      return false;
    }
    const std::size_t end = i + 1 < x.size() ? program.starts[i + 1] : program.terms.size();
    for (std::size_t t = program.starts[i]; t < end; ++t) {
      sums[program.terms[t].row] += program.terms[t].value * x[i];
    }
  }
  for (std::size_t r = 0; r < sums.size(); ++r) {
    const double slack = kSlack * std::max(1.0, std::abs(sums[r]));
    if (sums[r] < program.rows_least[r] - slack || sums[r] > program.rows_most[r] + slack) {
      return false;
    }
  }
  return true;
}

}  // namespace

double IntegerSolution::gap() const {
  if (!found()) return std::numeric_limits<double>::infinity();
  // The relative optimality gap: the relaxation's bound minus the incumbent, over the incumbent.
  return std::max(0.0, bound - gain) / std::max(1e-9, std::abs(gain));
}

IntegerSolution solve_integer(const IntegerProgram& program, const IntegerOptions& options) {
  IntegerSolution solution;
  if (program.variables() == 0) {
    solution.status = IntegerSolution::Status::kBest;
    return solution;
  }
  // CBC keeps state outside its models while it solves.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  const Model model(cbc().Cbc_newModel());
  load(model.get(), program);
  // One thread, a fixed seed and a limit in nodes: the same search on every machine.
  cbc().Cbc_setLogLevel(model.get(), 0);
  cbc().Cbc_setParameter(model.get(), "log", "0");
  cbc().Cbc_setParameter(model.get(), "threads", "0");
  cbc().Cbc_setParameter(model.get(), "randomCbcSeed", "1");
  cbc().Cbc_setMaximumNodes(model.get(), options.branches);
  // Branch and bound stops early once the incumbent is within this relative gap of the best bound
  // (Land and Doig 1960).
  cbc().Cbc_setAllowableFractionGap(model.get(), options.gap);
  if (options.seconds > 0) cbc().Cbc_setMaximumSeconds(model.get(), options.seconds);
  const bool starts =
      options.start.size() == program.variables() && satisfies(program, options.start);
  if (starts) {
    std::vector<int> places(options.start.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int>(i);
    cbc().Cbc_setMIPStartI(model.get(), static_cast<int>(places.size()), places.data(),
                           options.start.data());
    // CBC 2.10 loses track of the variables if it simplifies the program before it looks at these.
    cbc().Cbc_setParameter(model.get(), "preprocess", "off");
  }
  cbc().Cbc_solve(model.get());
  const bool best = cbc().Cbc_isProvenOptimal(model.get()) != 0;
  // A program with a feasible start is not infeasible, whatever CBC says.
  if (cbc().Cbc_isProvenInfeasible(model.get()) != 0 && !starts) {
    solution.status = IntegerSolution::Status::kImpossible;
    return solution;
  }
  const double* found = cbc().Cbc_bestSolution(model.get());
  if (found == nullptr && best) found = cbc().Cbc_getColSolution(model.get());
  if (found != nullptr) {
    solution.x.assign(found, found + program.variables());
    for (std::size_t i = 0; i < solution.x.size(); ++i) {
      if (program.is_whole[i] != 0) solution.x[i] = std::round(solution.x[i]);
    }
    // What comes from outside is checked.
    if (!satisfies(program, solution.x)) solution.x.clear();
  }
  // A search that is cut off may end with less than it was given.
  const bool worse = !solution.found() ||
                     (starts && gain_of(program, options.start) > gain_of(program, solution.x));
  if (worse && starts) solution.x = options.start;
  if (!solution.found()) return solution;
  solution.gain = gain_of(program, solution.x);
  // Cut off: the best relaxation among the open nodes of the tree bounds every solution.
  solution.bound = best ? solution.gain
                        : std::max(solution.gain, cbc().Cbc_getBestPossibleObjValue(model.get()));
  solution.status = best ? IntegerSolution::Status::kBest : IntegerSolution::Status::kCutOff;
  return solution;
}

}  // namespace muster
