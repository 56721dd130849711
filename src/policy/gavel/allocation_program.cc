#include "policy/gavel/allocation_program.h"

#include <algorithm>
#include <numeric>

#include "solve/interior_point.h"
#include "solve/simplex.h"

namespace muster {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

}  // namespace

LinearSolution solve_in_interior(const LinearProgram& program, double tolerance) {
  LinearSolution solution = solve_interior(program, {.tolerance = tolerance});
  if (solution.status == SolveStatus::kOptimal) return solution;
  // The simplex method also proves infeasibility, which the interior point method cannot.
  LinearSolution other = solve_simplex(program);
  return other.status == SolveStatus::kFailed ? solution : other;
}

LinearSolution solve_at_vertex(const LinearProgram& program, double /*tolerance*/) {
  return solve_simplex(program);
}

bool ProgramForm::asks_paired(const PairRates& rates) const {
  if (!(std::min(rates.first, rates.second) > 0)) return false;
  if (!(rates.first_alone > 0) || !(rates.second_alone > 0)) return true;
  return rates.first / rates.first_alone + rates.second / rates.second_alone > 1;
}

const ProgramForm& ProgramForm::reduced() {
  static const ProgramForm kReduced;
  return kReduced;
}

AllocationProgram::AllocationProgram(const AllocationProblem& problem,
                                     const std::vector<double>& rates,
                                     const std::vector<double>& keys, LinearSolver solver,
                                     const ProgramForm& form)
    : problem_(problem), solver_(solver), form_(&form), rates_(rates) {
  for (std::size_t i = 0; i < rates_.size(); ++i) {
    if (!(rates_[i] > 0) || problem.capacity[i % problem.types] <= 0) rates_[i] = 0;
  }
  merge(keys);
  // The symmetry argument must also hold for pairs; only then are merged optima optimal for the
  // unmerged program.
  if (problem.pairs.empty() || merge_pairs()) return;
  // Equal jobs of unequal pairs cannot be merged: every job becomes a class of its own.
  std::vector<double> apart(problem.jobs.size());
  std::iota(apart.begin(), apart.end(), 0.0);
  merge(apart);
  merge_pairs();
}

// Sorts jobs by GPUs, key and rates; equal neighbours are a class. Exact comparison: rates come
// from the same table entries or differ.
void AllocationProgram::merge(const std::vector<double>& keys) {
  const std::size_t w = problem_.types;
  const auto row = [&](std::size_t j) { return rates_.data() + j * w; };
  const auto compare = [&](std::size_t a, std::size_t b) {
    if (problem_.jobs[a].gpus != problem_.jobs[b].gpus) {
      return problem_.jobs[a].gpus < problem_.jobs[b].gpus ? -1 : 1;
    }
    if (keys[a] != keys[b]) return keys[a] < keys[b] ? -1 : 1;
    for (std::size_t i = 0; i < w; ++i) {
      if (row(a)[i] != row(b)[i]) return row(a)[i] < row(b)[i] ? -1 : 1;
    }
    return 0;
  };
  std::vector<std::size_t> order;
  class_of_.assign(problem_.jobs.size(), kNone);
  for (std::size_t j = 0; j < problem_.jobs.size(); ++j) {
    if (std::any_of(row(j), row(j) + w, [](double rate) { return rate > 0; })) order.push_back(j);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int sign = compare(a, b);
    return sign != 0 ? sign < 0 : a < b;
  });
  members_.clear();
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || compare(order[i - 1], order[i]) != 0) members_.emplace_back();
    members_.back().push_back(order[i]);
    class_of_[order[i]] = members_.size() - 1;
  }
}

// A class of pairs holds all pairs of two classes of jobs, or of one. The symmetry argument needs
// all of them there with equal rates, and within one class also equal rates of both members.
bool AllocationProgram::merge_pairs() {
  pair_classes_.clear();
  std::vector<std::size_t> found(classes() * classes(), kNone);
  bool equal = true;
  for (std::size_t p = 0; p < problem_.pairs.size(); ++p) {
    std::size_t a = class_of_[problem_.pairs[p].first];
    std::size_t b = class_of_[problem_.pairs[p].second];
    if (a == kNone || b == kNone) continue;
    const bool swapped = a > b;
    if (swapped) std::swap(a, b);
    std::size_t& at = found[a * classes() + b];
    if (at == kNone) {
      at = pair_classes_.size();
      pair_classes_.push_back({a, b, {}, swapped});
    }
    PairClass& one = pair_classes_[at];
    one.pairs.push_back(p);
    for (std::size_t w = 0; w < problem_.types && equal; ++w) {
      auto rates = problem_.pair_rate(p, w);
      if (swapped) std::swap(rates.first, rates.second);
      // A pair within one class is its own mirror image, so both members must have the same rate.
      const auto front = pair_rate(one, w);
      equal = rates == front && (a != b || front.first == front.second);
    }
  }
  return equal &&
         std::all_of(pair_classes_.begin(), pair_classes_.end(), [&](const PairClass& one) {
           const std::size_t a = members_[one.first].size();
           const std::size_t b = members_[one.second].size();
           // A symmetric orbit: all a b pairs of two classes, or all a (a - 1) / 2 pairs within
           // one.
           return one.pairs.size() == (one.first == one.second ? a * (a - 1) / 2 : a * b);
         });
}

