// A mixed integer linear program: maximise gain'x, where rows and variables lie between bounds and
// some variables are integers. Plain numbers; solved by branch and cut (CBC; Wolsey, "Integer
// Programming", chapters 7 to 9), which stays behind solve_integer().
//
// A search that is cut off returns the incumbent, the best solution it has found, and the bound of
// the relaxation, so that the gap between them is known. The limit is a number of nodes of the
// search tree, not seconds, so that the same program has the same answer on every machine; seconds
// may be given too, where that does not matter. Time: exponential at worst.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace muster {

class IntegerProgram {
 public:
  static constexpr double kFree = std::numeric_limits<double>::infinity();

  struct Term {
    std::size_t row = 0;
    double value = 0;
  };

  std::size_t add_row(double least, double most) {
    rows_least.push_back(least);
    rows_most.push_back(most);
    return rows_least.size() - 1;
  }
  std::size_t add_variable(double gain, double least, double most, bool whole) {
    gains.push_back(gain);
    variables_least.push_back(least);
    variables_most.push_back(most);
    is_whole.push_back(whole ? 1 : 0);
    starts.push_back(terms.size());
    return gains.size() - 1;
  }
  // Yes or no.
  std::size_t add_choice(double gain) { return add_variable(gain, 0, 1, true); }
  // To the variable added last; zero is left out.
  void add_term(std::size_t row, double value) {
    if (value != 0) terms.push_back({row, value});
  }
  std::size_t rows() const { return rows_least.size(); }
  std::size_t variables() const { return gains.size(); }

  std::vector<double> gains;
  std::vector<double> variables_least;
  std::vector<double> variables_most;
  std::vector<char> is_whole;
  std::vector<double> rows_least;
  std::vector<double> rows_most;
  std::vector<std::size_t> starts;  // of each variable's terms
  std::vector<Term> terms;
};

struct IntegerOptions {
  int branches = 1000;        // nodes of the tree after which the search ends
  double gap = 1e-6;          // relative, below which it ends
  double seconds = 0;         // 0: no limit; otherwise answers depend on the machine
  std::vector<double> start;  // a known solution to begin with; empty: none
};

struct IntegerSolution {
  enum class Status { kBest, kCutOff, kImpossible, kFailed };
  Status status = Status::kFailed;
  std::vector<double> x;  // whole where it must be; empty if nothing was found
  double gain = 0;
  double bound = 0;  // no solution gains more
  bool found() const { return !x.empty(); }
  // How much more the best solution could gain, relative to this one.
  double gap() const;
};

IntegerSolution solve_integer(const IntegerProgram& program, const IntegerOptions& options = {});

}  // namespace muster
