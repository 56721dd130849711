#include "solve/balance.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace muster {

Balance balance_of(const LinearProgram& program, const std::vector<char>& free, bool stepwise) {
  constexpr int kRounds = 3;
  constexpr double kNothing = 1e-6;
  const std::size_t n = program.variables();
  Balance balance{std::vector<double>(program.rows(), 1.0),
                  std::vector<double>(n, 1.0),
                  std::vector<double>(n, 1.0),
                  {}};
  const auto root = [](double most) { return most < kNothing ? 1 : std::sqrt(most); };
  for (const LinearProgram::Term& term : program.terms) {
    if (stepwise) balance.terms.push_back(std::abs(term.value) / term.copies);
  }
  const auto entry = [&](std::size_t v, std::size_t t) {
    if (stepwise) return balance.terms[t];
    const LinearProgram::Term& term = program.terms[t];
    return std::abs(term.value) / term.copies / (balance.rows[term.row] * balance.columns[v]);
  };
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> rows(program.rows(), 0.0);
    std::vector<double> columns(n, 0.0);
    std::vector<double> signs(n, 0.0);
    for (std::size_t v = 0; v < n; ++v) {
      for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
        const double size = entry(v, t);
        rows[program.terms[t].row] = std::max(rows[program.terms[t].row], size);
        columns[v] = std::max(columns[v], size);
      }
      if (free[v] != 0) continue;
      signs[v] = 1 / (balance.signs[v] * balance.columns[v]);
      columns[v] = std::max(columns[v], signs[v]);
    }
    for (const std::size_t r : program.cones) {
      rows[r] = rows[r + 1] = rows[r + 2] = rows[r] + rows[r + 1] + rows[r + 2];
    }
    for (std::size_t r = 0; r < rows.size(); ++r) balance.rows[r] *= root(rows[r]);
    for (std::size_t v = 0; v < n; ++v) {
      balance.columns[v] *= root(columns[v]);
      balance.signs[v] *= root(signs[v]);
      for (std::size_t t = program.first_term(v); stepwise && t < program.last_term(v); ++t) {
        balance.terms[t] /= root(rows[program.terms[t].row]);
        balance.terms[t] /= root(columns[v]);
      }
    }
  }
  return balance;
}

LinearProgram balanced(LinearProgram program, const Balance& balance) {
  for (std::size_t v = 0; v < program.variables(); ++v) {
    for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
      LinearProgram::Term& term = program.terms[t];
      if (balance.terms.empty()) {
        term.value /= balance.rows[term.row] * balance.columns[v];
      } else {
        term.value = std::copysign(balance.terms[t] * term.copies, term.value);
      }
    }
    program.costs[v] /= balance.columns[v] * program.variable_copies[v];
  }
  for (std::size_t r = 0; r < program.rows(); ++r) program.bounds[r] /= balance.rows[r];
  return program;
}

std::vector<char> free_variables(const LinearProgram& program) {
  std::vector<char> free(program.variables(), 0);
  for (const std::size_t v : program.shared) free[v] = 1;
  for (const std::size_t v : program.free) free[v] = 1;
  return free;
}

LinearProgram spread(LinearProgram program) {
  if (program.cones.empty()) return program;
  std::vector<std::size_t> cone_of(program.rows(), program.rows());
  for (const std::size_t r : program.cones) cone_of[r] = cone_of[r + 1] = cone_of[r + 2] = r;
  std::vector<LinearProgram::Term> terms;
  std::vector<std::size_t> starts;
  for (std::size_t v = 0; v < program.variables(); ++v) {
    starts.push_back(terms.size());
    for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
      const LinearProgram::Term& term = program.terms[t];
      const std::size_t cone = cone_of[term.row];
      if (cone == program.rows()) {
        terms.push_back(term);
        continue;
      }
      if (terms.size() < starts.back() + 3 || terms.back().row != cone + 2) {
        for (std::size_t i = 0; i < 3; ++i) {
          terms.push_back({static_cast<std::uint32_t>(cone + i), term.copies, 0});
        }
      }
      terms[terms.size() - 3 + term.row - cone].value = term.value;
    }
  }
  program.terms = std::move(terms);
  program.starts = std::move(starts);
  return program;
}

}  // namespace muster
