#include "perf/product.h"

#include <algorithm>

namespace muster {
namespace {

class Product final : public PerfModel, private StepTimes {
 public:
  explicit Product(std::vector<std::unique_ptr<PerfModel>> models) : models_(std::move(models)) {
    for (const auto& model : models_) {
      const PerfKnowledge part = model->knowledge();
      if (part.profiles != nullptr) profiles_.parts.push_back(part.profiles);
      if (part.scaling != nullptr) scaling_.parts.push_back(part.scaling);
      if (part.training != nullptr) training_.parts.push_back(part.training);
      if (part.steps != nullptr && counts_ == nullptr) counts_ = model.get();
    }
    if (!profiles_.parts.empty()) knowledge_.profiles = &profiles_;
    if (!scaling_.parts.empty()) knowledge_.scaling = &scaling_;
    if (!training_.parts.empty()) knowledge_.training = &training_;
    if (counts_ == nullptr) return;
    knowledge_.steps = this;
    knowledge_.interleaving = counts_->knowledge().interleaving;
  }
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
  // Steps are those of the first model that counts any; the others only slow them down.
  double total_work(const JobSpec& job) const override {
    return counts_ != nullptr ? counts_->total_work(job) : job.duration;
  }
  PerfKnowledge knowledge() const override { return knowledge_; }
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
  // The first part that knows the job or workload.
  template <typename Capability, typename Key, typename Value>
  struct First final : Capability {
    const Value* of(Key key) const override {
      for (const Capability* part : parts) {
        if (const Value* found = part->of(key)) return found;
      }
      return nullptr;
    }
    std::vector<const Capability*> parts;
  };

  double steps(const JobSpec& job) const override { return counts_->knowledge().steps->steps(job); }
  double step_time(const JobSpec& job, const RunContext& context) const override {
    double time = counts_->knowledge().steps->step_time(job, context);
    for (const auto& model : models_) {
      if (model.get() != counts_) time /= model->rate(job, context);
    }
    return time;
  }

  std::vector<std::unique_ptr<PerfModel>> models_;
  const PerfModel* counts_ = nullptr;  // the steps
  First<WorkloadProfiles, Symbol, WorkloadProfile> profiles_;
  First<ScalingCurves, const JobSpec&, ThroughputCurve> scaling_;
  First<MeasuredTraining, const JobSpec&, Training> training_;
  PerfKnowledge knowledge_;
};

}  // namespace

std::unique_ptr<PerfModel> multiply(std::vector<std::unique_ptr<PerfModel>> models) {
  if (models.size() == 1) return std::move(models.front());
  return std::make_unique<Product>(std::move(models));
}

}  // namespace muster
