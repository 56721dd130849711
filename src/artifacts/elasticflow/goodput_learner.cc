#include "artifacts/elasticflow/goodput_learner.h"

#include <algorithm>

namespace muster {

GoodputLearner::GoodputLearner(const Training& training, int nodes, int gpus)
    : training_(&training), nodes_(nodes), gpus_(gpus) {}

void GoodputLearner::see(int nodes, int gpus, int local_batch, const Training::StepTime& time,
                         const GradientNoise& noise) {
  if (!(noise == noise_)) {
    noise_ = noise;
    table_stale_ = true;
  }
  const auto same = [&](const StepMeasurement& m) {
    return m.nodes == nodes && m.gpus == gpus && m.local_batch == local_batch;
  };
  if (std::any_of(seen_.begin(), seen_.end(), same)) return;
  seen_.push_back({nodes, gpus, static_cast<double>(local_batch), time.compute(), time.step});
  most_gpus_ = std::max(most_gpus_, gpus);
  model_stale_ = true;
}

void GoodputLearner::learn() {
  if (model_stale_) {
    model_ = fit_step_model(seen_);
    model_stale_ = false;
    table_stale_ = true;
  }
  if (!table_stale_) return;
  table_.assign(static_cast<std::size_t>(nodes_ + 1) * static_cast<std::size_t>(gpus_ + 1), -1);
  table_stale_ = false;
}

BatchChoice GoodputLearner::best(int nodes, int gpus) {
  learn();
  return best_batch(model_, noise_, training_->limits(), nodes, gpus);
}

double GoodputLearner::goodput(int nodes, int gpus) {
  learn();
  if (nodes > nodes_ || gpus > gpus_) return best(nodes, gpus).goodput;
  double& known = table_[static_cast<std::size_t>(nodes) * static_cast<std::size_t>(gpus_ + 1) +
                         static_cast<std::size_t>(gpus)];
  if (known < 0) known = best(nodes, gpus).goodput;
  return known;
}

}  // namespace muster
