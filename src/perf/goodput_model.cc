#include "perf/goodput_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/truth.h"

namespace muster {
namespace {

// A rate is the recorded duration over the seconds that the whole training would take there, from
// its first epoch to its last; it is the recorded one also where policies believe in another, for
// it is a unit here and not a forecast. A job that changes its run context half way has half of it
// done.
class GoodputModel final : public PerfModel, private MeasuredTraining {
 public:
  GoodputModel(std::string folder, bool adapted, std::map<Symbol, Training> trainings)
      : folder_(std::move(folder)), adapted_(adapted), trainings_(std::move(trainings)) {}

  double rate(const JobSpec& job, const RunContext& context) const override {
    const Training* found = of(job);
    // Jobs of which nothing was measured are refused by check(), but speeds are asked of all.
    const Seconds recorded = true_duration(job);
    if (found == nullptr || recorded <= 0) return 1;
    const int gpus = std::max(1, context.gpus);
    const int nodes = std::clamp(context.nodes, 1, gpus);
    const int batch = adapted_ ? 0 : job.batch_size;
    const std::scoped_lock lock(mutex_);
    double& seconds = seconds_[{job.model, batch, nodes, gpus}];
    if (seconds == 0) {
      seconds = adapted_ ? adapted_seconds(*found, nodes, gpus)
                         : given_seconds(*found, nodes, gpus, batch);
    }
    return recorded / seconds;
  }

  PerfKnowledge knowledge() const override { return {.training = this}; }

  Status check(const JobSpec& job) const override {
    if (folder_.empty()) {
      return Error{
          "performance model 'goodput': parameter 'folder' is empty; name the folder that holds "
          "one folder of measurements per application"};
    }
    const Training* found = of(job);
    if (found == nullptr) {
      std::vector<std::string_view> names;
      for (const auto& [model, training] : trainings_) names.push_back(training.name());
      std::sort(names.begin(), names.end());
      return Error{fmt::format(
          "job {}: its model was not measured; {} has {}. Name one of these, or add its folder",
          display_name(job), folder_, fmt::join(names, ", "))};
    }
    if (adapted_ || found->iterations(job.batch_size) > 0) return Done{};
    return Error{fmt::format(
        "job {}: no epochs of {} were measured at batch size {}; there are {}. Use one of these, "
        "or batch=adapted",
        display_name(job), found->name(), job.batch_size, fmt::join(found->batches(), ", "))};
  }

 private:
  const Training* of(const JobSpec& job) const override {
    const auto found = trainings_.find(job.model);
    return found == trainings_.end() ? nullptr : &found->second;
  }
  static double seconds_of(const Training& training, int nodes, int gpus, const BatchChoice& way) {
    const Training::StepTime time = training.step_time(nodes, gpus, way.local);
    return (way.passes - 1) * time.compute() + time.step;
  }

  // Every epoch at the batch size with the largest goodput.
  static double adapted_seconds(const Training& training, int nodes, int gpus) {
    const BatchLimits& limits = training.limits();
    struct Way {
      int samples = 0;
      double seconds = 0;
    };
    std::vector<Way> ways;
    constexpr int kSizes = 50;
    const double least = std::min(limits.most, std::max(limits.initial, limits.local_least * gpus));
    for (int i = 0; i < kSizes; ++i) {
      const double batch = least * std::pow(limits.most / least, i / (kSizes - 1.0));
      const BatchChoice way = given_batch(limits, gpus, static_cast<int>(std::ceil(batch)));
      if (!ways.empty() && ways.back().samples == way.samples(gpus)) continue;
      ways.push_back({way.samples(gpus), seconds_of(training, nodes, gpus, way)});
    }
    double sum = 0;
    for (int epoch = 0; epoch < training.epochs(); ++epoch) {
      double best = 0;  // steps at the smallest batch, per second
      for (const Way& way : ways) {
        const double scale = static_cast<double>(way.samples) / limits.initial;
        best = std::max(best, training.noise(way.samples, epoch).gain(scale) / way.seconds);
      }
      sum += (training.progress_after(epoch + 1) - training.progress_after(epoch)) / best;
    }
    return sum;
  }

  static double given_seconds(const Training& training, int nodes, int gpus, int batch) {
    const int size = batch > 0 ? batch : training.limits().initial;
    const double measured = training.iterations(size);
    const double steps = measured > 0 ? measured : training.progress_after(training.epochs());
    return steps * seconds_of(training, nodes, gpus, given_batch(training.limits(), gpus, size));
  }

  std::string folder_;
  bool adapted_;
  std::map<Symbol, Training> trainings_;
  mutable std::mutex mutex_;
  // By model, batch, nodes and GPUs: filled on demand; the order of asking changes nothing.
  mutable std::map<std::tuple<Symbol, int, int, int>, double> seconds_;
};

}  // namespace

std::unique_ptr<PerfModel> make_goodput_model(std::map<Symbol, Training> trainings, bool adapted,
                                              const std::string& folder) {
  return std::make_unique<GoodputModel>(folder, adapted, std::move(trainings));
}

}  // namespace muster
