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

// Rates of two jobs on one type: when they share GPUs, and of each alone.
struct PairRates {
  double first = 0;
  double second = 0;
  double first_alone = 0;
  double second_alone = 0;
};

// How a program is stated, and how its answer is read. This form leaves out variables that cannot
// help and makes answers clean: what a solver leaves of a fraction that should be zero is no claim,
// and what it gives beyond a capacity is scaled down. Another form derives from it; the best value
// is the same in all of them, but where several answers have it, a solver may give another one.
class ProgramForm {
 public:
  virtual ~ProgramForm() = default;
  // Whether there is a variable for time on a type where a job has that rate.
  virtual bool asks_alone(double rate) const { return rate > 0; }
  // The same of a pair. Where two jobs together make no more than if they took turns, they take
  // turns, which leaves them more time.
  virtual bool asks_paired(const PairRates& rates) const;
  // Whether a type without GPUs has a row all the same; there are no variables in it.
  virtual bool has_empty_rows() const { return true; }
  // Whether a pair's variable is the time of one pair, instead of that of all equal ones together.
  virtual bool counts_pairs_apart() const { return false; }
  // A throughput of at least `least` as a row: scale * throughput >= bound. Here a little less than
  // that, so that the feasible set keeps an interior.
  struct Bound {
    double scale = 1;
    double bound = 0;
  };
  virtual Bound at_least(double least) const { return {1 / least, 1 - 1e-7}; }
  // Whether answers are made clean.
  virtual bool cleans() const { return true; }

  static const ProgramForm& reduced();
};

class AllocationProgram {
 public:
  // `rates` as in the problem, and may be other ones. `keys` tells apart jobs that the policy
  // treats differently.
  AllocationProgram(const AllocationProblem& problem, const std::vector<double>& rates,
                    const std::vector<double>& keys, LinearSolver solver = solve_in_interior,
                    const ProgramForm& form = ProgramForm::reduced());

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
    return problem_.capacity[column] > 0 && form_->asks_alone(rate);
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
  struct Places;
  std::vector<std::int32_t> groups_of_classes() const;
  Places add_rows(LinearProgram& program, const Objective& objective) const;
  void add_singles(LinearProgram& program, const Objective& objective, const Places& places) const;
  void add_pairs(LinearProgram& program, const Objective& objective, const Places& places) const;
  void enforce_capacity(const LinearProgram& program);
  std::pair<double, double> pair_rate(const PairClass& pair, std::size_t column) const;
  bool asked(const PairClass& pair, const std::pair<double, double>& rates,
             std::size_t column) const;

  // How often a pair's variable stands for its time: once where it is that of all pairs of the two
  // classes together.
  double unit(const PairClass& pair) const {
    return form_->counts_pairs_apart() ? static_cast<double>(pair.pairs.size()) : 1;
  }

  const AllocationProblem& problem_;
  LinearSolver solver_;
  const ProgramForm* form_;
  std::vector<double> rates_;  // zero where the job cannot run
  std::vector<std::vector<std::size_t>> members_;
  std::vector<std::size_t> class_of_;  // by job; kNone: cannot run
  std::vector<PairClass> pair_classes_;
  std::vector<double> x_;
};

}  // namespace muster
