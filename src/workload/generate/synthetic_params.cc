// The parameters that generators share, and how texts become weights and distributions.
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "workload/generate/synthetic.h"

namespace muster {
namespace {

constexpr double kMostJobs = 4e9;  // job ids have 32 bits
constexpr double kMostSeed = 9007199254740992.0;
constexpr double kMostGpus = 1 << 20;

void append(ParamList& list, std::initializer_list<ParamInfo> more) {
  list.insert(list.end(), more.begin(), more.end());
}

Error bad_item(std::string_view parameter, std::string_view item, std::string_view expected) {
  return Error{fmt::format("parameter '{}': found '{}', expected {}", parameter, item, expected)};
}

}  // namespace

ParamList with_common(ParamList own) {
  append(
      own,
      {{"jobs", ParamKind::kInteger, "1000", "number of jobs; 0: endless", 0, kMostJobs},
       {"seed", ParamKind::kInteger, "1", "seed; the same seed gives the same jobs", 0, kMostSeed},
       {"users", ParamKind::kInteger, "0", "number of users; 0: jobs have no user", 0, 1e6},
       {"user_skew", ParamKind::kReal, "1",
        "user k submits in proportion to k^-skew; 0: all equally", 0, 10},
       {"partitions", ParamKind::kText, "",
        "partitions with weights, like prod:3,research:1; empty: none"},
       {"models", ParamKind::kText, "",
        "models with weights, like resnet50:2,bert:1; empty: none, or the generator's own"},
       {"estimates",
        ParamKind::kText,
        "none",
        "estimates of the duration that jobs carry",
        -INFINITY,
        INFINITY,
        {"none", "exact", "noisy"}},
       {"estimate_error", ParamKind::kReal, "0.5",
        "sigma of the log-normal error factor of noisy estimates", 0, 10},
       {"deadline_share", ParamKind::kReal, "0", "fraction of jobs that have a deadline", 0, 1},
       {"tightness_low", ParamKind::kReal, "1.2",
        "a deadline is at submission + duration x uniform(tightness_low, tightness_high)", 0, 1e6},
       {"tightness_high", ParamKind::kReal, "3", "see tightness_low", 0, 1e6},
       {"whole_seconds", ParamKind::kFlag, "true", "submissions and durations in whole seconds"}});
  return own;
}

ParamList with_rate(ParamList own) {
  append(own,
         {{"rate", ParamKind::kReal, "60", "mean number of jobs per hour", 1e-6, 1e12},
          {"load", ParamKind::kReal, "0",
           "mean GPU demand as a fraction of cluster_gpus, instead of rate; 0: use rate", 0, 1e6},
          {"cluster_gpus", ParamKind::kInteger, "128", "the cluster that load refers to", 1, 1e9}});
  return own;
}

ParamList with_durations(ParamList own) {
  append(own, {{"duration",
                ParamKind::kText,
                "lognormal",
                "distribution of the durations",
                -INFINITY,
                INFINITY,
                {"constant", "exponential", "lognormal", "weibull", "gamma", "pareto", "uniform",
                 "loguniform"}},
               {"mean_duration", ParamKind::kReal, "7200",
                "mean duration in seconds, before the limits apply", 1e-3, 1e12},
               {"shape", ParamKind::kReal, "1.5",
                "sigma of lognormal; shape of weibull, gamma, pareto; uniform: half width / mean; "
                "loguniform: "
                "width in powers of ten",
                0, 100},
               {"min_duration", ParamKind::kReal, "1",
                "shorter jobs are lengthened to this many seconds", 0, 1e12},
               {"max_duration", ParamKind::kReal, "inf", "longer jobs are cut to this many seconds",
                1e-3, INFINITY}});
  return own;
}

Result<std::vector<Weighted>> parse_weighted(std::string_view text, std::string_view parameter) {
  std::vector<Weighted> list;
  if (trim(text).empty()) return list;
  double sum = 0;
  for (const std::string_view item : split(text, ',')) {
    const std::size_t colon = item.rfind(':');
    const std::string_view name = trim(item.substr(0, colon));
    double weight = 1;
    if (colon != std::string_view::npos) {
      const auto number = parse_real(trim(item.substr(colon + 1)));
      if (!number || !std::isfinite(*number) || *number < 0) {
        return bad_item(parameter, item, "name:weight with a weight of 0 or more");
      }
      weight = *number;
    }
    if (name.empty()) return bad_item(parameter, item, "a name, or name:weight");
    list.push_back({std::string(name), weight});
    sum += weight;
  }
  if (!(sum > 0)) return bad_item(parameter, text, "at least one weight above 0");
  return list;
}

Result<std::vector<JobClass>> parse_sizes(std::string_view text, std::string_view parameter) {
  const Result<std::vector<Weighted>> items = parse_weighted(text, parameter);
  if (!items) return items.error();
  if (items->empty()) return bad_item(parameter, text, "GPU counts with weights, like 1:0.7,4:0.3");
  std::vector<JobClass> classes;
  for (const Weighted& item : *items) {
    const auto gpus = parse_integer(item.name);
    if (!gpus || *gpus < 1 || static_cast<double>(*gpus) > kMostGpus) {
      return bad_item(parameter, item.name,
                      "a GPU count of 1 or more, then a colon and its weight");
    }
    JobClass one;
    one.weight = item.weight;
    one.gpus = static_cast<int>(*gpus);
    classes.push_back(one);
  }
  return classes;
}

Result<DurationLimits> duration_limits(const Params& params) {
  const DurationLimits limits{params.real("min_duration"), params.real("max_duration")};
  if (limits.least > limits.most) return Error{"parameter 'max_duration' is below 'min_duration'"};
  return limits;
}

Result<Distribution> duration_of(const Params& params) {
  return Distribution::of_mean(params.text("duration"), params.real("mean_duration"),
                               params.real("shape"));
}

Result<double> arrival_rate(const Params& params, double mean_gpu_seconds, double given) {
  const double load = params.real("load");
  if (load == 0) return params.real("rate") / 3600;
  if (!std::isfinite(mean_gpu_seconds)) {
    return Error{"parameter 'load' needs a finite mean duration; give a 'max_duration'"};
  }
  const double wanted = load * static_cast<double>(params.integer("cluster_gpus")) - given;
  if (wanted <= 0) {
    return Error{
        fmt::format("the bursts alone demand {:.1f} GPUs, more than a load of {} on {} GPUs; "
                    "raise 'load' or make the bursts smaller",
                    given, exact_text(load), params.integer("cluster_gpus"))};
  }
  return wanted / mean_gpu_seconds;
}

}  // namespace muster
