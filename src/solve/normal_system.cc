#include "solve/normal_system.h"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

// Cholesky in place, lower triangle, row by row.
bool cholesky(double* a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    double* row_j = a + j * n;
    double pivot = row_j[j];
    const double before = pivot;
    for (std::size_t k = 0; k < j; ++k) pivot -= row_j[k] * row_j[k];
    // What is left of the pivot is rounding: the row depends on others, its price does not matter.
    if (!(pivot > 1e-15 * before)) pivot = before > 0 ? 1e30 * before : 1;
    if (!std::isfinite(pivot)) return false;
    row_j[j] = std::sqrt(pivot);
    const double inverse = 1 / row_j[j];
    for (std::size_t i = j + 1; i < n; ++i) {
      double* row_i = a + i * n;
      double sum = row_i[j];
      for (std::size_t k = 0; k < j; ++k) sum -= row_i[k] * row_j[k];
      row_i[j] = sum * inverse;
    }
  }
  return true;
}

void forward(const double* a, std::size_t n, double* x) {
  for (std::size_t i = 0; i < n; ++i) {
    double sum = x[i];
    for (std::size_t k = 0; k < i; ++k) sum -= a[i * n + k] * x[k];
    x[i] = sum / a[i * n + i];
  }
}

void backward(const double* a, std::size_t n, double* x) {
  for (std::size_t i = n; i-- > 0;) {
    double sum = x[i];
    for (std::size_t k = i + 1; k < n; ++k) sum -= a[k * n + i] * x[k];
    x[i] = sum / a[i * n + i];
  }
}

}  // namespace

NormalSystem::NormalSystem(const LinearProgram& program) : program_(program) {
  const std::size_t rows = program.rows();
  std::int32_t most = -1;
  for (const std::int32_t group : program.groups) most = std::max(most, group);
  groups_.resize(static_cast<std::size_t>(most + 1));
  for (const std::int32_t group : program.groups) {
    if (group != LinearProgram::kLinking) {
      ++groups_[static_cast<std::size_t>(group)].rows;
    } else {
      ++links_;
    }
  }
  std::size_t first = 0;
  std::size_t matrix = 0;
  std::size_t border = 0;
  for (Group& group : groups_) {
    group.first = first;
    group.matrix = matrix;
    group.border = border;
    first += group.rows;
    matrix += group.rows * group.rows;
    border += group.rows * links_;
  }
  matrices_.resize(matrix);
  borders_.resize(border);
  link_.resize(links_ * links_);
  place_.resize(rows);
  group_of_.resize(rows);
  std::vector<std::size_t> next(groups_.size() + 1, 0);
  for (std::size_t r = 0; r < rows; ++r) {
    const bool linking = program.groups[r] == LinearProgram::kLinking;
    const std::size_t group =
        linking ? groups_.size() : static_cast<std::size_t>(program.groups[r]);
    group_of_[r] = group;
    place_[r] = next[group]++;
  }
  is_wide_.resize(program.variables(), 0);
  for (std::size_t v = 0; v < program.variables(); ++v) {
    std::size_t seen = groups_.size();
    for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
      const std::size_t group = group_of_[program.terms[t].row];
      if (group == groups_.size()) continue;
      if (seen != groups_.size() && seen != group) is_wide_[v] = 1;
      seen = group;
    }
    if (is_wide_[v] != 0) wide_.push_back(v);
  }
  ordered_.resize(rows);
}

void NormalSystem::add_variable(std::size_t variable, double d) {
  const std::size_t begin = program_.first_term(variable);
  const std::size_t end = program_.last_term(variable);
  for (std::size_t i = begin; i < end; ++i) {
    const LinearProgram::Term& a = program_.terms[i];
    const std::size_t group = group_of_[a.row];
    const double scaled = d * a.value;
    for (std::size_t k = begin; k < end; ++k) {
      const LinearProgram::Term& b = program_.terms[k];
      const bool b_links = group_of_[b.row] == groups_.size();
      if (group == groups_.size()) {
        if (b_links && place_[b.row] <= place_[a.row]) {
          link_[place_[a.row] * links_ + place_[b.row]] += scaled * b.value;
        }
      } else if (b_links) {
        borders_[groups_[group].border + place_[a.row] * links_ + place_[b.row]] +=
            scaled * b.value;
      } else if (place_[b.row] <= place_[a.row]) {
        matrices_[groups_[group].matrix + place_[a.row] * groups_[group].rows + place_[b.row]] +=
            scaled * b.value;
      }
    }
  }
}

bool NormalSystem::factor(const std::vector<double>& d, const std::vector<double>& f) {
  d_ = d;
  f_ = f;
  std::fill(matrices_.begin(), matrices_.end(), 0.0);
  std::fill(borders_.begin(), borders_.end(), 0.0);
  std::fill(link_.begin(), link_.end(), 0.0);
  for (std::size_t v = 0; v < program_.variables(); ++v) {
    if (is_wide_[v] == 0) add_variable(v, d[v]);
  }
  for (std::size_t r = 0; r < program_.rows(); ++r) {
    const std::size_t at = place_[r];
    if (group_of_[r] == groups_.size()) {
      link_[at * links_ + at] += f[r];
    } else {
      const Group& group = groups_[group_of_[r]];
      matrices_[group.matrix + at * group.rows + at] += f[r];
    }
  }
  if (!factor_groups()) return false;
  if (wide_.empty()) return true;
  // Variables that touch many groups come on top: (M + V D V')^-1 by Woodbury's formula.
  const std::size_t rows = program_.rows();
  wide_solution_.assign(wide_.size() * rows, 0.0);
  std::vector<double> column(rows);
  for (std::size_t k = 0; k < wide_.size(); ++k) {
    std::fill(column.begin(), column.end(), 0.0);
    for (std::size_t t = program_.first_term(wide_[k]); t < program_.last_term(wide_[k]); ++t) {
      column[program_.terms[t].row] = program_.terms[t].value;
    }
    solve_core(column);
    std::copy(column.begin(), column.end(),
              wide_solution_.begin() + static_cast<std::ptrdiff_t>(k * rows));
  }
  wide_matrix_.assign(wide_.size() * wide_.size(), 0.0);
  for (std::size_t i = 0; i < wide_.size(); ++i) {
    for (std::size_t k = 0; k <= i; ++k) {
      double sum = i == k ? 1 / d[wide_[i]] : 0;
      for (std::size_t t = program_.first_term(wide_[i]); t < program_.last_term(wide_[i]); ++t) {
        sum += program_.terms[t].value * wide_solution_[k * rows + program_.terms[t].row];
      }
      wide_matrix_[i * wide_.size() + k] = sum;
    }
  }
  return cholesky(wide_matrix_.data(), wide_.size());
}

