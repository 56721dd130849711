#include "perf/curve_model.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace muster {
namespace {

class CurveModel final : public PerfModel, private ScalingCurves {
 public:
  explicit CurveModel(MeasuredCurves measured) : measured_(std::move(measured)) {}

  double rate(const JobSpec& job, const RunContext& context) const override {
    const ThroughputCurve* found = of(job);
    if (found == nullptr) return 1;
    const double speed = found->at(context.gpus);
    // Jobs whose iterations are unknown are refused by check(), but speeds are asked of all.
    return job.iterations > 0 ? speed * job.duration / job.iterations : speed / found->at(job.gpus);
  }

  PerfKnowledge knowledge() const override { return {.scaling = this}; }

  Status check(const JobSpec& job) const override {
    if (measured_.folder.empty()) {
      return Error{
          "performance model 'throughput-tables': parameter 'folder' is empty; name the folder "
          "that holds one <model>.csv per model"};
    }
    if (!(job.iterations > 0)) {
      return Error{fmt::format(
          "job {}: it has {} iterations, expected a positive number: its work is counted in them",
          display_name(job), job.iterations)};
    }
    const auto found = measured_.models.find(job.model);
    if (found == measured_.models.end()) {
      std::vector<std::string_view> names;
      for (const auto& [symbol, model] : measured_.models) names.push_back(model.name);
      std::sort(names.begin(), names.end());
      return Error{fmt::format(
          "job {}: its model has no table in {}; there are {}. Name a model that was measured, or "
          "add its file",
          display_name(job), measured_.folder, fmt::join(names, ", "))};
    }
    const auto& [name, by_batch] = found->second;
    if (const auto row = by_batch.find(job.batch_size); row != by_batch.end()) {
      const int least = row->second.points.front().gpus;
      if (job.elastic() || job.gpus >= least) return Done{};
      return Error{fmt::format(
          "job {}: it asks for {} GPUs; model {} with batch size {} was measured on {} and more in "
          "{}. Ask for at least that many, or give it a range of sizes",
          display_name(job), job.gpus, name, job.batch_size, least, measured_.folder)};
    }
    std::vector<int> batches;
    batches.reserve(by_batch.size());
    for (const auto& [size, curve] : by_batch) batches.push_back(size);
    return Error{fmt::format(
        "job {}: batch size {} of model {} has no row in {}; there are {}. Use one of these, or "
        "add a row",
        display_name(job), job.batch_size, name, measured_.folder, fmt::join(batches, ", "))};
  }

 private:
  const ThroughputCurve* of(const JobSpec& job) const override {
    const auto model = measured_.models.find(job.model);
    if (model == measured_.models.end()) return nullptr;
    const auto batch = model->second.by_batch.find(job.batch_size);
    return batch == model->second.by_batch.end() ? nullptr : &batch->second;
  }
  MeasuredCurves measured_;
};

}  // namespace

std::unique_ptr<PerfModel> make_curve_model(MeasuredCurves measured) {
  return std::make_unique<CurveModel>(std::move(measured));
}

}  // namespace muster
