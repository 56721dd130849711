// The generators poisson, diurnal and static: one distribution of durations, a mix of sizes.
#include "workload/generate/generator_rows.h"
#include "workload/generate/synthetic.h"

namespace muster {
namespace {

constexpr std::string_view kUsualSizes = "1:0.7,2:0.1,4:0.15,8:0.05";

ParamInfo sizes_param() {
  return {"gpus", ParamKind::kText, kUsualSizes, "GPU counts with weights, like 1:0.7,4:0.3"};
}

Result<std::unique_ptr<JobShape>> shape_of(const Params& params) {
  Result<std::vector<JobClass>> classes = parse_sizes(params.text("gpus"), "gpus");
  if (!classes) return classes.error();
  const Result<Distribution> duration = duration_of(params);
  if (!duration) return duration.error();
  const Result<DurationLimits> limits = duration_limits(params);
  if (!limits) return limits.error();
  for (JobClass& one : *classes) one.duration = *duration;
  return make_class_shape({*classes}, *limits);
}

Result<Generated> joined(const Params& params, Symbols& symbols,
                         std::unique_ptr<ArrivalProcess> arrivals,
                         std::unique_ptr<JobShape> shape) {
  Result<std::unique_ptr<JobSource>> source =
      make_synthetic(params, symbols, std::move(arrivals), std::move(shape));
  if (!source) return source.error();
  return Generated{std::move(*source), {}};
}

}  // namespace

ParamList poisson_params() { return with_common(with_durations(with_rate({sizes_param()}))); }

Result<Generated> make_poisson(const Params& params, Symbols& symbols) {
  Result<std::unique_ptr<JobShape>> shape = shape_of(params);
  if (!shape) return shape.error();
  const Result<double> rate = arrival_rate(params, (*shape)->mean_gpu_seconds(0));
  if (!rate) return rate.error();
  return joined(params, symbols, make_poisson_arrivals(*rate), std::move(*shape));
}

ParamList diurnal_params() {
  ParamList own = {
      sizes_param(),
      {"amplitude", ParamKind::kReal, "0.6",
       "height of the daily peak above the mean, as a fraction of the mean", 0, 1},
      {"peak_hour", ParamKind::kReal, "15", "hour of the day with the most arrivals", 0, 24},
      {"weekend", ParamKind::kReal, "0.5",
       "arrivals on Saturday and Sunday, relative to other days", 0, 10},
      {"bursts_per_day", ParamKind::kReal, "2", "mean number of bursts per day; 0: none", 0, 1000},
      {"burst_factor", ParamKind::kReal, "5", "arrival rate inside a burst, relative to outside", 0,
       1000},
      {"burst_minutes", ParamKind::kReal, "30", "mean length of a burst in minutes", 0.1, 1e6},
  };
  return with_common(with_durations(with_rate(std::move(own))));
}

Result<Generated> make_diurnal(const Params& params, Symbols& symbols) {
  Result<std::unique_ptr<JobShape>> shape = shape_of(params);
  if (!shape) return shape.error();
  const Result<double> rate = arrival_rate(params, (*shape)->mean_gpu_seconds(0));
  if (!rate) return rate.error();
  const WeekProfile week =
      day_and_week(params.real("amplitude"), params.real("peak_hour"), params.real("weekend"));
  const Bursts bursts{params.real("bursts_per_day"), params.real("burst_factor"),
                      params.real("burst_minutes") * 60};
  return joined(params, symbols, make_weekly_arrivals(*rate, week, bursts), std::move(*shape));
}

ParamList static_params() {
  return with_common(with_durations(
      {sizes_param(),
       {"at", ParamKind::kReal, "0", "when all jobs are submitted, in seconds", 0, 1e12}}));
}

Result<Generated> make_static(const Params& params, Symbols& symbols) {
  Result<std::unique_ptr<JobShape>> shape = shape_of(params);
  if (!shape) return shape.error();
  return joined(params, symbols, make_static_arrivals(params.real("at")), std::move(*shape));
}

}  // namespace muster
