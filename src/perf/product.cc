#include "perf/product.h"

#include <algorithm>

namespace muster {
namespace {

class Product final : public PerfModel {
 public:
  explicit Product(std::vector<std::unique_ptr<PerfModel>> models) : models_(std::move(models)) {}
  double rate(const JobSpec& job, const RunContext& context) const override {
    double product = 1;
    for (const auto& model : models_) product *= model->rate(job, context);
    return product;
  }
  double step_rate(const JobSpec& job, const RunContext& context) const override {
    if (!counts_steps()) return PerfModel::step_rate(job, context);
    double product = 1;
    for (const auto& model : models_) {
      product *= model->counts_steps() ? model->step_rate(job, context) : model->rate(job, context);
    }
    return product;
  }
  bool counts_steps() const override {
    return std::any_of(models_.begin(), models_.end(),
                       [](const auto& model) { return model->counts_steps(); });
  }
  const WorkloadProfile* profile(Symbol model) const override {
    for (const auto& part : models_) {
      if (const WorkloadProfile* found = part->profile(model)) return found;
    }
    return nullptr;
  }
  // Steps are those of the first model that counts any; the others only slow them down.
  double total_work(const JobSpec& job) const override {
    const PerfModel* counts = counting();
    return counts != nullptr ? counts->total_work(job) : job.duration;
  }
  double steps(const JobSpec& job) const override {
    const PerfModel* counts = counting();
    return counts != nullptr ? counts->steps(job) : job.duration;
  }
  double step_time(const JobSpec& job, const RunContext& context) const override {
    const PerfModel* counts = counting();
    double time = counts != nullptr ? counts->step_time(job, context) : 1;
    for (const auto& model : models_) {
      if (model.get() != counts) time /= model->rate(job, context);
    }
    return time;
  }
  const Interleaving* interleaving() const override {
    const PerfModel* counts = counting();
    return counts != nullptr ? counts->interleaving() : nullptr;
  }
  const ThroughputCurve* curve(const JobSpec& job) const override {
    for (const auto& part : models_) {
      if (const ThroughputCurve* found = part->curve(job)) return found;
    }
    return nullptr;
  }
  const Training* training(const JobSpec& job) const override {
    for (const auto& part : models_) {
      if (const Training* found = part->training(job)) return found;
    }
    return nullptr;
  }
  Status check(const JobSpec& job) const override {
    for (const auto& part : models_) {
      if (Status status = part->check(job); !status) return status;
    }
    return Done{};
  }
  bool knows_nothing_of(const JobSpec& job) const override {
    return std::any_of(models_.begin(), models_.end(),
                       [&](const auto& model) { return model->knows_nothing_of(job); });
  }
  HostResources wanted_host(const JobSpec& job) const override {
    HostResources most = PerfModel::wanted_host(job);
    for (const auto& model : models_) {
      const HostResources wanted = model->wanted_host(job);
      most.cpus_per_gpu = std::max(most.cpus_per_gpu, wanted.cpus_per_gpu);
      most.memory_per_gpu = std::max(most.memory_per_gpu, wanted.memory_per_gpu);
    }
    return most;
  }

 private:
  const PerfModel* counting() const {
    for (const auto& model : models_) {
      if (model->interleaving() != nullptr) return model.get();
    }
    return nullptr;
  }

  std::vector<std::unique_ptr<PerfModel>> models_;
};

}  // namespace

std::unique_ptr<PerfModel> multiply(std::vector<std::unique_ptr<PerfModel>> models) {
  if (models.size() == 1) return std::move(models.front());
  return std::make_unique<Product>(std::move(models));
}

}  // namespace muster
