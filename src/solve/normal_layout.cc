#include "solve/normal_layout.h"

#include <algorithm>

namespace muster {

// Memory is laid out for the largest triangles, with no row promoted.
NormalLayout::NormalLayout(const LinearProgram& program) {
  find_groups(program);
  order_variables(program);
  order_rows(program);
  border_rows = links + wide.size();
  border = border_rows + wide.size();
  promoted.assign(wide.size(), kNone);
  for (Group& group : groups) {
    group.matrix = matrix_values;
    group.border = border_values;
    matrix_values += group.rows * group.rows;
    border_values += group.rows * border;
  }
}

// The groups that the program names.
void NormalLayout::find_groups(const LinearProgram& program) {
  std::int32_t most = -1;
  for (const std::int32_t group : program.groups) most = std::max(most, group);
  groups.resize(static_cast<std::size_t>(most) + 1);
  for (const std::int32_t group : program.groups) {
    group_of.push_back(group == LinearProgram::kLinking ? groups.size()
                                                        : static_cast<std::size_t>(group));
  }
}

// By the groups of their rows: none, one, or several. Those that are marked as shared count as
// touching several.
void NormalLayout::order_variables(const LinearProgram& program) {
  std::vector<std::size_t> home(program.variables(), groups.size());
  for (std::size_t v = 0; v < program.variables(); ++v) {
    bool is_wide =
        std::find(program.shared.begin(), program.shared.end(), v) != program.shared.end();
    for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
      const std::size_t row = program.terms[t].row;
      if (is_link(row)) continue;
      // A variable with rows in two groups would fill in the block between them, so it becomes a
      // dense column of the border (Wright, "Primal-Dual Interior-Point Methods", chapter 11, on
      // dense columns).
      is_wide = is_wide || (home[v] != groups.size() && home[v] != group_of[row]);
      home[v] = group_of[row];
    }
    if (is_wide) {
      wide.push_back(v);
      home[v] = groups.size();
    } else if (home[v] == groups.size()) {
      loose.push_back(v);
    } else {
      ++groups[home[v]].end;
    }
  }
  // A counting sort by group: `end` was the number of the group's variables until here.
  std::size_t next = 0;
  for (Group& group : groups) {
    group.variables = next;
    next += group.end;
    group.end = group.variables;
  }
  by_group.resize(next);
  for (std::size_t v = 0; v < program.variables(); ++v) {
    if (home[v] != groups.size()) by_group[groups[home[v]].end++] = v;
  }
}

// Rows of dense columns come last in their groups, where their pivots say how tight they are.
void NormalLayout::order_rows(const LinearProgram& program) {
  std::vector<char> has_wide(program.rows(), 0);
  for (const std::size_t v : wide) {
    for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
      has_wide[program.terms[t].row] = 1;
    }
  }
  border_place.assign(program.rows(), kNone);
  for (std::size_t r = 0; r < program.rows(); ++r) {
    if (is_link(r)) {
      border_place[r] = links++;
    } else {
      ++groups[group_of[r]].rows;
    }
  }
  std::size_t first = 0;
  for (Group& group : groups) {
    group.first = first;
    first += group.rows;
  }
  by_place.resize(first);
  std::vector<std::size_t> filled(groups.size(), 0);
  // Two passes: first the rows without dense columns, then those with one. A pivot at the end of
  // the elimination has had all other rows of the group subtracted, so it shows how tight its row
  // is.
  for (const int last : {0, 1}) {
    for (std::size_t r = 0; r < program.rows(); ++r) {
      if (is_link(r) || has_wide[r] != last) continue;
      const std::size_t group = group_of[r];
      by_place[groups[group].first + filled[group]++] = r;
    }
  }
  lower.resize(program.rows());
  place.resize(program.rows());
  for (Group& group : groups) count_lower(group);
}

// The row that was promoted before returns to its group. Only the places of the groups concerned
// are counted anew; offsets in memory stay.
void NormalLayout::promote(const std::vector<std::size_t>& tightest) {
  for (std::size_t k = 0; k < wide.size(); ++k) {
    const std::size_t row = tightest[k];
    if (row == kNone || row == promoted[k] || in_border(row)) continue;
    const std::size_t before = promoted[k];
    promoted[k] = row;
    border_place[row] = links + k;
    count_lower(groups[group_of[row]]);
    if (before == kNone) continue;
    border_place[before] = kNone;
    count_lower(groups[group_of[before]]);
  }
}

// Places in the triangle, for the rows that are left in the group.
void NormalLayout::count_lower(Group& group) {
  group.lower = 0;
  for (std::size_t i = 0; i < group.rows; ++i) {
    const std::size_t row = by_place[group.first + i];
    if (in_border(row)) continue;
    place[row] = group.first + group.lower;
    lower[row] = group.lower++;
  }
}

}  // namespace muster
