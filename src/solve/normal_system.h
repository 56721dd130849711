// The equations of an interior point step: (E D E' + F) y = r for a positive diagonal D over
// variables and F over rows, where the rows of E fall into groups tied together by a few linking
// rows and by a few variables that touch many groups. Factors the groups one by one.
#pragma once

#include <vector>

#include "solve/linear_program.h"

namespace muster {

class NormalSystem {
 public:
  explicit NormalSystem(const LinearProgram& program);

  // False if rounding has made it hopeless.
  bool factor(const std::vector<double>& d, const std::vector<double>& f);
  void solve(const std::vector<double>& right, std::vector<double>& y);

 private:
  struct Group {
    std::size_t first = 0;  // position of its first row in the order by groups
    std::size_t rows = 0;
    std::size_t matrix = 0;  // offset of its rows * rows values
    std::size_t border = 0;  // offset of its rows * links values
  };
  void add_variable(std::size_t variable, double d);
  bool factor_groups();
  void solve_once(std::vector<double>& y) const;
  void subtract_product(const std::vector<double>& y, std::vector<double>& left) const;
  void solve_core(std::vector<double>& y) const;

  const LinearProgram& program_;
  std::size_t links_ = 0;
  std::vector<Group> groups_;
  std::vector<std::size_t> place_;     // of each row: in its group's order, links last
  std::vector<std::size_t> group_of_;  // of each row
  std::vector<double> d_;
  std::vector<double> f_;
  std::vector<double> matrices_;
  std::vector<double> borders_;     // group rows by links
  std::vector<double> eliminated_;  // the borders after the groups' factors were applied
  std::vector<double> link_;        // links by links
  std::vector<std::size_t> wide_;   // variables that touch more than one group
  std::vector<char> is_wide_;
  std::vector<double> wide_solution_;  // wide by rows
  std::vector<double> wide_matrix_;
  std::vector<double> ordered_;  // scratch
};

}  // namespace muster
