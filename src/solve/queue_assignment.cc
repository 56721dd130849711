#include "solve/queue_assignment.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "solve/assignment.h"

namespace muster {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();
// Of a place whose distance is final: as a NaN it is neither nearer than nor equal to anything, so
// that the loops below need no test for it.
constexpr double kGone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kUnmatched = static_cast<std::size_t>(-1);

constexpr std::size_t kWidth = 4;
using Numbers = double __attribute__((vector_size(kWidth * sizeof(double))));
using Jobs = std::int64_t __attribute__((vector_size(kWidth * sizeof(double))));

template <typename Vector, typename Value>
inline __attribute__((always_inline)) void load(const Value* from, Vector& to) {
  std::memcpy(&to, from, sizeof to);
}

// A job as the search comes to it.
struct Visit {
  std::int64_t job;
  double run;  // in this queue
  double anywhere;
  double length;  // of the path to it
  double dual;
};

// Relaxes the paths to the places of a queue through a job. The length of the shortest of all.
inline __attribute__((always_inline)) double shorten_all(const Visit& visit, const double* dual,
                                                         double* distance, std::int64_t* through,
                                                         std::size_t places) {
  Numbers least = {kFar, kFar, kFar, kFar};
  Numbers delay = {1, 2, 3, 4};
  const Jobs job = {visit.job, visit.job, visit.job, visit.job};
  for (std::size_t p = 0; p < places; p += kWidth) {
    Numbers there;
    Numbers known;
    Jobs before;
    load(dual + p, there);
    load(distance + p, known);
    load(through + p, before);
    const Numbers cost = delay * visit.run + visit.anywhere;
    // Reduced cost along the path; the order of operations is that of solve/assignment.cc, so that
    // ties fall alike.
    const Numbers found = visit.length + cost - visit.dual - there;
    const Jobs nearer = found < known;
    known = nearer ? found : known;
    before = nearer ? job : before;
    least = known < least ? known : least;
    std::memcpy(distance + p, &known, sizeof known);
    std::memcpy(through + p, &before, sizeof before);
    delay += kWidth;
  }
  return std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
}

double shorten(const Visit& visit, const double* dual, double* distance, std::int64_t* through,
               std::size_t places) {
  return shorten_all(visit, dual, distance, through, places);
}

#if defined(__x86_64__)
// The same operations on the same numbers, four at once.
__attribute__((target("avx2"))) double shorten_wide(const Visit& visit, const double* dual,
                                                    double* distance, std::int64_t* through,
                                                    std::size_t places) {
  return shorten_all(visit, dual, distance, through, places);
}
#endif

auto choose_shorten() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return shorten_wide;
#endif
  return shorten;
}

// Jobs are added one by one, each along a shortest augmenting path (Dijkstra's method in reduced
// costs, as in solve/assignment.cc).
//
// Invariant: the free places of a queue lie behind its assigned ones, because a later place costs
// every job more. So a path ends at the first free place of some queue, and only the places up to
// that one, `open_`, are looked at.
class QueueAssignment {
 public:
  QueueAssignment(std::span<const double> runs, std::span<const double> anywhere,
                  std::size_t queues)
      : runs_(runs),
        anywhere_(anywhere),
        jobs_(anywhere.size()),
        queues_(queues),
        stride_((jobs_ + kWidth - 1) / kWidth * kWidth),
        shorten_(choose_shorten()),
        job_dual_(jobs_, 0.0),
        place_dual_(queues * stride_, 0.0),
        distance_(queues * stride_),
        through_(queues * stride_, -1),
        job_at_(queues * stride_, kUnmatched),
        slot_of_(jobs_, kUnmatched),
        open_(queues, 1),
        nearest_(queues),
        order_(jobs_ * queues),
        position_(jobs_ * queues) {
    for (std::size_t c = 0; c < order_.size(); ++c) order_[c] = position_[c] = first_order(c);
  }

  std::vector<std::size_t> solve() {
    for (std::size_t job = 0; job < jobs_; ++job) add(job);
    std::vector<std::size_t> columns;
    for (const std::size_t slot : slot_of_) columns.push_back(column_of(slot));
    return columns;
  }

 private:
  struct Seen {
    std::size_t slot;
    double distance;
  };
  // Slots are queue by queue, columns place by place. Columns are looked at from the last on.
  std::size_t column_of(std::size_t slot) const {
    return slot % stride_ * queues_ + slot / stride_;
  }
  std::size_t first_order(std::size_t column) const { return order_.size() - column - 1; }

  // The dual variables change so that no reduced cost is negative and those on the path are zero;
  // then the assigned and the free edges of the path change roles.
  void add(std::size_t job) {
    double length = 0;
    std::size_t slot = shortest_path(job, length);
    // The same potential update as in solve/assignment.cc, over the places that the search has
    // settled.
    job_dual_[job] += length;
    for (const Seen& seen : seen_) {
      if (job_at_[seen.slot] != kUnmatched) {
        job_dual_[job_at_[seen.slot]] += length - seen.distance;
      }
      place_dual_[seen.slot] -= length - seen.distance;
    }
    // One more place is assigned, so the first free place of this queue moves back by one.
    std::size_t& open = open_[slot / stride_];
    open = std::min(jobs_, std::max(open, slot % stride_ + 2));
    for (;;) {
      const auto i = static_cast<std::size_t>(through_[slot]);
      job_at_[slot] = i;
      std::swap(slot_of_[i], slot);
      if (i == job) break;
    }
  }

