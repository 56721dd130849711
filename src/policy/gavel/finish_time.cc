#include <algorithm>
#include <cmath>
#include <map>

#include "policy/gavel/program_allocators.h"
#include "solve/embedding.h"

namespace muster {
namespace {

// Source: Themis' finish-time fairness (NSDI'20) as Gavel states it: make the worst ratio rho of
// "when it will be done" to "when it would be done on its own m-th of the cluster" as small as
// possible: minimise over X the maximum over jobs of
//   (age + r / sum over types of T X) / (c + r / Tiso),
// where r are the steps left, Tiso the rate on an m-th of the cluster, and c the time that the
// steps done so far would have taken there. For a given rho this asks for rates, sum of T X >=
// need(rho) with need = r / (rho D - age), which a linear program can answer; the rho at which the
// best level of all needs is exactly 1 is found by Newton's method on the program's prices.
// Agnostic: every type has the rate of the cluster's first one.
class FinishTimeFairness final : public Allocator {
 public:
  explicit FinishTimeFairness(const ProgramOptions& options) : options_(options) {}
  AllocatorTraits traits() const override { return traits_of(options_.sight); }

  void allocate(const AllocationProblem& problem, Allocation& allocation) override {
    const std::vector<double> rates = seen_rates(problem, options_, BlindRate::kFirstType);
    book(problem, rates);
    if (options_.published && options_.solver == solve_shares) {
      allocate_as_published(problem, rates, allocation);
      return;
    }
    // Jobs of which the program asks the same at every rho are equal.
    std::map<std::pair<double, double>, double> known;
    std::vector<Term> term_of;
    std::vector<double> keys;
    for (const AllocationJob& job : problem.jobs) {
      term_of.push_back(term(job));
      const std::pair key(term_of.back().age, term_of.back().whole);
      keys.push_back(known.emplace(key, static_cast<double>(known.size())).first->second);
    }
    ShareProgram program(problem, rates, keys, options_.solver);
    std::vector<Term> terms;
    for (std::size_t c = 0; c < program.classes(); ++c) {
      terms.push_back(term_of[program.members(c).front()]);
      terms.back().of_class = c;
      if (!(terms.back().whole > 0)) terms.pop_back();
    }
    if (!search(program, terms)) {
      share_equally(problem, allocation);
      return;
    }
    program.write(allocation);
  }
  bool keep(Archive& archive) override {
    archive.map(past_);
    archive.value(rho_);
    return true;
  }
  std::unique_ptr<Allocator> clone() const override {
    return std::make_unique<FinishTimeFairness>(*this);
  }

 private:
  struct Past {
    double steps_left = 0;
    double rate = 0;      // on an m-th of the cluster, as of the last call
    double isolated = 0;  // seconds that the steps done would have taken there
  };
  // Per step that is left.
  struct Term {
    std::size_t of_class;
    double age;
    double whole;  // when it would be done on its own part, from its submission; 0: it is done
  };

  Term term(const AllocationJob& job) const {
    if (!(job.steps_left > 0)) return {0, 0, 0};
    // Pairs see rates divided by the priority; others do not look at it.
    const double weight = options_.sight == Sight::kPairs ? job.weight : 1;
    const Past& past = past_.at(job.id);
    return {0, job.age / job.steps_left / weight,
            (past.isolated / job.steps_left + 1 / past.rate) / weight};
  }

