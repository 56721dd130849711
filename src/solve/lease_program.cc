#include "solve/lease_program.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace muster {
namespace {

// Free GPUs by lease.
using Leases = std::vector<int>;

int horizon(const std::vector<LeaseJob>& jobs) {
  int last = 1;
  for (const LeaseJob& job : jobs) {
    for (const LeaseOption& option : job.options) last = std::max(last, option.within);
  }
  return last;
}

// Takes leases from the last one before the deadline backwards, if they suffice; which, is left in
// `taken`, the last first.
bool pack(const LeaseJob& job, int within, Leases& free, std::vector<int>& taken) {
  taken.clear();
  for (int lease = within - 1; lease >= 0; --lease) {
    if (static_cast<int>(taken.size()) == job.needed) break;
    // As late as possible: early leases stay free for jobs with earlier deadlines, as in backward
    // list scheduling.
    if (free[static_cast<std::size_t>(lease)] >= job.gpus) taken.push_back(lease);
  }
  if (static_cast<int>(taken.size()) < job.needed) return false;
  for (const int lease : taken) free[static_cast<std::size_t>(lease)] -= job.gpus;
  return true;
}
bool includes_first(const std::vector<int>& taken) { return !taken.empty() && taken.back() == 0; }

// Those that leave least choice first: the large, then those with little time to spare.
std::vector<std::size_t> packing_order(const std::vector<LeaseJob>& jobs) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const LeaseJob& one = jobs[a];
    const LeaseJob& other = jobs[b];
    if (one.gpus != other.gpus) return one.gpus > other.gpus;
    const int slack = one.options.back().within - one.needed;
    const int other_slack = other.options.back().within - other.needed;
    if (slack != other_slack) return slack < other_slack;
    return one.options.back().within > other.options.back().within;
  });
  return order;
}

double value_of(const LeaseJob& job, int option) {
  return option < 0 ? 0 : job.options[static_cast<std::size_t>(option)].value;
}

// What a GPU in use now adds: so little that all together never outweigh a tenth of a promise.
double weight_of_gpu(const std::vector<LeaseJob>& jobs, int capacity, LeaseAim aim) {
  double least = 0;
  for (const LeaseJob& job : jobs) {
    for (const LeaseOption& option : job.options) {
      if (option.value > 0 && (least == 0 || option.value < least)) least = option.value;
    }
  }
  // A lexicographic objective in one sum: first the value of the promises, then the use of GPUs.
  constexpr double kPart = 0.1;
  const double weight = kPart * (least > 0 ? least : 1) / std::max(1, capacity);
  return aim == LeaseAim::kMany ? weight : -weight;
}

int used_now(const std::vector<LeaseJob>& jobs, const std::vector<char>& now) {
  int gpus = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) gpus += now[i] != 0 ? jobs[i].gpus : 0;
  return gpus;
}

// Gives those with several deadlines the first that all jobs' leases allow; `promised` are the
// jobs of the choice, in this order.
// O(jobs^2 * deadlines * leases): each try packs all jobs anew.
void advance_deadlines(const std::vector<LeaseJob>& jobs, const std::vector<std::size_t>& order,
                       int capacity, std::vector<LeaseJob>& promised, LeaseChoice& choice) {
  std::size_t place = 0;
  for (const std::size_t i : order) {
    if (choice.option[i] == LeaseChoice::kNone) continue;
    for (std::size_t v = 0; v + 1 < jobs[i].options.size(); ++v) {
      const LeaseOption last = promised[place].options[0];
      promised[place].options[0] = jobs[i].options[v];
      if (leases_fit(promised, capacity)) {
        choice.option[i] = static_cast<int>(v);
        break;
      }
      promised[place].options[0] = last;
    }
    ++place;
  }
  Leases room(static_cast<std::size_t>(horizon(jobs)), capacity);
  std::vector<char> first(promised.size(), 0);
  std::vector<int> taken;
  for (const std::size_t p : packing_order(promised)) {
    pack(promised[p], promised[p].options[0].within, room, taken);
    first[p] = includes_first(taken) ? 1 : 0;
  }
  place = 0;
  for (const std::size_t i : order) {
    if (choice.option[i] != LeaseChoice::kNone) choice.now[i] = first[place++];
  }
}

