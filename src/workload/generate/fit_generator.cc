// The generator fit: new jobs that look like those of a trace.
#include <limits>
#include <map>

#include <fmt/format.h>

#include "workload/generate/fit.h"
#include "workload/generate/generator_rows.h"
#include "workload/generate/synthetic.h"
#include "workload/trace_reader.h"

namespace muster {
namespace {

constexpr std::string_view kResample = "resample";

// Rows of the trace, drawn again with all that belongs to them. Their durations are kept, or drawn
// from the distribution of their size.
class TwinShape final : public JobShape {
 public:
  TwinShape(std::vector<TraceRow> rows, std::vector<Distribution> durations,
            std::vector<std::uint32_t> duration_of_row, DurationLimits limits)
      : rows_(std::move(rows)),
        durations_(std::move(durations)),
        duration_of_row_(std::move(duration_of_row)),
        limits_(limits) {
    std::vector<double> means;
    for (const Distribution& duration : durations_) {
      means.push_back(duration.clamped_mean(limits_.least, limits_.most));
    }
    double sum = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      sum += rows_[i].gpus *
             (means.empty() ? limits_.apply(rows_[i].duration) : means[duration_of_row_[i]]);
    }
    mean_gpu_seconds_ = sum / static_cast<double>(rows_.size());
  }

  void draw(int /*kind*/, Random& random, JobSpec& job) override {
    const std::size_t i = random.below(rows_.size());
    const TraceRow& row = rows_[i];
    job.gpus = row.gpus;
    job.user = row.user;
    job.partition = row.partition;
    job.model = row.model;
    job.duration = limits_.apply(durations_.empty() ? row.duration
                                                    : durations_[duration_of_row_[i]].draw(random));
  }
  double mean_gpu_seconds(int /*kind*/) const override { return mean_gpu_seconds_; }

 private:
  std::vector<TraceRow> rows_;
  std::vector<Distribution> durations_;  // empty: as in the trace
  std::vector<std::uint32_t> duration_of_row_;
  DurationLimits limits_;
  double mean_gpu_seconds_ = 0;
};

// The nearest family, or the one asked for.
const Distribution& chosen(const SizeFit& size, std::string_view family) {
  for (const FittedFamily& fitted : size.families) {
    if (fitted.distribution.text().starts_with(family)) return fitted.distribution;
  }
  return size.families.front().distribution;
}

std::unique_ptr<JobShape> shape_of(const TraceFit& fit, const Params& params,
                                   DurationLimits limits) {
  const std::string& family = params.text("durations");
  std::vector<Distribution> durations;
  std::vector<std::uint32_t> duration_of_row;
  if (family != kResample) {
    const bool by_size = params.flag("by_size");
    std::map<int, std::uint32_t> known;
    duration_of_row.reserve(fit.rows.size());
    for (const TraceRow& row : fit.rows) {
      const int size = by_size ? row.gpus : 0;
      auto found = known.find(size);
      if (found == known.end()) {
        found = known.emplace(size, static_cast<std::uint32_t>(durations.size())).first;
        durations.push_back(chosen(by_size ? fit.of_size(size) : fit.all, family));
      }
      duration_of_row.push_back(found->second);
    }
  }
  return std::make_unique<TwinShape>(fit.rows, std::move(durations), std::move(duration_of_row),
                                     limits);
}

// Jobs per second: of the trace, or as the parameters say.
Result<double> rate_of(const TraceFit& fit, const Params& params, const JobShape& shape) {
  if (params.real("load") == 0 && params.real("rate") == 0) return fit.jobs_per_hour / 3600;
  return arrival_rate(params, shape.mean_gpu_seconds(0));
}

std::unique_ptr<ArrivalProcess> arrivals_of(const TraceFit& fit, const Params& params,
                                            double per_second) {
  const std::string& kind = params.text("arrivals");
  if (kind == "weekly") return make_weekly_arrivals(per_second, fit.week, {});
  if (kind == kResample)
    return make_resampled_gaps(fit.gaps, fit.jobs_per_hour / 3600 / per_second);
  return make_poisson_arrivals(per_second);
}

}  // namespace

ParamList fit_params() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ParamList own = {
      {"trace", ParamKind::kText, "", "the trace to learn from, in any format that Muster reads"},
      {"durations",
       ParamKind::kText,
       "best",
       "distribution of durations; best: the family that fits best",
       -kInfinity,
       kInfinity,
       {"best", "exponential", "lognormal", "weibull", "gamma", kResample}},
      {"by_size", ParamKind::kFlag, "true", "fit the durations of each GPU count separately"},
      {"arrivals",
       ParamKind::kText,
       "poisson",
       "arrival process; weekly: with the trace's rates by hour of the week",
       -kInfinity,
       kInfinity,
       {"poisson", "weekly", kResample}},
  };
  own = with_rate(std::move(own));
  for (ParamInfo& info : own) {
    if (info.name != "rate") continue;
    info = {"rate", ParamKind::kReal, "0", "jobs per hour; 0: as in the trace", 0, 1e12};
  }
  own.push_back({"min_duration", ParamKind::kReal, "1",
                 "shorter jobs are lengthened to this many seconds", 0, 1e12});
  own.push_back({"max_duration", ParamKind::kReal, "0",
                 "longer jobs are cut to this many seconds; 0: the longest of the trace", 0,
                 kInfinity});
  return with_common(std::move(own));
}

Result<Generated> make_fit(const Params& params, Symbols& symbols) {
  const std::string& path = params.text("trace");
  if (path.empty()) return Error{"parameter 'trace' is missing: name the trace to learn from"};
  TraceOptions options;
  options.any_order = true;
  Result<std::unique_ptr<TraceReader>> reader = TraceReader::open(path, options, symbols);
  if (!reader) return reader.error();
  Result<TraceFit> fit = fit_trace(**reader);
  if (!fit) return Error{fmt::format("{}: {}", path, fit.error().message)};
  Seconds longest = 0;
  for (const TraceRow& row : fit->rows) longest = std::max(longest, row.duration);
  DurationLimits limits{params.real("min_duration"), params.real("max_duration")};
  if (limits.most == 0) limits.most = longest;
  if (limits.least > limits.most) {
    return Error{fmt::format(
        "no duration lies between 'min_duration' and {:.0f} s, the longest allowed", limits.most)};
  }
  std::unique_ptr<JobShape> shape = shape_of(*fit, params, limits);
  const Result<double> rate = rate_of(*fit, params, *shape);
  if (!rate) return rate.error();
  Result<std::unique_ptr<JobSource>> source =
      make_synthetic(params, symbols, arrivals_of(*fit, params, *rate), std::move(shape));
  if (!source) return source.error();
  return Generated{std::move(*source), fit_text(*fit)};
}

}  // namespace muster
