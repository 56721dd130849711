#include "policy/gavel/rounds.h"

#include <algorithm>
#include <cmath>

#include "policy/gavel/problem.h"

namespace muster {

RoundsPolicy::RoundsPolicy(std::unique_ptr<Allocator> allocator, RoundOptions options)
    : allocator_(std::move(allocator)),
      options_(std::move(options)),
      shuffler_(options_.seed + 5) {}

// What is computed anew in every turn is not copied.
RoundsPolicy::RoundsPolicy(const RoundsPolicy& other)
    : SchedulingPolicy(other),
      last_reset_(other.last_reset_),
      round_end_(other.round_end_),
      allocator_(other.allocator_->clone()),
      options_(other.options_),
      shuffler_(other.shuffler_),
      types_(other.types_),
      symbols_(other.symbols_),
      capacity_(other.capacity_),
      type_time_(other.type_time_),
      entries_(other.entries_),
      cells_(other.cells_),
      round_(other.round_),
      owners_(other.owners_),
      gone_(other.gone_),
      fresh_(other.fresh_),
      prices_(other.prices_),
      last_turn_(other.last_turn_),
      round_until_(other.round_until_),
      pending_(other.pending_),
      idle_(other.idle_),
      any_gpus_(other.any_gpus_) {}

bool RoundsPolicy::checkpoint(Archive& archive) {
  archive.value(shuffler_);
  archive.value(types_);
  archive.list(symbols_);
  archive.list(capacity_);
  archive.list(type_time_);
  archive.list(entries_);
  archive.list(cells_);
  archive.list(round_);
  archive.list(owners_);
  archive.list(gone_);
  archive.list(fresh_);
  archive.list(prices_);
  archive.value(last_reset_);
  archive.value(last_turn_);
  archive.value(round_until_);
  archive.value(round_end_);
  archive.value(pending_);
  archive.value(idle_);
  archive.value(any_gpus_);
  claims_stale_ = true;
  return allocator_->checkpoint(archive);
}

void RoundsPolicy::on_job(JobMoment moment, Slot slot, const View& view) {
  const JobId id = view.jobs[slot].spec.id;
  switch (moment) {
    case JobMoment::kAdmitted:
      fresh_.push_back(slot);
      pending_ = true;
      break;
    case JobMoment::kLeft:
      for (Turn& turn : round_) {
        const Entry& entry = entries_[turn.entry];
        if (entry.first == id || entry.second == id) turn.end = view.jobs[slot].since;
      }
      gone_.push_back(id);
      std::erase(fresh_, slot);
      pending_ = true;
      break;
    case JobMoment::kStopped:
      // It lost its GPUs within the round, and the round with them.
      for (Turn& turn : round_) {
        const Entry& entry = entries_[turn.entry];
        if (entry.first == id || entry.second == id) {
          turn.ran = false;
          pending_ = true;
        }
      }
      break;
    case JobMoment::kStarted:
    case JobMoment::kChanged:
      break;
  }
}

Seconds RoundsPolicy::wake(const View& view) const {
  if (view.jobs.active().empty()) return kNever;
  if (view.turn_length > 0) return view.now + view.turn_length;
  return view.now < round_until_ ? round_until_ : view.now + options_.round;
}

void RoundsPolicy::complete_jobs(const View& view, std::vector<PolicyCompletion>& completions) {
  if (fresh_.empty()) return;
  learn_types(view);
  for (const Slot slot : fresh_) {
    // A job that was revised is as new as one that came.
    if (view.jobs[slot].running()) continue;
    const JobSpec& job = view.jobs[slot].spec;
    const bool runs = std::any_of(symbols_.begin(), symbols_.end(), [&](Symbol type) {
      return job.gpus <= view.cluster.ever_for(job.partition, type) &&
             rate_on(view.perf, job, type, nullptr) > 0;
    });
    if (runs) continue;
    PolicyCompletion completion;
    completion.job = slot;
    completion.state = JobState::kRefused;
    completion.reason = Reason::kNeverFits;
    completion.end = view.now;
    completion.done = view.now;
    completions.push_back(completion);
  }
}

// One round: book the last one, bring the entries up to date, ask the allocator if something has
// changed, and choose which jobs run.
void RoundsPolicy::schedule(const View& view, Plan& plan) {
  learn_types(view);
  before_round(view);
  keep_round(view);
  book_last_round(view);
  remove_gone();
  add_fresh(view);
  if (wants_reset(view)) {
    reset(view);
    ask(view);
    pending_ = false;
    any_gpus_ = false;
  }
  set_priorities();
  choose(view, plan);
  last_turn_ = view.now;
}

// The columns of all tables, fixed at the first turn. Fractions are for a capacity: where that or a
// price changes, the allocator is asked again.
void RoundsPolicy::learn_types(const View& view) {
  if (types_ == 0) {
    symbols_ = type_columns(view.cluster);
    types_ = symbols_.size();
    type_time_.assign(types_, 0.0);
  }
  usable_.assign(types_, 0);
  for (const Pool& pool : view.cluster.pools()) {
    const auto at = std::find(symbols_.begin(), symbols_.end(), pool.gpu_type);
    usable_[static_cast<std::size_t>(at - symbols_.begin())] += pool.usable;
  }
  if (usable_ != capacity_) {
    capacity_ = usable_;
    pending_ = true;
  }
  learn_prices(view);
}

void RoundsPolicy::learn_prices(const View& view) {
  if (!options_.prices.empty()) {
    prices_.assign(options_.prices.rbegin(), options_.prices.rend());
    return;
  }
  if (view.prices == nullptr) return;
  prices_.resize(types_, -1);
  for (std::size_t w = 0; w < types_; ++w) {
    const double price = view.prices->at(symbols_[w], view.now);
    if (price == prices_[w]) continue;
    prices_[w] = price;
    pending_ = true;
  }
}

void RoundsPolicy::keep_round(const View& view) {
  kept_.clear();
  if (view.turn_length > 0) return;
  if (view.now >= round_until_) {
    round_until_ = view.now + options_.round;
    return;
  }
  for (const Turn& turn : round_) {
    const Entry& entry = entries_[turn.entry];
    if (turn.ran && turn.end == kNever && view.jobs[entry.a].running()) {
      kept_.push_back({entry.first, entry.second, turn.column});
    }
  }
  std::sort(kept_.begin(), kept_.end());
}

// Adds each job's run time in the last round to the times of its type, and so moves it down the
// order.
void RoundsPolicy::book_last_round(const View& view) {
  idle_ = round_.empty();
  if (idle_) return;
  const Seconds start = round_start();
  round_end_ = 0;
  for (Turn& turn : round_) {
    if (turn.end != kNever) {
      round_end_ = std::max(round_end_, turn.end);
      continue;
    }
    // A job that is through with its lease says when it was.
    const Job& job = view.jobs[entries_[turn.entry].a];
    turn.ran = turn.ran && job.running();
    turn.end = job.running() && job.rate == 0 && !job.starting() ? job.since : view.now;
    round_end_ = std::max(round_end_, turn.end);
  }
  // The latest first: sums depend on the order in the last digit.
  std::sort(round_.begin(), round_.end(), [this](const Turn& a, const Turn& b) {
    const Entry& x = entries_[a.entry];
    const Entry& y = entries_[b.entry];
    if (a.end != b.end) return a.end > b.end;
    if (x.pair() != y.pair()) return y.pair();
    return x.first != y.first ? x.first < y.first : x.second < y.second;
  });
  for (const Turn& turn : round_) {
    if (!turn.ran) continue;
    const Seconds spent = turn.end - start;
    if (options_.learns && entries_[turn.entry].pair()) {
      learn_rates(view, turn, turn.end - last_turn_);
    }
    // The numerator and the denominator of the time fraction f = time / (time of all jobs on the
    // type).
    cell(turn.entry, turn.column).time += spent;
    type_time_[turn.column] += spent;
  }
  round_.clear();
}

void RoundsPolicy::learn_rates(const View& view, const Turn& turn, Seconds spent) {
  if (spent < options_.round / 2) return;  // too short to measure anything
  const Entry& entry = entries_[turn.entry];
  Cell& one = cell(turn.entry, turn.column);
  const auto learn = [&](Slot slot, JobId id, double left, double& rate) {
    const Job& job = view.jobs[slot];
    if (job.spec.id != id || !job.running()) return;  // its last round may have been a short one
    const double seen = (left - steps_left(job, view.now)) / spent;
    if (seen < 0) return;  // work was lost
    // Whole steps, and the wait for a slower co-located job, make measured rates a little smaller.
    constexpr double kSame = 0.03;
    if (std::abs(seen - rate) > kSame * rate) rate = seen;
  };
  learn(entry.a, entry.first, turn.left, one.rate);
  learn(entry.b, entry.second, turn.second_left, one.second_rate);
}

// A job that leaves takes its pairs along. Tables are compacted in place, O(cells).
void RoundsPolicy::remove_gone() {
  if (gone_.empty()) return;
  claims_stale_ = true;
  std::sort(gone_.begin(), gone_.end());
  const auto left = [this](JobId id) { return std::binary_search(gone_.begin(), gone_.end(), id); };
  std::size_t kept = 0;
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    if (left(entries_[e].first) || (entries_[e].pair() && left(entries_[e].second))) continue;
    if (kept != e) {
      entries_[kept] = entries_[e];
      std::copy_n(cells_.begin() + static_cast<std::ptrdiff_t>(e * types_), types_,
                  cells_.begin() + static_cast<std::ptrdiff_t>(kept * types_));
    }
    ++kept;
  }
  entries_.resize(kept);
  cells_.resize(kept * types_);
  gone_.clear();
}

