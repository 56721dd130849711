// The common form of Muster's own generators: an arrival process, a shape that gives each job its
// GPUs and duration, and extras (users, partitions, models, estimates, deadlines) on top.
//
// Each part draws from a stream of its own, named after it: switching estimates on changes no
// arrival, and two loads of one seed see the same jobs closer together. Memory does not grow with
// the number of jobs.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/params.h"
#include "base/random.h"
#include "base/result.h"
#include "workload/generate/arrivals.h"
#include "workload/generate/distribution.h"
#include "workload/source.h"

namespace muster {

// Gives a job its GPUs, its duration and whatever else belongs to its kind.
class JobShape {
 public:
  virtual ~JobShape() = default;
  virtual void draw(int kind, Random& random, JobSpec& job) = 0;
  // Expected GPU-seconds of a job of that kind.
  virtual double mean_gpu_seconds(int kind) const = 0;
};

// Jobs of several classes, each with a weight, a GPU count and a distribution of durations.
struct JobClass {
  double weight = 1;
  int gpus = 1;
  Distribution duration = Distribution::constant(1);
};

struct DurationLimits {
  Seconds least = 1;
  Seconds most = kNever;
  Seconds apply(Seconds duration) const { return std::min(std::max(duration, least), most); }
};

// One list of classes per kind of arrival.
std::unique_ptr<JobShape> make_class_shape(const std::vector<std::vector<JobClass>>& kinds,
                                           DurationLimits limits);

// "a:2,b" is a with weight 2 and b with weight 1. `parameter` names it in messages.
struct Weighted {
  std::string name;
  double weight = 1;
};
Result<std::vector<Weighted>> parse_weighted(std::string_view text, std::string_view parameter);
// The same for GPU counts: "1:0.7,2:0.2,8:0.1".
Result<std::vector<JobClass>> parse_sizes(std::string_view text, std::string_view parameter);

// The parameters that every generator of ours has, behind its own.
ParamList with_common(ParamList own);
// Those of generators whose jobs arrive at a rate: rate, load and cluster_gpus.
ParamList with_rate(ParamList own);
// Those of generators with one distribution of durations: duration, mean_duration, shape, and
// limits.
ParamList with_durations(ParamList own);

Result<DurationLimits> duration_limits(const Params& params);
Result<Distribution> duration_of(const Params& params);
// Arrivals per second by `rate`, or by `load` and `cluster_gpus`, given the GPU-seconds of a mean
// job and the GPU-seconds per second that come anyway.
Result<double> arrival_rate(const Params& params, double mean_gpu_seconds, double given = 0);

// Puts the parts together; reads the common parameters.
Result<std::unique_ptr<JobSource>> make_synthetic(const Params& params, Symbols& symbols,
                                                  std::unique_ptr<ArrivalProcess> arrivals,
                                                  std::unique_ptr<JobShape> shape);

}  // namespace muster