  // The shortest augmenting path from a job without a place to a free place, in reduced costs.
  std::size_t shortest_path(std::size_t job, double& length) {
    for (std::size_t q = 0; q < queues_; ++q) {
      double* distance = distance_.data() + q * stride_;
      std::fill(distance, distance + open_[q], kFar);
      // The rest of the last vector is padding, which a NaN keeps out of every comparison.
      std::fill(distance + open_[q], distance + rounded(open_[q]), kGone);
    }
    seen_.clear();
    left_ = order_.size();
    for (std::size_t i = job;;) {
      Visit visit{static_cast<std::int64_t>(i), 0, anywhere_[i], length, job_dual_[i]};
      double lowest = kFar;
      for (std::size_t q = 0; q < queues_; ++q) {
        visit.run = runs_[i * queues_ + q];
        const std::size_t first = q * stride_;
        nearest_[q] = shorten_(visit, place_dual_.data() + first, distance_.data() + first,
                               through_.data() + first, rounded(open_[q]));
        lowest = std::min(lowest, nearest_[q]);
      }
      const std::size_t slot = choose(lowest);
      length = lowest;
      seen_.push_back({slot, lowest});
      distance_[slot] = kGone;
      take_out(column_of(slot));
      if (job_at_[slot] == kUnmatched) break;
      i = job_at_[slot];
    }
    put_back();
    return seen_.back().slot;
  }
  static std::size_t rounded(std::size_t places) { return (places + kWidth - 1) / kWidth * kWidth; }

  // Of equally near columns the last free one, which ends the search; the first, if none is free.
  std::size_t choose(double lowest) const {
    std::size_t best = kUnmatched;
    std::size_t best_position = 0;
    bool best_free = false;
    for (std::size_t q = 0; q < queues_; ++q) {
      if (nearest_[q] != lowest) continue;
      for (std::size_t slot = q * stride_; slot < q * stride_ + open_[q]; ++slot) {
        if (distance_[slot] != lowest) continue;
        const bool free = job_at_[slot] == kUnmatched;
        const std::size_t position = position_[column_of(slot)];
        if (best == kUnmatched || (free && (!best_free || position > best_position)) ||
            (!free && !best_free && position < best_position)) {
          best = slot;
          best_position = position;
          best_free = free;
        }
      }
    }
    assert(best != kUnmatched && "costs must be finite");
    return best;
  }

  // The order in which solve/assignment.cc visits columns, on which ties depend: the last column
  // takes the place of one that is done.
  void take_out(std::size_t column) {
    const std::size_t hole = position_[column];
    const std::size_t last = order_[--left_];
    order_[hole] = last;
    position_[last] = hole;
    moved_.emplace_back(hole, last);
  }
  void put_back() {
    for (const auto& [hole, last] : moved_) {
      order_[hole] = first_order(hole);
      position_[last] = first_order(last);
    }
    moved_.clear();
  }

  std::span<const double> runs_;
  std::span<const double> anywhere_;
  std::size_t jobs_;
  std::size_t queues_;
  std::size_t stride_;  // slots of a queue
  double (*shorten_)(const Visit&, const double*, double*, std::int64_t*, std::size_t);
  std::vector<double> job_dual_;
  std::vector<double> place_dual_;     // by slot, as are the next ones
  std::vector<double> distance_;       // kGone once it is final
  std::vector<std::int64_t> through_;  // the job before it on the path
  std::vector<std::size_t> job_at_;
  std::vector<std::size_t> slot_of_;   // by job
  std::vector<std::size_t> open_;      // by queue: its places up to the first free one
  std::vector<double> nearest_;        // by queue
  std::vector<std::size_t> order_;     // of columns in the search
  std::vector<std::size_t> position_;  // of each column in it
  std::vector<std::pair<std::size_t, std::size_t>> moved_;
  std::vector<Seen> seen_;
  std::size_t left_ = 0;
};

// Whether every place of a queue costs clearly more than the one before it, rounding included. Else
// the general method must do.
bool places_differ(std::span<const double> runs, std::span<const double> anywhere) {
  double shortest = kFar;
  double longest = 0;
  double most = 0;
  for (const double run : runs) {
    shortest = std::min(shortest, run);
    longest = std::max(longest, run);
  }
  for (const double cost : anywhere) most = std::max(most, std::abs(cost));
  constexpr double kRounding = 4e-15;
  return shortest > kRounding * (static_cast<double>(anywhere.size()) * longest + most);
}

}  // namespace

std::vector<std::size_t> assign_to_queues(std::span<const double> runs,
                                          std::span<const double> anywhere, std::size_t queues) {
  const std::size_t jobs = anywhere.size();
  assert(runs.size() == jobs * queues);
  if (places_differ(runs, anywhere)) return QueueAssignment(runs, anywhere, queues).solve();
  return assign_rows(queue_costs(runs, anywhere, queues), jobs, jobs * queues);
}

std::vector<double> queue_costs(std::span<const double> runs, std::span<const double> anywhere,
                                std::size_t queues) {
  const std::size_t jobs = anywhere.size();
  std::vector<double> costs;
  costs.reserve(jobs * jobs * queues);
  for (std::size_t i = 0; i < jobs; ++i) {
    for (std::size_t place = 1; place <= jobs; ++place) {
      for (std::size_t q = 0; q < queues; ++q) {
        costs.push_back(static_cast<double>(place) * runs[i * queues + q] + anywhere[i]);
      }
    }
  }
  return costs;
}

}  // namespace muster