bool NormalSystem::factor_groups() {
  eliminated_ = borders_;
  std::vector<double> column;
  for (const Group& group : groups_) {
    double* matrix = matrices_.data() + group.matrix;
    if (!cholesky(matrix, group.rows)) return false;
    // Forward elimination of all border columns at once, row by row.
    for (std::size_t i = 0; i < group.rows; ++i) {
      double* row = eliminated_.data() + group.border + i * links_;
      for (std::size_t k = 0; k < i; ++k) {
        const double factor = matrix[i * group.rows + k];
        const double* above = eliminated_.data() + group.border + k * links_;
        for (std::size_t l = 0; l < links_; ++l) row[l] -= factor * above[l];
      }
      for (std::size_t l = 0; l < links_; ++l) row[l] /= matrix[i * group.rows + i];
      for (std::size_t a = 0; a < links_; ++a) {
        for (std::size_t b = 0; b <= a; ++b) link_[a * links_ + b] -= row[a] * row[b];
      }
    }
  }
  return links_ == 0 || cholesky(link_.data(), links_);
}

// Without the wide variables; y is by rows on both sides.
void NormalSystem::solve_core(std::vector<double>& y) const {
  std::vector<double> link(links_, 0.0);
  std::vector<double> ordered(y.size());
  for (std::size_t r = 0; r < y.size(); ++r) {
    if (group_of_[r] == groups_.size()) {
      link[place_[r]] = y[r];
    } else {
      ordered[groups_[group_of_[r]].first + place_[r]] = y[r];
    }
  }
  for (const Group& group : groups_) {
    double* part = ordered.data() + group.first;
    forward(matrices_.data() + group.matrix, group.rows, part);
    for (std::size_t i = 0; i < group.rows; ++i) {
      const double* row = eliminated_.data() + group.border + i * links_;
      for (std::size_t l = 0; l < links_; ++l) link[l] -= row[l] * part[i];
    }
  }
  if (links_ > 0) {
    forward(link_.data(), links_, link.data());
    backward(link_.data(), links_, link.data());
  }
  for (const Group& group : groups_) {
    double* part = ordered.data() + group.first;
    for (std::size_t i = 0; i < group.rows; ++i) {
      const double* row = eliminated_.data() + group.border + i * links_;
      for (std::size_t l = 0; l < links_; ++l) part[i] -= row[l] * link[l];
    }
    backward(matrices_.data() + group.matrix, group.rows, part);
  }
  for (std::size_t r = 0; r < y.size(); ++r) {
    y[r] = group_of_[r] == groups_.size() ? link[place_[r]]
                                          : ordered[groups_[group_of_[r]].first + place_[r]];
  }
}

void NormalSystem::solve(const std::vector<double>& right, std::vector<double>& y) {
  y = right;
  solve_once(y);
  // Near the end the numbers differ by many orders of magnitude, and the wide variables cancel:
  // what is missing is computed and solved for again.
  constexpr int kRefinements = 3;
  for (int i = 0; i < kRefinements; ++i) {
    ordered_ = right;
    subtract_product(y, ordered_);
    solve_once(ordered_);
    for (std::size_t r = 0; r < y.size(); ++r) y[r] += ordered_[r];
  }
}

// left -= (E D E' + F) y.
void NormalSystem::subtract_product(const std::vector<double>& y, std::vector<double>& left) const {
  for (std::size_t r = 0; r < y.size(); ++r) left[r] -= f_[r] * y[r];
  for (std::size_t v = 0; v < program_.variables(); ++v) {
    double sum = 0;
    for (std::size_t t = program_.first_term(v); t < program_.last_term(v); ++t) {
      sum += program_.terms[t].value * y[program_.terms[t].row];
    }
    sum *= d_[v];
    for (std::size_t t = program_.first_term(v); t < program_.last_term(v); ++t) {
      left[program_.terms[t].row] -= program_.terms[t].value * sum;
    }
  }
}

void NormalSystem::solve_once(std::vector<double>& y) const {
  solve_core(y);
  if (wide_.empty()) return;
  const std::size_t rows = program_.rows();
  std::vector<double> part(wide_.size());
  for (std::size_t k = 0; k < wide_.size(); ++k) {
    for (std::size_t t = program_.first_term(wide_[k]); t < program_.last_term(wide_[k]); ++t) {
      part[k] += program_.terms[t].value * y[program_.terms[t].row];
    }
  }
  forward(wide_matrix_.data(), wide_.size(), part.data());
  backward(wide_matrix_.data(), wide_.size(), part.data());
  for (std::size_t k = 0; k < wide_.size(); ++k) {
    for (std::size_t r = 0; r < rows; ++r) y[r] -= part[k] * wide_solution_[k * rows + r];
  }
}

}  // namespace muster
