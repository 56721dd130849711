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
  bool checkpoint(Archive& archive) override {
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
  // own: q e >= 1, which is the cone q + e >= |(q - e, 2)|. Literally, that is with the rows and
  // variables in the order in which cvxpy has them and with the signs of fractions as rows, or with
  // rows by job.
  void allocate_as_published(const AllocationProblem& problem, const std::vector<double>& rates,
                             Allocation& allocation) const {
    const bool literal = options_.literal;
    const std::size_t count = problem.jobs.size();
    const bool packs = !problem.pairs.empty();
    const std::size_t items = count + problem.pairs.size();
    std::vector<std::size_t> columns;  // types that have GPUs
    for (std::size_t w = 0; w < problem.types; ++w) {
      if (problem.capacity[w] > 0) columns.push_back(w);
    }
    LinearProgram program;
    const bool grouped = !literal && !packs;
    const auto group = [&](std::size_t j) { return grouped ? static_cast<std::int32_t>(j) : 0; };
    std::vector<std::size_t> late(count, 0);
    std::vector<std::size_t> time(count, 0);
    std::vector<std::size_t> cone(count, 0);
    // (age + steps q) / whole <= rho; a single job needs no rho.
    const auto whole = [&](std::size_t j) {
      const Past& past = past_.at(problem.jobs[j].id);
      return past.isolated + problem.jobs[j].steps_left / past.rate;
    };
    for (std::size_t j = 0; j < count && count > 1; ++j) {
      late[j] = program.add_row(-problem.jobs[j].age * (1 / whole(j)), group(j));
    }
    const std::size_t first_sign = program.rows();
    for (std::size_t i = 0; literal && i < items * columns.size(); ++i) program.add_row(0, 0);
    std::vector<std::size_t> row_of_type(columns.size());
    for (std::size_t k = 0; k < columns.size(); ++k) {
      row_of_type[k] =
          program.add_row(problem.capacity[columns[k]], grouped ? LinearProgram::kLinking : 0);
    }
    for (std::size_t j = 0; j < count; ++j) time[j] = program.add_row(1, group(j));
    for (std::size_t j = 0; j < count; ++j) cone[j] = program.add_cone({0, 0, 2}, group(j));

    const auto add_rho = [&] {
      if (count == 1) return;
      program.mark_shared(program.add_variable(1));
      for (std::size_t j = 0; j < count; ++j) program.add_term(late[j], -1);
    };
    const auto add_fraction = [&](std::size_t item, std::size_t k) {
      program.add_variable(0);
      if (literal) {
        program.mark_free(program.variables() - 1);
        program.add_term(first_sign + k * items + item, -1);
      }
      const bool alone = item < count;
      const AllocationProblem::Pair pair =
          alone ? AllocationProblem::Pair{} : problem.pairs[item - count];
      const std::size_t first = alone ? item : pair.first;
      program.add_term(row_of_type[k], problem.jobs[first].gpus);
      const auto add_time = [&](std::size_t j) { program.add_term(time[j], 1); };
      const auto add_cone = [&](std::size_t j, double rate) {
        // Pairs see rates divided by the priority.
        const double weight = options_.sight == Sight::kPairs ? problem.jobs[j].weight : 1;
        program.add_term(cone[j], -rate / weight);
        program.add_term(cone[j] + 1, -rate / weight);
      };
      const std::size_t w = columns[k];
      add_time(first);
      if (!alone) add_time(pair.second);
      add_cone(first,
               alone ? rates[item * problem.types + w] : problem.pair_rate(item - count, w).first);
      if (!alone) add_cone(pair.second, problem.pair_rate(item - count, w).second);
    };
    const auto add_reciprocals = [&] {
      for (std::size_t j = 0; j < count; ++j) {
        const double lateness = problem.jobs[j].steps_left * (1 / whole(j));
        const std::size_t q = program.add_variable(count > 1 ? 0 : lateness);
        if (packs) {
          program.mark_shared(q);
        } else {
          program.mark_free(q);
        }
        if (count > 1) program.add_term(late[j], lateness);
        program.add_term(cone[j], -1);
        program.add_term(cone[j] + 1, 1);
      }
    };
    std::vector<std::size_t> variable_of(items * columns.size());
    const auto add_fractions = [&] {
      const std::size_t base = program.variables();
      for (std::size_t i = 0; i < variable_of.size(); ++i) {
        const std::size_t item = literal ? i % items : i / columns.size();
        const std::size_t k = literal ? i / items : i % columns.size();
        variable_of[item * columns.size() + k] = base + i;
        add_fraction(item, k);
      }
    };
    if (literal) add_rho();
    add_fractions();
    add_reciprocals();
    if (!literal) add_rho();
    const LinearSolution solution =
        solve_embedded(program, literal ? Equations::kWhole : Equations::kGrouped);
    if (solution.status != SolveStatus::kOptimal) {
      share_equally(problem, allocation);
      return;
    }
    for (std::size_t item = 0; item < items; ++item) {
      std::vector<double>& fractions = item < count ? allocation.alone : allocation.paired;
      const std::size_t at = item < count ? item : item - count;
      for (std::size_t k = 0; k < columns.size(); ++k) {
        const double x = solution.x[variable_of[item * columns.size() + k]];
        fractions[at * problem.types + columns[k]] = std::clamp(x, 0.0, 1.0);
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

  // Leaves the fractions of the best rho in the program. The last call's is mostly a very good
  // place to begin, two exact answers away; far from it a rough answer shows the way.
  bool search(ShareProgram& program, const std::vector<Term>& terms) {
    if (terms.empty()) return false;
    double latest = 0;  // at this rho somebody is too late already
    for (const Term& term : terms) latest = std::max(latest, term.age / term.whole);
    double low = latest;
    double high = HUGE_VAL;
    const bool warm = rho_ > 1.001 * latest;
    double rho = warm ? rho_ : std::max(1.0, 1.5 * latest);
    constexpr double kRough = 1e-4;
    constexpr double kClose = 1e-2;
    constexpr double kNear = 1e-8;
    constexpr int kMostSteps = 100;
    bool rough = !warm;
    ShareProgram::Wish wish;
    wish.level_cost = -1;
    for (int i = 0; i < kMostSteps; ++i) {
      wish.rows.clear();
      for (const Term& term : terms) {
        wish.rows.push_back({term.of_class, rho * term.whole - term.age, 0, 1});
      }
      const ShareProgram::Answer answer =
          program.solve(wish, rough ? kRough : ShareProgram::kExact);
      if (answer.status != SolveStatus::kOptimal || !(answer.level > 0)) {
        if (i > 0 || !warm) return false;
        rough = true;
        rho = std::max(1.0, 1.5 * latest);
        continue;
      }
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
      if (i == 1 && std::abs(off) >= kClose) rough = true;
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