// A new job makes a pair with every earlier job of equal GPU count: a gang shares all its GPUs or
// none.
void RoundsPolicy::add_fresh(const View& view) {
  for (const Slot slot : fresh_) {
    const std::size_t known = entries_.size();
    add_entry(view, slot, kNoSlot);
    const Symbol user = view.jobs[slot].spec.user;
    if (std::find(owners_.begin(), owners_.end(), user) == owners_.end()) owners_.push_back(user);
    // Pairs multiply the cells: O(n) new entries per job, O(n^2) in all, only for allocators that
    // use them.
    if (!allocator_->traits().pairs) continue;
    const JobSpec& spec = view.jobs[slot].spec;
    for (std::size_t e = 0; e < known; ++e) {
      if (entries_[e].pair() || entries_[e].gpus != spec.gpus) continue;
      // Jobs that share GPUs count against one quota.
      if (view.jobs[entries_[e].a].spec.partition == spec.partition) {
        add_entry(view, entries_[e].a, slot);
      }
    }
  }
  fresh_.clear();
}

void RoundsPolicy::add_entry(const View& view, Slot a, Slot b) {
  const JobSpec& first = view.jobs[a].spec;
  const JobSpec* second = b == kNoSlot ? nullptr : &view.jobs[b].spec;
  Entry entry;
  entry.first = first.id;
  entry.a = a;
  entry.gpus = first.gpus;
  if (second != nullptr) {
    entry.second = second->id;
    entry.b = b;
  }
  entries_.push_back(entry);
  for (std::size_t w = 0; w < types_; ++w) {
    Cell fresh;
    fresh.time = first_time(second != nullptr);
    const bool fits = may_use(view, first, symbols_[w]);
    fresh.rate = fits ? rate_on(view.perf, first, symbols_[w], second) : 0;
    if (second != nullptr) {
      fresh.second_rate = fits ? rate_on(view.perf, *second, symbols_[w], &first) : 0;
    }
    cells_.push_back(fresh);
  }
}

