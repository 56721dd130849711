#include "policy/gavel/share_program.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "solve/interior_point.h"
#include "solve/simplex.h"

namespace muster {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

}  // namespace

ShareProgram::ShareProgram(const AllocationProblem& problem, const std::vector<double>& rates,
                           const std::vector<double>& keys)
    : problem_(problem), rates_(rates) {
  merge(keys);
  if (problem.pairs.empty() || merge_pairs()) return;
  // Some pairs of two classes may form and others not: then the jobs are not equal after all.
  std::vector<double> apart(problem.jobs.size());
  std::iota(apart.begin(), apart.end(), 0.0);
  merge(apart);
  merge_pairs();
}

void ShareProgram::merge(const std::vector<double>& keys) {
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

bool ShareProgram::merge_pairs() {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> found;
  pair_classes_.clear();
  for (std::size_t p = 0; p < problem_.pairs.size(); ++p) {
    std::size_t a = class_of_[problem_.pairs[p].first];
    std::size_t b = class_of_[problem_.pairs[p].second];
    if (a == kNone || b == kNone) continue;
    const bool swapped = a > b;
    if (swapped) std::swap(a, b);
    const auto [at, fresh] = found.emplace(std::pair(a, b), pair_classes_.size());
    if (fresh) pair_classes_.push_back({a, b, {}, p, swapped});
    pair_classes_[at->second].pairs.push_back(p);
  }
  return std::all_of(pair_classes_.begin(), pair_classes_.end(), [&](const PairClass& one) {
    const std::size_t a = members_[one.first].size();
    const std::size_t b = members_[one.second].size();
    return one.pairs.size() == (one.first == one.second ? a * (a - 1) / 2 : a * b);
  });
}

LinearProgram ShareProgram::build(const Wish& wish) const {
  LinearProgram program;
  const std::size_t types = problem_.types;
  const bool packs = !pair_classes_.empty();
  for (std::size_t w = 0; w < types; ++w) {
    program.add_row(problem_.capacity[w], packs ? 0 : LinearProgram::kLinking);
  }
  const auto group = [&](std::size_t c) { return packs ? 0 : static_cast<std::int32_t>(c); };
  for (std::size_t c = 0; c < classes(); ++c) program.add_row(1, group(c), copies(c));
  std::vector<std::vector<std::size_t>> rows_of(classes());
  for (std::size_t r = 0; r < wish.rows.size(); ++r) {
    const Row& row = wish.rows[r];
    rows_of[row.of_class].push_back(r);
    program.add_row(-row.least, group(row.of_class), copies(row.of_class));
  }
  const std::size_t first_row = types + classes();
  const bool capped = wish.level_cost != 0 && wish.most_level != kNever;
  if (capped) program.add_row(wish.most_level, packs ? 0 : LinearProgram::kLinking);
  const auto add_throughput = [&](std::size_t c, double rate) {
    for (const std::size_t r : rows_of[c]) {
      program.add_term(first_row + r, -wish.rows[r].scale * rate);
    }
  };
  const auto gain = [&](std::size_t w) { return wish.gains.empty() ? 0 : wish.gains[w]; };
  for (std::size_t c = 0; c < classes(); ++c) {
    for (std::size_t w = 0; w < types; ++w) {
      const double here = rate(c, w);
      if (!(here > 0)) continue;
      program.add_variable(-copies(c) * here * gain(w), copies(c));
      program.add_term(w, copies(c) * job(c).gpus);
      program.add_term(types + c, 1);
      add_throughput(c, here);
    }
  }
  for (const PairClass& pair : pair_classes_) {
    for (std::size_t w = 0; w < types; ++w) {
      auto [first, second] = problem_.pair_rate(pair.example, w);
      if (!(first > 0 && second > 0)) continue;
      if (pair.swapped) std::swap(first, second);
      // The variable is the time of all pairs of the two classes together.
      program.add_variable(-(first + second) * gain(w), static_cast<double>(pair.pairs.size()));
      program.add_term(w, job(pair.first).gpus);
      if (pair.first == pair.second) {
        program.add_term(types + pair.first, 2 / copies(pair.first));
        add_throughput(pair.first, (first + second) / copies(pair.first));
      } else {
        program.add_term(types + pair.first, 1 / copies(pair.first));
        program.add_term(types + pair.second, 1 / copies(pair.second));
        add_throughput(pair.first, first / copies(pair.first));
        add_throughput(pair.second, second / copies(pair.second));
      }
    }
  }
  if (wish.level_cost != 0) {
    program.add_variable(wish.level_cost);
    for (std::size_t r = 0; r < wish.rows.size(); ++r) {
      program.add_term(first_row + r, wish.rows[r].level);
    }
    if (capped) program.add_term(first_row + wish.rows.size(), 1);
  }
  return program;
}

ShareProgram::Answer ShareProgram::solve(const Wish& wish) {
  const LinearProgram program = build(wish);
  LinearSolution solution = solve_interior(program);
  if (solution.status != SolveStatus::kOptimal) {
    LinearSolution other = solve_simplex(program);
    if (other.status != SolveStatus::kFailed) solution = std::move(other);
  }
  Answer answer;
  answer.status = solution.status;
  if (solution.status != SolveStatus::kOptimal) return answer;
  const std::size_t first_row = problem_.types + classes();
  const auto begin = static_cast<std::ptrdiff_t>(first_row);
  const auto end = static_cast<std::ptrdiff_t>(first_row + wish.rows.size());
  answer.value = solution.cost;
  answer.prices.assign(solution.prices.begin() + begin, solution.prices.begin() + end);
  answer.slack.assign(solution.slack.begin() + begin, solution.slack.begin() + end);
  x_ = std::move(solution.x);
  if (wish.level_cost != 0) answer.level = x_.back();
  answer.throughput.assign(classes(), 0.0);
  std::size_t v = 0;
  for (std::size_t c = 0; c < classes(); ++c) {
    for (std::size_t w = 0; w < problem_.types; ++w) {
      if (rate(c, w) > 0) answer.throughput[c] += rate(c, w) * x_[v++];
    }
  }
  for (const PairClass& pair : pair_classes_) {
    for (std::size_t w = 0; w < problem_.types; ++w) {
      auto [first, second] = problem_.pair_rate(pair.example, w);
      if (!(first > 0 && second > 0)) continue;
      if (pair.swapped) std::swap(first, second);
      answer.throughput[pair.first] += first * x_[v] / copies(pair.first);
      answer.throughput[pair.second] += second * x_[v] / copies(pair.second);
      ++v;
    }
  }
  return answer;
}

void ShareProgram::write(Allocation& allocation) const {
  const std::size_t types = problem_.types;
  std::size_t v = 0;
  for (std::size_t c = 0; c < classes(); ++c) {
    for (std::size_t w = 0; w < types; ++w) {
      if (!(rate(c, w) > 0)) continue;
      const double part = std::clamp(x_[v++], 0.0, 1.0);
      for (const std::size_t j : members_[c]) allocation.alone[j * types + w] = part;
    }
  }
  for (const PairClass& pair : pair_classes_) {
    for (std::size_t w = 0; w < types; ++w) {
      const auto& [first, second] = problem_.pair_rate(pair.example, w);
      if (!(first > 0 && second > 0)) continue;
      const double part = std::clamp(x_[v++] / static_cast<double>(pair.pairs.size()), 0.0, 1.0);
      for (const std::size_t p : pair.pairs) allocation.paired[p * types + w] = part;
    }
  }
}

}  // namespace muster