  // As Gavel's code puts it to ECOS, with the reciprocal of a throughput e as a variable q of its
  // own: q e >= 1, which is the cone q + e >= |(q - e, 2)|.
  void allocate_as_published(const AllocationProblem& problem, const std::vector<double>& rates,
                             Allocation& allocation) const {
    const std::size_t types = problem.types;
    const std::size_t count = problem.jobs.size();
    const bool packs = !problem.pairs.empty();
    LinearProgram program;
    std::vector<std::size_t> row_of_type(types, 0);
    for (std::size_t w = 0; w < types; ++w) {
      if (problem.capacity[w] <= 0) continue;
      row_of_type[w] = program.add_row(problem.capacity[w], packs ? 0 : LinearProgram::kLinking);
    }
    struct Rows {
      std::size_t time;
      std::size_t late;
      std::size_t cone;
      double lateness;  // steps / whole
      double weight;    // pairs see rates divided by the priority
    };
    std::vector<Rows> rows;
    for (std::size_t j = 0; j < count; ++j) {
      const AllocationJob& job = problem.jobs[j];
      const Past& past = past_.at(job.id);
      const double whole = past.isolated + job.steps_left / past.rate;
      const auto group = packs ? 0 : static_cast<std::int32_t>(j);
      Rows own{};
      own.time = program.add_row(1, group);
      // (age + steps q) / whole <= rho; a single job needs no rho.
      if (count > 1) own.late = program.add_row(-job.age / whole, group);
      own.cone = program.add_cone({0, 0, 2}, group);
      own.lateness = job.steps_left / whole;
      own.weight = options_.sight == Sight::kPairs ? job.weight : 1;
      rows.push_back(own);
    }
    const auto add_time = [&](const Rows& own, double rate) {
      program.add_term(own.time, 1);
      program.add_term(own.cone, -rate / own.weight);
      program.add_term(own.cone + 1, -rate / own.weight);
    };
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t w = 0; w < types; ++w) {
        if (problem.capacity[w] <= 0) continue;
        program.add_variable(0);
        program.add_term(row_of_type[w], problem.jobs[j].gpus);
        add_time(rows[j], rates[j * types + w]);
      }
    }
    for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
      const auto [first, second] = problem.pairs[p];
      for (std::size_t w = 0; w < types; ++w) {
        if (problem.capacity[w] <= 0) continue;
        program.add_variable(0);
        program.add_term(row_of_type[w], problem.jobs[first].gpus);
        add_time(rows[first], problem.pair_rate(p, w).first);
        add_time(rows[second], problem.pair_rate(p, w).second);
      }
    }
    for (const Rows& own : rows) {
      const std::size_t q = program.add_variable(count > 1 ? 0 : own.lateness);
      if (packs) {
        program.mark_shared(q);
      } else {
        program.mark_free(q);
      }
      if (count > 1) program.add_term(own.late, own.lateness);
      program.add_term(own.cone, -1);
      program.add_term(own.cone + 1, 1);
    }
    if (count > 1) program.mark_shared(program.add_variable(1));
    for (const Rows& own : rows) {
      if (count > 1) program.add_term(own.late, -1);
    }
    const LinearSolution solution = solve_embedded(program);
    if (solution.status != SolveStatus::kOptimal) {
      share_equally(problem, allocation);
      return;
    }
    std::size_t v = 0;
    for (std::vector<double>* fractions : {&allocation.alone, &allocation.paired}) {
      for (std::size_t i = 0; i < fractions->size(); ++i) {
        if (problem.capacity[i % types] > 0)
          (*fractions)[i] = std::clamp(solution.x[v++], 0.0, 1.0);
      }
    }
  }

  void book(const AllocationProblem& problem, const std::vector<double>& rates) {
    std::map<JobId, Past> now;
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      const AllocationJob& job = problem.jobs[j];
      Past past;
      if (const auto found = past_.find(job.id); found != past_.end()) {
        past = found->second;
        past.isolated += (past.steps_left - job.steps_left) / past.rate;
      }
      past.steps_left = job.steps_left;
      past.rate = isolated_rate(problem, rates, j);
      if (!(past.rate > 0)) past.rate = 1e-10;
      now[job.id] = past;
    }
    past_ = std::move(now);
  }

  // Leaves the fractions of the best rho in the program. Far from it a rough answer shows the way;
  // the last call's rho is a good place to begin.
  bool search(ShareProgram& program, const std::vector<Term>& terms) {
    if (terms.empty()) return false;
    double latest = 0;  // at this rho somebody is too late already
    for (const Term& term : terms) latest = std::max(latest, term.age / term.whole);
    double low = latest;
    double high = HUGE_VAL;
    double rho = rho_ > 1.1 * latest ? rho_ : std::max(1.0, 1.5 * latest);
    constexpr double kRough = 1e-4;
    constexpr double kClose = 1e-2;
    constexpr double kNear = 1e-8;
    constexpr int kMostSteps = 100;
    bool rough = true;
    ShareProgram::Wish wish;
    wish.level_cost = -1;
    for (int i = 0; i < kMostSteps; ++i) {
      wish.rows.clear();
      for (const Term& term : terms) {
        wish.rows.push_back({term.of_class, rho * term.whole - term.age, 0, 1});
      }
      const ShareProgram::Answer answer =
          program.solve(wish, rough ? kRough : ShareProgram::kExact);
      if (answer.status != SolveStatus::kOptimal || !(answer.level > 0)) return false;
      const double off = answer.level - 1;
      rho_ = rho;
      if (!rough && std::abs(off) < kNear) return true;
      // How the level grows with rho: each row's scale grows by `whole`.
      double slope = 0;
      for (std::size_t r = 0; r < terms.size(); ++r) {
        slope += answer.prices[r] * terms[r].whole * answer.throughput[terms[r].of_class];
      }
      double next = rho - off / slope;
      if (rough && std::abs(off) < kClose) {
        // What was found roughly does not bound what is sought exactly.
        rough = false;
        if (next > latest) rho = next;
        low = latest;
        high = HUGE_VAL;
        continue;
      }
      (off < 0 ? low : high) = rho;
      if (!(next > low) || !(next < high)) next = high == HUGE_VAL ? 2 * rho : (low + high) / 2;
      if (!rough && std::abs(next - rho) <= 1e-12 * rho) return true;
      rho = next;
    }
    return !rough;
  }

  ProgramOptions options_;
  std::map<JobId, Past> past_;
  double rho_ = 0;  // of the last call
};

}  // namespace

std::unique_ptr<Allocator> make_gavel_finish_time(const ProgramOptions& options) {
  return std::make_unique<FinishTimeFairness>(options);
}

}  // namespace muster
