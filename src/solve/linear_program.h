// A linear program in inequality form: minimise c'x subject to E x <= b, x >= 0. Plain numbers, for
// every solver; E is stored by columns (compressed sparse columns). The interior point solver also
// takes gains that are logarithms of variables: minimise c'x - sum of log_gain log x.
//
// A variable or row may stand for several equal ones (`copies`), when equal things were merged
// before solving: the optimum is the same, and solvers that look for a centre weigh them
// accordingly.
//
// Rows can be put into groups: most programs here are about many jobs, each with a row or two of
// its own, tied together by a few linking rows for capacities (a block angular program). Naming the
// groups makes solving linear in the number of jobs; one group for all rows is always right.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster {

class LinearProgram {
 public:
  static constexpr std::int32_t kLinking = -1;  // a row that ties groups together

  struct Term {
    std::uint32_t row;
    std::uint32_t copies;  // equal variables that it stands for in each of the row's copies
    double value;          // of all of them together
  };

  std::size_t add_row(double bound, std::int32_t group, double copies = 1) {
    bounds.push_back(bound);
    groups.push_back(group);
    row_copies.push_back(copies);
    return bounds.size() - 1;
  }
  std::size_t add_variable(double cost, double copies = 1) {
    costs.push_back(cost);
    log_gains.push_back(0);
    variable_copies.push_back(copies);
    starts.push_back(terms.size());
    return costs.size() - 1;
  }
  // Marks a variable that many rows share, such as a level that all are to reach.
  void mark_shared(std::size_t variable) { shared.push_back(variable); }
  // To the variable added last; zero is left out.
  void add_term(std::size_t row, double value, double copies = 1) {
    if (value == 0) return;
    terms.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(copies), value});
  }

  bool linear() const {
    return std::all_of(log_gains.begin(), log_gains.end(), [](double gain) { return gain == 0; });
  }
  std::size_t rows() const { return bounds.size(); }
  std::size_t variables() const { return costs.size(); }
  std::size_t first_term(std::size_t variable) const { return starts[variable]; }
  std::size_t last_term(std::size_t variable) const {
    return variable + 1 < starts.size() ? starts[variable + 1] : terms.size();
  }

  std::vector<double> costs;
  std::vector<double> log_gains;  // 0 for most
  std::vector<double> variable_copies;
  std::vector<std::size_t> shared;
  std::vector<double> bounds;
  std::vector<double> row_copies;
  std::vector<std::int32_t> groups;  // of rows, from 0; kLinking
  std::vector<std::size_t> starts;   // of each variable's terms
  std::vector<Term> terms;
};

enum class SolveStatus { kOptimal, kInfeasible, kUnbounded, kFailed };

struct LinearSolution {
  SolveStatus status = SolveStatus::kFailed;
  double cost = 0;
  std::vector<double> x;
  std::vector<double> duals;  // dual variables of rows, >= 0
  std::vector<double> slack;  // of rows
  int iterations = 0;
  double gap = 0;  // duality gap, relative
};

}  // namespace muster