// The program: what each job takes of each stretch between two deadlines.
//
//   variables  chosen[i][v], 0 or 1: job i meets its deadline v
//              leases[i][v][k], whole: what it then takes of stretch k, up to its deadline
//   rows       for each stretch: GPUs times leases fit capacity times length
//              for each job: at most one deadline is chosen
//              for each (i, v): the leases add up to those needed if it is chosen, else to none
//
// The first stretch is the next lease alone, so that leases[i][v][0] says which jobs run now.
class Program {
 public:
  Program(const std::vector<LeaseJob>& jobs, int capacity, LeaseAim aim)
      : jobs_(jobs), capacity_(capacity), aim_(aim) {
    ends_ = {1};
    for (const LeaseJob& job : jobs) {
      for (const LeaseOption& option : job.options) {
        if (option.within > 1) ends_.push_back(option.within);
      }
    }
    std::sort(ends_.begin(), ends_.end());
    ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
    build();
  }

  const IntegerProgram& program() const { return program_; }

  // The leases of a choice, packed, as values of the variables.
  std::vector<double> values(const LeaseChoice& choice) const {
    std::vector<LeaseJob> promised;
    std::vector<std::size_t> whose;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (choice.option[i] == LeaseChoice::kNone) continue;
      promised.push_back(jobs_[i]);
      promised.back().options = {jobs_[i].options[static_cast<std::size_t>(choice.option[i])]};
      whose.push_back(i);
    }
    // By job and stretch.
    std::vector<std::vector<double>> counts(jobs_.size(), std::vector<double>(ends_.size(), 0));
    Leases room(static_cast<std::size_t>(horizon(jobs_)), capacity_);
    std::vector<int> taken;
    for (const std::size_t p : packing_order(promised)) {
      if (!pack(promised[p], promised[p].options[0].within, room, taken)) continue;
      const bool brought_forward = choice.now[whose[p]] != 0 && !includes_first(taken);
      if (brought_forward) taken.front() = 0;
      for (const int lease : taken) {
        const auto end = std::upper_bound(ends_.begin(), ends_.end(), lease);
        counts[whose[p]][static_cast<std::size_t>(end - ends_.begin())] += 1;
      }
    }
    std::vector<double> values(program_.variables(), 0);
    for (const Variable& v : variables_) {
      if (choice.option[v.job] != v.option) continue;
      values[v.at] = v.stretch == kChosen ? 1 : counts[v.job][static_cast<std::size_t>(v.stretch)];
    }
    return values;
  }

  void read(const IntegerSolution& solution, LeaseChoice& choice) const {
    std::fill(choice.now.begin(), choice.now.end(), 0);
    std::fill(choice.option.begin(), choice.option.end(), LeaseChoice::kNone);
    for (const Variable& v : variables_) {
      if (solution.x[v.at] < 0.5) continue;
      if (v.stretch == kChosen) choice.option[v.job] = v.option;
      if (v.stretch == 0) choice.now[v.job] = 1;
    }
    choice.gap = solution.gap();
  }

 private:
  static constexpr int kChosen = -1;
  struct Variable {
    std::size_t at;
    std::size_t job;
    int option;
    int stretch;  // kChosen: whether the option is taken
  };

  int length(std::size_t stretch) const {
    return stretch == 0 ? 1 : ends_[stretch] - ends_[stretch - 1];
  }

  void build() {
    for (std::size_t k = 0; k < ends_.size(); ++k) {
      program_.add_row(0, static_cast<double>(capacity_) * length(k));
    }
    const double weight = weight_of_gpu(jobs_, capacity_, aim_);
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const LeaseJob& job = jobs_[i];
      const std::size_t once = program_.add_row(0, 1);
      for (std::size_t v = 0; v < job.options.size(); ++v) {
        // Too few leases are left before this deadline: the option is infeasible by itself.
        if (job.options[v].within < job.needed) continue;
        const std::size_t enough = program_.add_row(0, 0);
        const auto option = static_cast<int>(v);
        variables_.push_back({program_.add_choice(job.options[v].value), i, option, kChosen});
        program_.add_term(once, 1);
        program_.add_term(enough, -job.needed);
        for (std::size_t k = 0; k < ends_.size() && ends_[k] <= job.options[v].within; ++k) {
          const double gain = k == 0 ? weight * job.gpus : 0;
          // A job takes at most one of each lease, and never more than it needs: tight bounds on
          // variables strengthen the linear relaxation.
          const double most = std::min(length(k), job.needed);
          variables_.push_back(
              {program_.add_variable(gain, 0, most, true), i, option, static_cast<int>(k)});
          program_.add_term(enough, 1);
          program_.add_term(k, job.gpus);
        }
      }
    }
  }

  const std::vector<LeaseJob>& jobs_;
  int capacity_;
  LeaseAim aim_;
  std::vector<int> ends_;  // of stretches
  IntegerProgram program_;
  std::vector<Variable> variables_;
};

}  // namespace

