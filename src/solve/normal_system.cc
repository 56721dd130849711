#include "solve/normal_system.h"

#include <algorithm>
#include <cmath>

#include "solve/dense_factor.h"

namespace muster {
namespace {

// Groups up to this many rows are triangulated by reflections, which cost more than Cholesky's
// method.
constexpr std::size_t kSmall = 8;

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

}  // namespace

NormalSystem::NormalSystem(const LinearProgram& program) : program_(program) {
  find_groups();
  order_variables();
  order_rows();
  rows_tied_ = links_ + wide_.size();
  ties_ = rows_tied_ + wide_.size();
  tightest_.assign(wide_.size(), kNone);
  promoted_.assign(wide_.size(), kNone);
  std::size_t matrix = 0;
  std::size_t border = 0;
  for (Group& group : groups_) {
    group.matrix = matrix;
    group.border = border;
    matrix += group.rows * group.rows;
    border += group.rows * ties_;
  }
  matrices_.resize(matrix);
  borders_.resize(border);
  tie_.resize(ties_ * ties_);
}

void NormalSystem::find_groups() {
  std::int32_t most = -1;
  for (const std::int32_t group : program_.groups) most = std::max(most, group);
  groups_.resize(static_cast<std::size_t>(most) + 1);
  for (const std::int32_t group : program_.groups) {
    group_of_.push_back(group == LinearProgram::kLinking ? groups_.size()
                                                         : static_cast<std::size_t>(group));
  }
}

// Rows of wide variables come last in their groups, where their pivots say how tight they are.
void NormalSystem::order_rows() {
  std::vector<char> is_wide(program_.rows(), 0);
  for (const std::size_t v : wide_) {
    for (std::size_t t = program_.first_term(v); t < program_.last_term(v); ++t) {
      is_wide[program_.terms[t].row] = 1;
    }
  }
  tie_place_.assign(program_.rows(), kNone);
  for (std::size_t r = 0; r < program_.rows(); ++r) {
    if (is_link(r)) {
      tie_place_[r] = links_++;
    } else {
      ++groups_[group_of_[r]].rows;
    }
  }
  std::size_t first = 0;
  for (Group& group : groups_) {
    group.first = first;
    first += group.rows;
  }
  by_place_.resize(first);
  std::vector<std::size_t> filled(groups_.size(), 0);
  for (const int wide : {0, 1}) {
    for (std::size_t r = 0; r < program_.rows(); ++r) {
      if (is_link(r) || is_wide[r] != wide) continue;
      const std::size_t group = group_of_[r];
      by_place_[groups_[group].first + filled[group]++] = r;
    }
  }
  lower_.resize(program_.rows());
  place_.resize(program_.rows());
  for (Group& group : groups_) count_lower(group);
}

void NormalSystem::order_variables() {
  std::vector<std::size_t> home(program_.variables(), groups_.size());
  for (std::size_t v = 0; v < program_.variables(); ++v) {
    bool wide =
        std::find(program_.shared.begin(), program_.shared.end(), v) != program_.shared.end();
    for (std::size_t t = program_.first_term(v); t < program_.last_term(v); ++t) {
      const std::size_t row = program_.terms[t].row;
      if (is_link(row)) continue;
      wide = wide || (home[v] != groups_.size() && home[v] != group_of_[row]);
      home[v] = group_of_[row];
    }
    if (wide) {
      wide_.push_back(v);
      home[v] = groups_.size();
    } else if (home[v] == groups_.size()) {
      loose_.push_back(v);
    } else {
      ++groups_[home[v]].end;
    }
  }
  std::size_t next = 0;
  for (Group& group : groups_) {
    group.variables = next;
    next += group.end;
    group.end = group.variables;
  }
  by_group_.resize(next);
  for (std::size_t v = 0; v < program_.variables(); ++v) {
    if (home[v] != groups_.size()) by_group_[groups_[home[v]].end++] = v;
  }
}

// Takes the rows that were tightest in the last step out of their groups.
void NormalSystem::promote() {
  for (std::size_t k = 0; k < wide_.size(); ++k) {
    const std::size_t row = tightest_[k];
    if (row == kNone || row == promoted_[k] || is_tie(row)) continue;
    const std::size_t before = promoted_[k];
    promoted_[k] = row;
    tie_place_[row] = links_ + k;
    count_lower(groups_[group_of_[row]]);
    if (before == kNone) continue;
    tie_place_[before] = kNone;
    count_lower(groups_[group_of_[before]]);
  }
}

void NormalSystem::count_lower(Group& group) {
  group.lower = 0;
  for (std::size_t i = 0; i < group.rows; ++i) {
    const std::size_t row = by_place_[group.first + i];
    if (is_tie(row)) continue;
    place_[row] = group.first + group.lower;
    lower_[row] = group.lower++;
  }
}

bool NormalSystem::factor(const std::vector<double>& d, const std::vector<double>& f) {
  d_ = d;
  f_ = f;
  promote();
  std::fill(matrices_.begin(), matrices_.end(), 0.0);
  std::fill(borders_.begin(), borders_.end(), 0.0);
  std::fill(tie_.begin(), tie_.end(), 0.0);
  for (const std::size_t v : loose_) add_variable(v, d[v]);
  for (std::size_t k = 0; k < wide_.size(); ++k) {
    const std::size_t empty = links_ + k;
    if (promoted_[k] == kNone) tie_[empty * ties_ + empty] = 1;
    const std::size_t at = rows_tied_ + k;
    tie_[at * ties_ + at] = -1 / d[wide_[k]];
    for (std::size_t t = program_.first_term(wide_[k]); t < program_.last_term(wide_[k]); ++t) {
      const LinearProgram::Term& term = program_.terms[t];
      if (is_tie(term.row)) {
        tie_[at * ties_ + tie_place_[term.row]] += term.value;
      } else {
        borders_[groups_[group_of_[term.row]].border + lower_[term.row] * ties_ + at] = term.value;
      }
    }
  }
  for (std::size_t r = 0; r < program_.rows(); ++r) {
    if (is_tie(r)) {
      tie_[tie_place_[r] * ties_ + tie_place_[r]] += f[r];
    } else {
      const Group& group = groups_[group_of_[r]];
      matrices_[group.matrix + lower_[r] * group.lower + lower_[r]] = f[r];
    }
  }
  for (const Group& group : groups_) {
    if (group.lower <= kSmall) {
      reflect(group);
    } else if (!eliminate(group)) {
      return false;
    }
    tie_wide(group);
  }
  find_tightest();
  return factor_ties();
}

// The outer product of a variable's terms, into its group (lower triangle), its border and ties.
void NormalSystem::add_variable(std::size_t variable, double d) {
  placed_.clear();
  const Group* group = nullptr;
  for (std::size_t t = program_.first_term(variable); t < program_.last_term(variable); ++t) {
    const LinearProgram::Term& term = program_.terms[t];
    const std::size_t tie = tie_place_[term.row];
    if (tie == kNone) group = &groups_[group_of_[term.row]];
    placed_.push_back({tie != kNone, tie != kNone ? tie : lower_[term.row], term.value});
  }
  for (const Placed& a : placed_) {
    const double scaled = d * a.value;
    if (a.ties) {
      double* row = tie_.data() + a.place * ties_;
      for (const Placed& b : placed_) {
        if (b.ties && b.place <= a.place) row[b.place] += scaled * b.value;
      }
      continue;
    }
    double* row = matrices_.data() + group->matrix + a.place * group->lower;
    double* border = borders_.data() + group->border + a.place * ties_;
    for (const Placed& b : placed_) {
      if (b.ties) {
        border[b.place] += scaled * b.value;
      } else if (b.place <= a.place) {
        row[b.place] += scaled * b.value;
      }
    }
  }
}

// A small group: the square roots of D and F times its columns, one above the other, are reflected
// to a triangle. What is left below it, in the columns of the linking rows, is what they see of the
// group.
void NormalSystem::reflect(const Group& group) {
  const std::size_t rows = group.lower;
  const std::size_t width = rows + rows_tied_;
  const std::size_t height = group.end - group.variables + rows;
  stack_.assign(height * width, 0.0);
  parts_.resize(std::max(parts_.size(), width));
  for (std::size_t i = group.variables; i < group.end; ++i) {
    const std::size_t v = by_group_[i];
    const double root = std::sqrt(d_[v]);
    double* line = stack_.data() + (i - group.variables) * width;
    for (std::size_t t = program_.first_term(v); t < program_.last_term(v); ++t) {
      const LinearProgram::Term& term = program_.terms[t];
      line[is_tie(term.row) ? rows + tie_place_[term.row] : lower_[term.row]] += root * term.value;
    }
  }
  double* matrix = matrices_.data() + group.matrix;
  for (std::size_t r = 0; r < rows; ++r) {
    stack_[(height - rows + r) * width + r] = std::sqrt(matrix[r * rows + r]);
  }
  for (std::size_t c = 0; c < rows; ++c) {
    // The largest line goes first: small ones would drown in the others.
    std::size_t best = c;
    for (std::size_t i = c + 1; i < height; ++i) {
      if (std::abs(stack_[i * width + c]) > std::abs(stack_[best * width + c])) best = i;
    }
    double* head = stack_.data() + c * width;
    if (best != c) {
      std::swap_ranges(head + c, head + width,
                       stack_.begin() + static_cast<std::ptrdiff_t>(best * width + c));
    }
    double below = 0;
    for (std::size_t i = c + 1; i < height; ++i) {
      below += stack_[i * width + c] * stack_[i * width + c];
    }
    const double norm = std::copysign(std::sqrt(head[c] * head[c] + below), head[c]);
    const double first = head[c] + norm;
    if (below > 0) {
      // All columns at once, line by line.
      double* part = parts_.data();
      for (std::size_t k = c + 1; k < width; ++k) part[k] = head[k] * first;
      for (std::size_t i = c + 1; i < height; ++i) {
        const double* line = stack_.data() + i * width;
        const double factor = line[c];
        for (std::size_t k = c + 1; k < width; ++k) part[k] += factor * line[k];
      }
      for (std::size_t k = c + 1; k < width; ++k) {
        part[k] /= norm * first;
        head[k] -= part[k] * first;
      }
      for (std::size_t i = c + 1; i < height; ++i) {
        double* line = stack_.data() + i * width;
        const double factor = line[c];
        for (std::size_t k = c + 1; k < width; ++k) line[k] -= part[k] * factor;
      }
      head[c] = -norm;
    }
    for (std::size_t k = c; k < rows; ++k) matrix[k * rows + c] = head[k];
    for (std::size_t l = 0; l < rows_tied_; ++l) {
      borders_[group.border + c * ties_ + l] = head[rows + l];
    }
  }
  for (std::size_t i = rows; i < height; ++i) {
    const double* line = stack_.data() + i * width + rows;
    for (std::size_t a = 0; a < rows_tied_; ++a) {
      for (std::size_t b = 0; b <= a; ++b) tie_[a * ties_ + b] += line[a] * line[b];
    }
  }
}

// A large group, by Cholesky's method.
bool NormalSystem::eliminate(const Group& group) {
  for (std::size_t i = group.variables; i < group.end; ++i) {
    add_variable(by_group_[i], d_[by_group_[i]]);
  }
  double* matrix = matrices_.data() + group.matrix;
  if (!cholesky(matrix, group.lower)) return false;
  for (std::size_t i = 0; i < group.lower; ++i) {
    double* row = borders_.data() + group.border + i * ties_;
    for (std::size_t k = 0; k < i; ++k) {
      const double factor = matrix[i * group.lower + k];
      const double* above = borders_.data() + group.border + k * ties_;
      for (std::size_t l = 0; l < rows_tied_; ++l) row[l] -= factor * above[l];
    }
    for (std::size_t l = 0; l < rows_tied_; ++l) row[l] /= matrix[i * group.lower + i];
    for (std::size_t a = 0; a < rows_tied_; ++a) {
      for (std::size_t b = 0; b <= a; ++b) tie_[a * ties_ + b] -= row[a] * row[b];
    }
  }
  return true;
}

// The columns of the wide variables in a group's border, and what the group does to their ties.
void NormalSystem::tie_wide(const Group& group) {
  const double* matrix = matrices_.data() + group.matrix;
  for (std::size_t i = 0; i < group.lower && rows_tied_ < ties_; ++i) {
    double* row = borders_.data() + group.border + i * ties_;
    for (std::size_t k = 0; k < i; ++k) {
      const double factor = matrix[i * group.lower + k];
      const double* above = borders_.data() + group.border + k * ties_;
      for (std::size_t l = rows_tied_; l < ties_; ++l) row[l] -= factor * above[l];
    }
    for (std::size_t l = rows_tied_; l < ties_; ++l) row[l] /= matrix[i * group.lower + i];
    for (std::size_t a = rows_tied_; a < ties_; ++a) {
      for (std::size_t b = 0; b <= a; ++b) tie_[a * ties_ + b] -= row[a] * row[b];
    }
  }
}

// The row that holds a wide variable back is the one with the least pivot.
void NormalSystem::find_tightest() {
  for (std::size_t k = 0; k < wide_.size(); ++k) {
    double least = HUGE_VAL;
    for (std::size_t t = program_.first_term(wide_[k]); t < program_.last_term(wide_[k]); ++t) {
      const LinearProgram::Term& term = program_.terms[t];
      double pivot = HUGE_VAL;
      if (!is_tie(term.row)) {
        const Group& group = groups_[group_of_[term.row]];
        const double root = matrices_[group.matrix + lower_[term.row] * (group.lower + 1)];
        pivot = root * root;
      } else if (term.row == promoted_[k]) {
        pivot = tie_[(links_ + k) * (ties_ + 1)];
      }
      pivot /= term.value * term.value;
      if (pivot < least) {
        least = pivot;
        tightest_[k] = term.row;
      }
    }
  }
}

// Gauss' elimination with the largest pivot of each column, rows and columns scaled to a diagonal
// of ones.
bool NormalSystem::factor_ties() {
  tie_scale_.resize(ties_);
  tie_row_.resize(ties_);
  for (std::size_t i = 0; i < ties_; ++i) {
    const double size = std::abs(tie_[i * ties_ + i]);
    tie_scale_[i] = size > 0 ? 1 / std::sqrt(size) : 1;
    tie_row_[i] = i;
  }
  for (std::size_t i = 0; i < ties_; ++i) {
    for (std::size_t k = 0; k <= i; ++k) {
      tie_[i * ties_ + k] *= tie_scale_[i] * tie_scale_[k];
      tie_[k * ties_ + i] = tie_[i * ties_ + k];
    }
  }
  for (std::size_t c = 0; c < ties_; ++c) {
    std::size_t best = c;
    for (std::size_t i = c + 1; i < ties_; ++i) {
      if (std::abs(tie_[i * ties_ + c]) > std::abs(tie_[best * ties_ + c])) best = i;
    }
    const auto at = [&](std::size_t i) {
      return tie_.begin() + static_cast<std::ptrdiff_t>(i * ties_);
    };
    if (best != c) {
      std::swap_ranges(at(c), at(c + 1), at(best));
      std::swap(tie_row_[c], tie_row_[best]);
    }
    const double pivot = tie_[c * ties_ + c];
    if (!std::isfinite(pivot)) return false;
    // Nothing is left of the column: its tie depends on others, and is left alone.
    if (pivot == 0) tie_[c * ties_ + c] = 1e30;
    for (std::size_t i = c + 1; i < ties_; ++i) {
      const double factor = tie_[i * ties_ + c] /= tie_[c * ties_ + c];
      for (std::size_t k = c + 1; k < ties_; ++k)
        tie_[i * ties_ + k] -= factor * tie_[c * ties_ + k];
    }
  }
  return true;
}

void NormalSystem::solve_ties(std::vector<double>& right) {
  std::vector<double>& x = tie_answer_;
  x.resize(ties_);
  for (std::size_t i = 0; i < ties_; ++i) {
    x[i] = right[tie_row_[i]] * tie_scale_[tie_row_[i]];
    for (std::size_t k = 0; k < i; ++k) x[i] -= tie_[i * ties_ + k] * x[k];
  }
  for (std::size_t i = ties_; i-- > 0;) {
    for (std::size_t k = i + 1; k < ties_; ++k) x[i] -= tie_[i * ties_ + k] * x[k];
    x[i] /= tie_[i * ties_ + i];
  }
  for (std::size_t i = 0; i < ties_; ++i) right[i] = x[i] * tie_scale_[i];
}

// y is by rows on both sides, u by wide variables.
void NormalSystem::solve_once(std::vector<double>& y, std::vector<double>& u) {
  std::vector<double>& tie = tie_right_;
  tie.assign(ties_, 0.0);
  for (std::size_t k = 0; k < u.size(); ++k) tie[rows_tied_ + k] = u[k];
  std::vector<double>& ordered = ordered_;
  ordered.resize(y.size());
  for (std::size_t r = 0; r < y.size(); ++r) {
    if (is_tie(r)) {
      tie[tie_place_[r]] = y[r];
    } else {
      ordered[place_[r]] = y[r];
    }
  }
  for (const Group& group : groups_) {
    double* part = ordered.data() + group.first;
    solve_forward(matrices_.data() + group.matrix, group.lower, part);
    for (std::size_t i = 0; i < group.lower; ++i) {
      const double* row = borders_.data() + group.border + i * ties_;
      for (std::size_t l = 0; l < ties_; ++l) tie[l] -= row[l] * part[i];
    }
  }
  solve_ties(tie);
  for (const Group& group : groups_) {
    double* part = ordered.data() + group.first;
    for (std::size_t i = 0; i < group.lower; ++i) {
      part[i] -= dot(borders_.data() + group.border + i * ties_, tie.data(), ties_);
    }
    solve_backward(matrices_.data() + group.matrix, group.lower, part);
  }
  for (std::size_t r = 0; r < y.size(); ++r) {
    y[r] = is_tie(r) ? tie[tie_place_[r]] : ordered[place_[r]];
  }
  for (std::size_t k = 0; k < u.size(); ++k) u[k] = tie[rows_tied_ + k];
}

void NormalSystem::solve(const std::vector<double>& right, std::vector<double>& y) {
  y = right;
  std::vector<double> eliminated;
  solve_once(y, eliminated);
  // What rounding left over is solved for again, as long as that helps.
  constexpr int kRefinements = 2;
  constexpr double kExact = 1e-14;
  double before = HUGE_VAL;
  std::vector<double> kept;
  for (int i = 0; i <= kRefinements; ++i) {
    residual_ = right;
    subtract_product(y, residual_);
    const double left = largest(residual_);
    if (!(left < before)) {
      if (i > 0) y = kept;
      return;
    }
    if (i == kRefinements || left <= kExact * largest(right)) return;
    before = left;
    kept = y;
    solve_once(residual_, eliminated);
    for (std::size_t r = 0; r < y.size(); ++r) y[r] += residual_[r];
  }
}

double NormalSystem::dot_column(std::size_t variable, const std::vector<double>& rows) const {
  double sum = 0;
  for (std::size_t t = program_.first_term(variable); t < program_.last_term(variable); ++t) {
    sum += program_.terms[t].value * rows[program_.terms[t].row];
  }
  return sum;
}

// left -= (E D E' + F) y.
void NormalSystem::subtract_product(const std::vector<double>& y, std::vector<double>& left) const {
  for (std::size_t r = 0; r < y.size(); ++r) left[r] -= f_[r] * y[r];
  for (std::size_t v = 0; v < program_.variables(); ++v) {
    const std::size_t begin = program_.first_term(v);
    const std::size_t end = program_.last_term(v);
    const double sum = d_[v] * dot_column(v, y);
    for (std::size_t t = begin; t < end; ++t) {
      left[program_.terms[t].row] -= program_.terms[t].value * sum;
    }
  }
}

}  // namespace muster
