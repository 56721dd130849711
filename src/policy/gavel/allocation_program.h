// The linear programs behind Gavel's policies, built once for all of them (Gavel, OSDI'20, sections
// 3 and 4).
//
// The variables are fractions X of time on each GPU type, for jobs alone and for pairs of
// co-located jobs. The constraints that all policies have:
//   X >= 0;   for each type, the GPUs held add up to at most its capacity;
//   for each job, its fractions (alone and in pairs) add up to at most 1.
// A policy adds an objective: rows that bound a job's throughput, sum of T X, from below, a cost,
// or a level t to be maximised (an epigraph variable, as in max min f = max t with f >= t).
//
// Equal jobs are merged before solving: jobs with the same rates, GPUs and key get the same
// fractions. That loses nothing: the set of optima is convex and symmetric in equal jobs, so the
// mean of their fractions is as good. A program has as many variables as classes of jobs and of
// pairs times types, and one group of rows for each class (solve/linear_program.h).
//
// Time: O(types (jobs log jobs + pairs)) to merge; then that of the solver, which depends on
// classes alone. With the interior point method it is linear in the classes where no jobs are
// paired, and cubic in those that pairs tie together.
//
// A rate that is not positive means that the job cannot run there, and so does a type without GPUs.
// A job that can run nowhere alone is left out, also from pairs, and gets nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "policy/gavel/allocator.h"
#include "solve/linear_program.h"

namespace muster {

// Solves a program, as exactly as `tolerance` asks if it can stop early.
using LinearSolver = LinearSolution (*)(const LinearProgram& program, double tolerance);

// The solver of the policies: the interior point method, and where that fails the simplex method.
LinearSolution solve_in_interior(const LinearProgram& program, double tolerance);
// The simplex method alone: an answer as good, at a vertex of the feasible set.
LinearSolution solve_at_vertex(const LinearProgram& program, double tolerance);

// How a program is stated.
//   reduced   without variables that cannot help (time on a type where a job, or a pair, makes no
//             progress, or less than if the two took turns) and with answers made clean: what a
//             solver leaves of a fraction that should be zero is no claim, and what it gives beyond
//             a capacity is scaled down
//   literal   as the definition reads, with a variable for every job, pair and type that has GPUs;
//             the answer is what the solver says
// The best value is the same; where several answers have it, a solver may give another one.
enum class ProgramForm { kReduced, kLiteral };

class AllocationProgram {
 public:
  // `rates` as in the problem, and may be other ones. `keys` tells apart jobs that the policy
  // treats differently.
  AllocationProgram(const AllocationProblem& problem, const std::vector<double>& rates,
                    const std::vector<double>& keys, LinearSolver solver = solve_in_interior,
                    ProgramForm form = ProgramForm::kReduced);

  // Classes of equal jobs.
  std::size_t classes() const { return members_.size(); }
  const std::vector<std::size_t>& members(std::size_t c) const { return members_[c]; }
  std::size_t class_of(std::size_t job) const { return class_of_[job]; }
  double copies(std::size_t c) const { return static_cast<double>(members_[c].size()); }
  const AllocationJob& job(std::size_t c) const { return problem_.jobs[members_[c].front()]; }
  double rate(std::size_t c, std::size_t column) const {
    return rates_[members_[c].front() * problem_.types + column];
  }
  // On its best type.
  double fastest(std::size_t c) const;
  // Whether there is a variable for time at this rate.
  bool asked(double rate, std::size_t column) const {
    return problem_.capacity[column] > 0 && (rate > 0 || literal());
  }

  struct Row {
    std::size_t of_class = 0;
    double scale = 1;  // scale * throughput >= least + level * t
    double least = 0;
    double level = 0;
  };
  // What is to be optimised. Gains are per unit of throughput, by column; empty: none. With
  // `level_cost` there is a level t with that cost (negative: to be maximised), at most
  // `most_level`. With `log_gains` the sum over all jobs of the logarithm of their throughput is
  // maximised.
  struct Objective {
    std::vector<Row> rows;
    std::vector<double> gains;
    double level_cost = 0;
    double most_level = kNever;
    bool log_gains = false;
    double gain(std::size_t column) const { return gains.empty() ? 0 : gains[column]; }
  };
  struct Answer {
    SolveStatus status = SolveStatus::kFailed;
    double level = 0;
    double value = 0;           // of the objective, as a cost
    std::vector<double> duals;  // of the rows of the objective
    std::vector<double> slack;
    std::vector<double> throughput;  // of one job of each class
  };
  static constexpr double kExact = 1e-9;
  // Solves and, if there is an answer, remembers the fractions.
  Answer solve(const Objective& objective, double tolerance = kExact);
  // The program itself, for policies that solve it in a way of their own: the objective's rows
  // begin at first_row(), its level is the last variable.
  LinearProgram build(const Objective& objective) const;
  std::size_t first_row() const { return type_rows() + classes(); }
  // Its rows before that: of types of GPUs, and of the classes' time.
  std::size_t type_rows() const;
  // Remembers the fractions of their answer.
  void accept(const LinearProgram& program, std::vector<double> x);

  // Writes the fractions of the last answer.
  void write(Allocation& allocation) const;

 private:
  struct PairClass {
    std::size_t first = 0;  // classes, first <= second
    std::size_t second = 0;
    std::vector<std::size_t> pairs;
    bool swapped = false;  // the front pair names its jobs in the other order
  };
  void merge(const std::vector<double>& keys);
  // False if pairs of two classes differ: then the jobs of a class are not equal after all.
  bool merge_pairs();
  bool literal() const { return form_ == ProgramForm::kLiteral; }
  struct Places;
  std::vector<std::int32_t> groups_of_classes() const;
  Places add_rows(LinearProgram& program, const Objective& objective) const;
  void add_singles(LinearProgram& program, const Objective& objective, const Places& places) const;
  void add_pairs(LinearProgram& program, const Objective& objective, const Places& places) const;
  void enforce_capacity(const LinearProgram& program);
  std::pair<double, double> pair_rate(const PairClass& pair, std::size_t column) const;
  bool asked(const PairClass& pair, const std::pair<double, double>& rates,
             std::size_t column) const;

  // A pair's variable is the time of all pairs of its classes together; in the literal form, of
  // one.
  double unit(const PairClass& pair) const {
    return literal() ? static_cast<double>(pair.pairs.size()) : 1;
  }

  const AllocationProblem& problem_;
  LinearSolver solver_;
  ProgramForm form_;
  std::vector<double> rates_;  // zero where the job cannot run
  std::vector<std::vector<std::size_t>> members_;
  std::vector<std::size_t> class_of_;  // by job; kNone: cannot run
  std::vector<PairClass> pair_classes_;
  std::vector<double> x_;
};

}  // namespace muster