// Asking may cost a program, and starts all times anew. So jobs that leave wait for the interval,
// while a new job, which has no fraction yet, does not.
bool RoundsPolicy::wants_reset(const View& view) const {
  if (!pending_ || entries_.empty()) return false;
  if (view.now - last_reset_ >= options_.reset_interval) return true;
  return stalled(view) || asks_early();
}

bool RoundsPolicy::asks_early() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return !entry.allocated; });
}

// What is still owed since the last reset is remembered as a deficit, and all times start anew from
// half a round. Invariant: over many resets the time of a cell follows the integral of its
// fraction, with the deficit as the error.
void RoundsPolicy::reset(const View& view) {
  before_reset(view);
  const Seconds elapsed = view.now - last_reset_;
  const Seconds start = options_.round / 2;
  for (std::size_t w = 0; w < types_; ++w) {
    type_time_[w] = 0;
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      Cell& one = cell(e, w);
      // As in deficit round robin (Shreedhar and Varghese 1996), time that was due but not received
      // is carried over.
      const double due = entries_[e].allocated ? one.fraction * elapsed : 0;
      one.deficit += due - (one.time - start);
      one.time = start;
      type_time_[w] += start;
    }
  }
  last_reset_ = view.now;
}

// Writes the jobs, and the pairs after them, as a problem, and the answer back into the cells.
void RoundsPolicy::ask(const View& view) {
  problem_.now = view.now;
  problem_.types = types_;
  problem_.capacity = capacity_;
  problem_.price = prices_;
  problem_.jobs.clear();
  problem_.rates.clear();
  problem_.pairs.clear();
  problem_.pair_rates.clear();
  std::vector<std::size_t> position(view.jobs.slots());  // by slot, in the problem
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    if (entries_[e].pair()) continue;
    const Job& job = view.jobs[entries_[e].a];
    position[index(entries_[e].a)] = problem_.jobs.size();
    AllocationJob asked = allocation_job(job.spec, steps_left(job, view.now), view.now);
    const auto owner = std::find(owners_.begin(), owners_.end(), job.spec.user);
    asked.owner = static_cast<std::size_t>(owner - owners_.begin());
    problem_.jobs.push_back(asked);
    for (std::size_t w = 0; w < types_; ++w) problem_.rates.push_back(cell(e, w).rate);
  }
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const Entry& entry = entries_[e];
    if (!entry.pair()) continue;
    problem_.pairs.push_back({static_cast<std::uint32_t>(position[index(entry.a)]),
                              static_cast<std::uint32_t>(position[index(entry.b)])});
    for (std::size_t w = 0; w < types_; ++w) {
      problem_.pair_rates.emplace_back(cell(e, w).rate, cell(e, w).second_rate);
    }
  }
  allocation_.reset(problem_);
  allocator_->allocate(problem_, allocation_);
  claims_stale_ = true;
  std::size_t alone = 0;
  std::size_t paired = 0;
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    entries_[e].allocated = true;
    const std::vector<double>& from = entries_[e].pair() ? allocation_.paired : allocation_.alone;
    std::size_t& at = entries_[e].pair() ? paired : alone;
    for (std::size_t w = 0; w < types_; ++w) cell(e, w).fraction = from[at * types_ + w];
    ++at;
  }
}

}  // namespace muster
