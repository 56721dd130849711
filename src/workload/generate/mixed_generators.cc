// The generators small-large and philly-like: durations depend on the class or size of a job.
#include <array>

#include "workload/generate/generator_rows.h"
#include "workload/generate/synthetic.h"

namespace muster {
namespace {

constexpr double kLongest = 1e12;

ParamList limits_params(ParamList own, std::string_view most) {
  own.push_back({"min_duration", ParamKind::kReal, "1",
                 "shorter jobs are lengthened to this many seconds", 0, kLongest});
  own.push_back({"max_duration", ParamKind::kReal, most, "longer jobs are cut to this many seconds",
                 1e-3, std::numeric_limits<double>::infinity()});
  return own;
}

Result<std::vector<JobClass>> classes_of(const Params& params, std::string_view size,
                                         std::string_view gpus, double weight) {
  const std::string prefix(size);
  Result<std::vector<JobClass>> classes = parse_sizes(params.text(gpus), gpus);
  if (!classes) return classes.error();
  const Result<Distribution> duration = Distribution::of_mean(
      "lognormal", params.real(prefix + "_mean"), params.real(prefix + "_sigma"));
  if (!duration) return duration.error();
  double sum = 0;
  for (const JobClass& one : *classes) sum += one.weight;
  for (JobClass& one : *classes) {
    one.weight *= weight / sum;
    one.duration = *duration;
  }
  return classes;
}

// Fitted to the 82,247 jobs of the trimmed Philly trace (Jeon et al., ATC 2019; data CC-BY-4.0):
// the share of each size, and the nearest family for its durations.
std::vector<JobClass> philly_classes() {
  return {
      {0.9317, 1, Distribution::log_normal(6.72, 1.97)},
      {0.0221, 2, Distribution::log_normal(4.52, 3.27)},
      {0.0227, 4, Distribution::gamma(0.315, 249700)},
      {0.0200, 8, Distribution::gamma(0.322, 403500)},
      {0.0024, 16, Distribution::gamma(0.281, 452100)},
      {0.0009, 32, Distribution::gamma(0.438, 68250)},
  };
}

// Jobs per hour of the day, and per day from Monday, relative to the mean.
constexpr std::array<double, 24> kPhillyHours = {1.27, 0.98, 1.12, 1.10, 0.70, 1.15, 1.67, 2.09,
                                                 1.11, 1.01, 1.02, 0.87, 0.75, 0.70, 0.64, 0.65,
                                                 0.88, 0.67, 0.80, 0.73, 1.02, 0.92, 1.13, 1.01};
constexpr std::array<double, 7> kPhillyDays = {0.86, 1.07, 1.14, 1.29, 1.44, 0.61, 0.59};
// The middle hour has 14 jobs, one in ten over 100 and one in a hundred over 390: half of them come
// in bursts.
constexpr Bursts kPhillyBursts = {2, 15, 3600};

}  // namespace

ParamList small_large_params() {
  ParamList own = {
      {"small_share", ParamKind::kReal, "0.8", "fraction of small jobs outside the bursts", 0, 1},
      {"small_gpus", ParamKind::kText, "1:0.8,2:0.2", "GPU counts of small jobs with weights"},
      {"small_mean", ParamKind::kReal, "1800", "mean duration of small jobs in seconds", 1e-3,
       kLongest},
      {"small_sigma", ParamKind::kReal, "0.8", "sigma of their log-normal durations", 1e-3, 10},
      {"large_gpus", ParamKind::kText, "4:0.5,8:0.4,16:0.1",
       "GPU counts of large jobs with weights"},
      {"large_mean", ParamKind::kReal, "36000", "mean duration of large jobs in seconds", 1e-3,
       kLongest},
      {"large_sigma", ParamKind::kReal, "0.8", "sigma of their log-normal durations", 1e-3, 10},
      {"burst_hours", ParamKind::kReal, "4", "hours from one burst of small jobs to the next", 0.01,
       1e6},
      {"burst_jobs", ParamKind::kInteger, "0", "small jobs in a burst, all at once; 0: no bursts",
       0, 1e6},
  };
  return with_common(limits_params(with_rate(std::move(own)), "inf"));
}

Result<Generated> make_small_large(const Params& params, Symbols& symbols) {
  const double share = params.real("small_share");
  const Result<std::vector<JobClass>> small = classes_of(params, "small", "small_gpus", 1);
  if (!small) return small.error();
  const Result<std::vector<JobClass>> large = classes_of(params, "large", "large_gpus", 1 - share);
  if (!large) return large.error();
  const Result<DurationLimits> limits = duration_limits(params);
  if (!limits) return limits.error();
  std::vector<JobClass> usual = *large;
  for (JobClass one : *small) {
    one.weight *= share;
    usual.push_back(one);
  }
  std::unique_ptr<JobShape> shape = make_class_shape({usual, *small}, *limits);
  const int burst_jobs = static_cast<int>(params.integer("burst_jobs"));
  const Seconds period = params.real("burst_hours") * 3600;
  const Result<double> rate = arrival_rate(params, shape->mean_gpu_seconds(0),
                                           burst_jobs * shape->mean_gpu_seconds(1) / period);
  if (!rate) return rate.error();
  Result<std::unique_ptr<JobSource>> source = make_synthetic(
      params, symbols, make_periodic_bursts(*rate, period, burst_jobs), std::move(shape));
  if (!source) return source.error();
  return Generated{std::move(*source), {}};
}

ParamList philly_like_params() {
  ParamList own = with_rate({});
  own[0].initial = "31.5";  // what the trace has
  own.push_back({"max_gpus", ParamKind::kInteger, "32",
                 "largest GPU count; larger ones are left out", 1, 32});
  // The longest job of the trace ran for 53.6 days.
  return with_common(limits_params(std::move(own), "4628226"));
}

Result<Generated> make_philly_like(const Params& params, Symbols& symbols) {
  const Result<DurationLimits> limits = duration_limits(params);
  if (!limits) return limits.error();
  std::vector<JobClass> classes;
  for (const JobClass& size : philly_classes()) {
    if (size.gpus <= params.integer("max_gpus")) classes.push_back(size);
  }
  std::unique_ptr<JobShape> shape = make_class_shape({classes}, *limits);
  const Result<double> rate = arrival_rate(params, shape->mean_gpu_seconds(0));
  if (!rate) return rate.error();
  auto arrivals =
      make_weekly_arrivals(*rate, hours_times_days(kPhillyHours, kPhillyDays), kPhillyBursts);
  Result<std::unique_ptr<JobSource>> source =
      make_synthetic(params, symbols, std::move(arrivals), std::move(shape));
  if (!source) return source.error();
  return Generated{std::move(*source), {}};
}

}  // namespace muster
