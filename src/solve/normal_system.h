// The equations of an interior point step: (E D E' + F) y = r for a positive diagonal D over
// variables and F over rows, where the rows of E fall into groups tied together by a few linking
// rows and by a few variables that touch many groups. Factors the groups one by one.
//
// Near the optimum D and F span twenty orders of magnitude. Small groups are therefore triangulated
// by reflections of the square roots, which never subtract nearly equal numbers. What ties the
// groups together stays one indefinite system, because without the variables that touch many groups
// the linking rows alone are all but singular; and so is the group that holds such a variable back.
// The row that does is promoted: it leaves its group and stands beside the variable.
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

  // Variables that touch many groups, in order.
  const std::vector<std::size_t>& wide() const { return wide_; }
  // The same equations before these variables u are eliminated, for right sides of their own:
  // (E D E' + F) y + U u = right over the other variables, U' y - u / D = wide_right. Takes the
  // right sides, gives y and u, not refined.
  void solve_in_place(std::vector<double>& y, std::vector<double>& u) { solve_once(y, u); }

 private:
  struct Group {
    std::size_t first = 0;  // position of its first row in the order by groups
    std::size_t rows = 0;
    std::size_t lower = 0;      // rows in the triangle: all but the promoted ones
    std::size_t matrix = 0;     // offset of its rows * rows values
    std::size_t border = 0;     // offset of its rows * ties values
    std::size_t variables = 0;  // its first in the list of variables by group
    std::size_t end = 0;
  };
  // A term of a variable, where it goes.
  struct Placed {
    bool ties;
    std::size_t place;  // among the ties, or in the group's triangle
    double value;
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  bool is_link(std::size_t row) const { return group_of_[row] == groups_.size(); }
  // Linking rows and promoted ones have a place among the ties, others in their group's triangle.
  bool is_tie(std::size_t row) const { return tie_place_[row] != kNone; }
  void find_groups();
  void order_rows();
  void order_variables();
  void promote();
  void count_lower(Group& group);
  void add_variable(std::size_t variable, double d);
  void reflect(const Group& group);
  bool eliminate(const Group& group);
  void tie_wide(const Group& group);
  void find_tightest();
  bool factor_ties();
  void solve_ties(std::vector<double>& right);
  void solve_once(std::vector<double>& y, std::vector<double>& u);
  void subtract_product(const std::vector<double>& y, std::vector<double>& left) const;
  double dot_column(std::size_t variable, const std::vector<double>& rows) const;

  const LinearProgram& program_;
  std::size_t links_ = 0;
  // Linking rows; then for each variable that touches many groups its promoted row; then these
  // variables.
  std::size_t ties_ = 0;
  std::size_t rows_tied_ = 0;  // the first of them: rows
  std::vector<Group> groups_;
  std::vector<std::size_t> by_place_;   // rows by group; those of wide variables last
  std::vector<std::size_t> lower_;      // of each row: in its group's triangle now
  std::vector<std::size_t> place_;      // of each row: of its group's first row plus that
  std::vector<std::size_t> tie_place_;  // of each row; kNone
  std::vector<std::size_t> group_of_;   // of each row; past the last for linking rows
  std::vector<std::size_t> by_group_;   // variables that touch one group
  std::vector<std::size_t> loose_;      // variables that touch none
  std::vector<std::size_t> wide_;       // variables that touch more than one
  std::vector<std::size_t> tightest_;   // by wide variable: the row to promote; kNone at first
  std::vector<std::size_t> promoted_;   // by wide variable, now
  std::vector<double> d_;
  std::vector<double> f_;
  std::vector<double> matrices_;      // of each group a lower triangle
  std::vector<double> borders_;       // group rows by ties, with the group's triangle applied
  std::vector<double> tie_;           // ties by ties, then its factors
  std::vector<double> tie_scale_;     // of rows and columns
  std::vector<std::size_t> tie_row_;  // order of its rows
  std::vector<double> stack_;         // scratch, as are the next ones
  std::vector<double> parts_;
  std::vector<Placed> placed_;
  std::vector<double> ordered_;
  std::vector<double> tie_right_;
  std::vector<double> tie_answer_;
  std::vector<double> residual_;
};

}  // namespace muster
