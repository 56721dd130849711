// Arrival processes for generators. Each yields an endless sequence of times that never decrease.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/random.h"
#include "model/ids.h"

namespace muster {

struct Arrival {
  Seconds time = 0;
  int kind = 0;  // which of several streams it belongs to; see whoever made the process
};

class ArrivalProcess {
 public:
  virtual ~ArrivalProcess() = default;
  virtual Arrival next(Random& random) = 0;
};

// All at once.
std::unique_ptr<ArrivalProcess> make_static_arrivals(Seconds at);
// Independent of each other, `per_second` on average.
std::unique_ptr<ArrivalProcess> make_poisson_arrivals(double per_second);

// The hours of a week, from Monday 0:00, as factors of the mean rate (they average one).
using WeekProfile = std::array<double, 168>;

// A cosine over the day with its top at `peak_hour`, (1 + amplitude) times the mean, and Saturday
// and Sunday at `weekend` times the other days; scaled to average one.
WeekProfile day_and_week(double amplitude, double peak_hour, double weekend);
// 24 hours and 7 days measured somewhere, multiplied and scaled to average one.
WeekProfile hours_times_days(const std::array<double, 24>& hours,
                             const std::array<double, 7>& days);

// Times of `factor` times the rate, `per_day` of them, each lasting `length` on average.
struct Bursts {
  double per_day = 0;
  double factor = 1;
  Seconds length = 0;
};

// Poisson with a rate that follows the week and rises in bursts; `per_second` is the mean over
// everything. Time 0 is Monday 0:00.
std::unique_ptr<ArrivalProcess> make_weekly_arrivals(double per_second, const WeekProfile& profile,
                                                     const Bursts& bursts);

// Poisson (kind 0), and every `period`, from time 0 on, `count` at once (kind 1).
std::unique_ptr<ArrivalProcess> make_periodic_bursts(double per_second, Seconds period, int count);

// Gaps drawn again and again from those given.
std::unique_ptr<ArrivalProcess> make_resampled_gaps(std::vector<double> gaps, double scale);

}  // namespace muster
