// Which row and which variable of a linear program goes where in its normal equations
// (solve/normal_system.h): the block structure, apart from the numbers.
//
// Rows fall into groups, the diagonal blocks, and into linking rows, which touch many groups.
// Variables that touch many groups are dense columns. Linking rows and dense columns make the
// border of the matrix; its Schur complement is what is left once the groups are eliminated.
//
// A dense column is held back by one row that is nearly tight, and the block of that row is then
// nearly singular. So the row is promoted: it leaves its group and joins the border.
//
// Invariant: every row has a place either in its group's triangle or in the Schur complement.
#pragma once

#include <vector>

#include "solve/linear_program.h"

namespace muster {

struct NormalLayout {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct Group {
    std::size_t first = 0;  // position of its first row in the order by groups
    std::size_t rows = 0;
    std::size_t lower = 0;      // rows in the triangle: all but the promoted ones
    std::size_t matrix = 0;     // offset of its rows * rows values
    std::size_t border = 0;     // offset of its rows * border values
    std::size_t variables = 0;  // its first in the list of variables by group
    std::size_t end = 0;
  };

  explicit NormalLayout(const LinearProgram& program);

  bool is_link(std::size_t row) const { return group_of[row] == groups.size(); }
  // Linking rows and promoted ones.
  bool in_border(std::size_t row) const { return border_place[row] != kNone; }
  const Group& group_with(std::size_t row) const { return groups[group_of[row]]; }
  // Takes the rows that were tightest in the last step, by dense column, out of their groups.
  void promote(const std::vector<std::size_t>& tightest);

  std::size_t links = 0;
  // The border: linking rows; for each dense column its promoted row; the dense columns.
  std::size_t border_rows = 0;
  std::size_t border = 0;
  std::size_t matrix_values = 0;  // of all groups
  std::size_t border_values = 0;
  std::vector<Group> groups;
  std::vector<std::size_t> group_of;      // of each row; past the last for linking rows
  std::vector<std::size_t> by_place;      // rows by group; those of dense columns last
  std::vector<std::size_t> lower;         // of each row: in its group's triangle now
  std::vector<std::size_t> place;         // of each row: of its group's first row plus that
  std::vector<std::size_t> border_place;  // of each row; kNone
  std::vector<std::size_t> by_group;      // variables that touch one group
  std::vector<std::size_t> loose;         // variables that touch none
  std::vector<std::size_t> wide;          // dense columns: variables that touch more than one
  std::vector<std::size_t> promoted;      // by dense column: its row now; kNone

 private:
  void find_groups(const LinearProgram& program);
  void order_variables(const LinearProgram& program);
  void order_rows(const LinearProgram& program);
  void count_lower(Group& group);
};

}  // namespace muster