bool LeaseChoice::all() const {
  return std::find(option.begin(), option.end(), kNone) == option.end();
}

bool leases_fit(const std::vector<LeaseJob>& jobs, int capacity) {
  Leases free(static_cast<std::size_t>(horizon(jobs)), capacity);
  std::vector<int> taken;
  for (const std::size_t i : packing_order(jobs)) {
    if (!pack(jobs[i], jobs[i].options.back().within, free, taken)) return false;
  }
  return true;
}

LeaseChoice choose_leases_greedily(const std::vector<LeaseJob>& jobs, int capacity, LeaseAim aim) {
  LeaseChoice choice;
  choice.now.assign(jobs.size(), 0);
  choice.option.assign(jobs.size(), LeaseChoice::kNone);
  // First a place for every job at its last deadline, then the most valuable that still fits.
  const std::vector<std::size_t> order = packing_order(jobs);
  const auto leases = static_cast<std::size_t>(horizon(jobs));
  Leases room(leases, capacity);
  std::vector<LeaseJob> promised;
  bool soft = false;
  std::vector<int> taken;
  for (const std::size_t i : order) {
    if (!pack(jobs[i], jobs[i].options.back().within, room, taken)) continue;
    promised.push_back(jobs[i]);
    promised.back().options = {jobs[i].options.back()};
    choice.option[i] = static_cast<int>(jobs[i].options.size()) - 1;
    choice.now[i] = includes_first(taken) ? 1 : 0;
    soft = soft || jobs[i].options.size() > 1;
  }
  if (soft) advance_deadlines(jobs, order, capacity, promised, choice);
  if (aim == LeaseAim::kMany) {
    // A lease that is taken early is one less to be had later.
    int left = capacity - used_now(jobs, choice.now);
    for (const std::size_t i : order) {
      if (choice.now[i] != 0 || choice.option[i] == LeaseChoice::kNone || jobs[i].gpus > left) {
        continue;
      }
      choice.now[i] = 1;
      left -= jobs[i].gpus;
    }
  }
  // What could be gained at most: every first deadline, and as many or few GPUs now as possible.
  double gain = 0;
  double bound = 0;
  int wanted = 0;
  int must = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    gain += value_of(jobs[i], choice.option[i]);
    double best = 0;
    for (const LeaseOption& option : jobs[i].options) {
      if (option.within >= jobs[i].needed) best = std::max(best, option.value);
    }
    bound += best;
    wanted += jobs[i].gpus;
    if (choice.option[i] != LeaseChoice::kNone && jobs[i].options.back().within == jobs[i].needed) {
      must += jobs[i].gpus;
    }
  }
  const double weight = weight_of_gpu(jobs, capacity, aim);
  gain += weight * used_now(jobs, choice.now);
  bound += weight * (aim == LeaseAim::kMany ? std::min(wanted, capacity) : must);
  choice.gap = bound > gain ? (bound - gain) / std::max(1e-9, std::abs(gain)) : 0;
  return choice;
}

LeaseChoice choose_leases(const std::vector<LeaseJob>& jobs, int capacity, LeaseAim aim,
                          const IntegerOptions& options) {
  LeaseChoice choice = choose_leases_greedily(jobs, capacity, aim);
  constexpr double kNothing = 1e-9;
  // A greedy choice that reaches its bound is optimal, and branch and bound is not needed.
  if (jobs.empty() || choice.gap <= kNothing) return choice;
  const Program program(jobs, capacity, aim);
  IntegerOptions begun = options;
  // The greedy choice is a feasible incumbent, so the search can prune from its first node on.
  begun.start = program.values(choice);
  const IntegerSolution solution = solve_integer(program.program(), begun);
  if (solution.found()) program.read(solution, choice);
  return choice;
}

}  // namespace muster
