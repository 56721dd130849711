#include "workload/generate/arrivals.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace muster {
namespace {

constexpr Seconds kHour = 3600;
constexpr Seconds kDay = 86400;

class StaticArrivals final : public ArrivalProcess {
 public:
  explicit StaticArrivals(Seconds at) : at_(at) {}
  Arrival next(Random& /*random*/) override { return {at_, 0}; }

 private:
  Seconds at_;
};

class PoissonArrivals final : public ArrivalProcess {
 public:
  explicit PoissonArrivals(double per_second) : mean_gap_(1 / per_second) {}
  Arrival next(Random& random) override { return {time_ += random.exponential(mean_gap_), 0}; }

 private:
  double mean_gap_;
  Seconds time_ = 0;
};

// The rate is constant within an hour and within a burst, so an arrival is found by spending one
// exponential of mean one on the pieces as they come: one draw per job, whatever the shape of the
// week.
class WeeklyArrivals final : public ArrivalProcess {
 public:
  WeeklyArrivals(double per_second, const WeekProfile& profile, const Bursts& bursts)
      : profile_(profile), bursts_(bursts) {
    double mean_factor = 1;
    if (has_bursts()) {
      const double share = bursts_.length / (bursts_.length + kDay / bursts_.per_day);
      mean_factor = 1 - share + share * bursts_.factor;
    }
    base_rate_ = per_second / mean_factor;
  }

  Arrival next(Random& random) override {
    if (has_bursts() && !phases_) phases_.emplace(Random(random).next(), "bursts");
    double left = random.exponential(1);
    while (true) {
      if (has_bursts() && time_ >= phase_end_) change_phase();
      const double rate =
          base_rate_ * profile_[hour_ % profile_.size()] * (in_burst_ ? bursts_.factor : 1);
      const Seconds hour_end = static_cast<Seconds>(hour_ + 1) * kHour;
      const Seconds end = has_bursts() ? std::min(hour_end, phase_end_) : hour_end;
      const double available = rate * (end - time_);
      if (left < available) return {time_ += left / rate, 0};
      left -= available;
      time_ = end;
      if (end == hour_end) ++hour_;
    }
  }

 private:
  bool has_bursts() const { return bursts_.per_day > 0 && bursts_.length > 0; }

  void change_phase() {
    in_burst_ = started_ && !in_burst_;
    started_ = true;
    phase_end_ = time_ + phases_->exponential(in_burst_ ? bursts_.length : kDay / bursts_.per_day);
  }

  WeekProfile profile_;
  Bursts bursts_;
  // Of their own stream: at another rate the bursts come at the same times, and every job earlier
  // or later than it did.
  std::optional<Random> phases_;
  double base_rate_ = 0;
  Seconds time_ = 0;
  std::size_t hour_ = 0;
  Seconds phase_end_ = 0;
  bool in_burst_ = false;
  bool started_ = false;
};

class PeriodicBursts final : public ArrivalProcess {
 public:
  PeriodicBursts(double per_second, Seconds period, int count)
      : mean_gap_(1 / per_second), period_(period), count_(count) {}

  Arrival next(Random& random) override {
    if (time_ < 0) time_ = random.exponential(mean_gap_);
    if (count_ > 0 && static_cast<Seconds>(bursts_) * period_ <= time_) {
      const Seconds now = static_cast<Seconds>(bursts_) * period_;
      if (++sent_ == count_) {
        sent_ = 0;
        ++bursts_;
      }
      return {now, 1};
    }
    const Seconds now = time_;
    time_ += random.exponential(mean_gap_);
    return {now, 0};
  }

 private:
  double mean_gap_;
  Seconds period_;
  int count_;
  Seconds time_ = -1;  // of the next job of the plain stream; not yet drawn
  std::size_t bursts_ = 0;
  int sent_ = 0;
};

class ResampledGaps final : public ArrivalProcess {
 public:
  ResampledGaps(std::vector<double> gaps, double scale) : gaps_(std::move(gaps)), scale_(scale) {}
  Arrival next(Random& random) override {
    if (started_ && !gaps_.empty()) time_ += scale_ * gaps_[random.below(gaps_.size())];
    started_ = true;
    return {time_, 0};
  }

 private:
  std::vector<double> gaps_;
  double scale_;
  Seconds time_ = 0;
  bool started_ = false;
};

WeekProfile scaled(WeekProfile profile) {
  double sum = 0;
  for (const double factor : profile) sum += factor;
  for (double& factor : profile) factor *= static_cast<double>(profile.size()) / sum;
  return profile;
}

}  // namespace

WeekProfile day_and_week(double amplitude, double peak_hour, double weekend) {
  WeekProfile profile{};
  for (std::size_t hour = 0; hour < profile.size(); ++hour) {
    const double of_day = static_cast<double>(hour % 24) + 0.5;  // the middle of the hour
    const double wave = 1 + amplitude * std::cos(2 * std::numbers::pi * (of_day - peak_hour) / 24);
    profile[hour] = std::max(0.0, wave) * (hour / 24 >= 5 ? weekend : 1);
  }
  return scaled(profile);
}

WeekProfile hours_times_days(const std::array<double, 24>& hours,
                             const std::array<double, 7>& days) {
  WeekProfile profile{};
  for (std::size_t hour = 0; hour < profile.size(); ++hour) {
    profile[hour] = hours[hour % 24] * days[hour / 24];
  }
  return scaled(profile);
}

std::unique_ptr<ArrivalProcess> make_static_arrivals(Seconds at) {
  return std::make_unique<StaticArrivals>(at);
}
std::unique_ptr<ArrivalProcess> make_poisson_arrivals(double per_second) {
  return std::make_unique<PoissonArrivals>(per_second);
}
std::unique_ptr<ArrivalProcess> make_weekly_arrivals(double per_second, const WeekProfile& profile,
                                                     const Bursts& bursts) {
  return std::make_unique<WeeklyArrivals>(per_second, profile, bursts);
}
std::unique_ptr<ArrivalProcess> make_periodic_bursts(double per_second, Seconds period, int count) {
  return std::make_unique<PeriodicBursts>(per_second, period, count);
}
std::unique_ptr<ArrivalProcess> make_resampled_gaps(std::vector<double> gaps, double scale) {
  return std::make_unique<ResampledGaps>(std::move(gaps), scale);
}

}  // namespace muster