double AllocationProgram::fastest(std::size_t c) const {
  double most = 0;
  for (std::size_t w = 0; w < problem_.types; ++w) most = std::max(most, rate(c, w));
  return most;
}

// Of a job of the first class, and of the second.
std::pair<double, double> AllocationProgram::pair_rate(const PairClass& pair,
                                                       std::size_t column) const {
  auto rates = problem_.pair_rate(pair.pairs.front(), column);
  if (pair.swapped) std::swap(rates.first, rates.second);
  return rates;
}

bool AllocationProgram::asked(const PairClass& pair, const std::pair<double, double>& rates,
                              std::size_t column) const {
  return problem_.capacity[column] > 0 &&
         form_->asks_paired(
             {rates.first, rates.second, rate(pair.first, column), rate(pair.second, column)});
}

// Rows of the GPU types.
std::size_t AllocationProgram::type_rows() const {
  if (form_->has_empty_rows()) return problem_.types;
  return static_cast<std::size_t>(std::count_if(problem_.capacity.begin(), problem_.capacity.end(),
                                                [](int gpus) { return gpus > 0; }));
}

AllocationProgram::Answer AllocationProgram::solve(const Objective& objective, double tolerance) {
  // The program has O(classes types) variables, however many jobs there are.
  const LinearProgram program = build(objective);
  LinearSolution solution = solver_(program, tolerance);
  Answer answer;
  answer.status = solution.status;
  if (solution.status != SolveStatus::kOptimal) return answer;
  const auto begin = static_cast<std::ptrdiff_t>(first_row());
  const auto end = begin + static_cast<std::ptrdiff_t>(objective.rows.size());
  // Duals and slacks of the objective's rows alone; a positive dual marks a row that is tight in
  // every optimum, a bottleneck.
  answer.value = solution.cost;
  answer.duals.assign(solution.duals.begin() + begin, solution.duals.begin() + end);
  answer.slack.assign(solution.slack.begin() + begin, solution.slack.begin() + end);
  if (objective.level_cost != 0) answer.level = solution.x.back();
  accept(program, std::move(solution.x));
  // Variables are in the order in which build() adds them: classes alone, then pairs.
  answer.throughput.assign(classes(), 0.0);
  std::size_t v = 0;
  for (std::size_t c = 0; c < classes(); ++c) {
    for (std::size_t w = 0; w < problem_.types; ++w) {
      if (asked(rate(c, w), w)) answer.throughput[c] += rate(c, w) * x_[v++];
    }
  }
  for (const PairClass& pair : pair_classes_) {
    for (std::size_t w = 0; w < problem_.types; ++w) {
      const auto rates = pair_rate(pair, w);
      if (!asked(pair, rates, w)) continue;
      const double time = x_[v++] * unit(pair);
      // A pair's time is that of all its copies; each member class divides it among its jobs.
      answer.throughput[pair.first] += rates.first * time / copies(pair.first);
      answer.throughput[pair.second] += rates.second * time / copies(pair.second);
    }
  }
  return answer;
}

void AllocationProgram::accept(const LinearProgram& program, std::vector<double> x) {
  x_ = std::move(x);
  if (form_->cleans()) enforce_capacity(program);
}

// Scales down what rounding gave beyond the capacity of GPUs and of time.
void AllocationProgram::enforce_capacity(const LinearProgram& program) {
  const std::size_t rows = type_rows() + classes();
  std::vector<double> used(rows, 0.0);
  const auto each_term = [&](const auto& visit) {
    for (std::size_t v = 0; v < x_.size(); ++v) {
      for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
        if (program.terms[t].row < rows) visit(v, program.terms[t]);
      }
    }
  };
  each_term([&](std::size_t v, const LinearProgram::Term& term) {
    used[term.row] += term.value * x_[v];
  });
  std::vector<double> part(x_.size(), 1.0);
  each_term([&](std::size_t v, const LinearProgram::Term& term) {
    const double bound = program.bounds[term.row];
    // The tightest of a variable's rows decides; scaling down can violate no other row, as all
    // coefficients are positive.
    if (used[term.row] > bound) part[v] = std::min(part[v], bound / used[term.row]);
  });
  for (std::size_t v = 0; v < x_.size(); ++v) x_[v] *= part[v];
}

void AllocationProgram::write(Allocation& allocation) const {
  const std::size_t types = problem_.types;
  // What is left of a variable that is zero in the best answer would count as a claim.
  const double least = form_->cleans() ? 1e-7 : 0;
  const auto fraction = [least](double x) { return x < least ? 0 : std::clamp(x, 0.0, 1.0); };
  std::size_t v = 0;
  for (std::size_t c = 0; c < classes(); ++c) {
    for (std::size_t w = 0; w < types; ++w) {
      if (!asked(rate(c, w), w)) continue;
      const double part = fraction(x_[v++]);
      // Symmetry: all members of a class get the mean of their optimal fractions.
      for (const std::size_t j : members_[c]) allocation.alone[j * types + w] = part;
    }
  }
  for (const PairClass& pair : pair_classes_) {
    for (std::size_t w = 0; w < types; ++w) {
      if (!asked(pair, pair_rate(pair, w), w)) continue;
      const double time = x_[v++] * unit(pair);
      const double part = fraction(time / static_cast<double>(pair.pairs.size()));
      for (const std::size_t p : pair.pairs) allocation.paired[p * types + w] = part;
    }
  }
}

}  // namespace muster
