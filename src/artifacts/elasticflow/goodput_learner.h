// What Pollux knows of one job, and learns while it runs: the step times it has seen and the model
// fitted to them, the noise of its gradients, and so its goodput on any number of GPUs and nodes.
#pragma once

#include <vector>

#include "base/archive.h"
#include "perf/training.h"

namespace muster {

class GoodputLearner {
 public:
  GoodputLearner() = default;
  // Up to so many nodes and GPUs will be asked about.
  GoodputLearner(const Training& training, int nodes, int gpus);

  // A step was seen on this run context.
  void see(int nodes, int gpus, int local_batch, const Training::StepTime& time,
           const GradientNoise& noise);
  bool knows_anything() const { return !seen_.empty(); }
  int most_gpus_seen() const { return most_gpus_; }

  // The best batch size there, and its goodput; needs to know something.
  BatchChoice best(int nodes, int gpus);
  double goodput(int nodes, int gpus);

  // All but the application itself, which the performance model knows.
  void checkpoint(Archive& archive) {
    archive.value(nodes_);
    archive.value(gpus_);
    archive.value(most_gpus_);
    archive.list(seen_);
    archive.value(model_);
    archive.value(noise_);
    archive.value(model_stale_);
    archive.value(table_stale_);
    archive.list(table_);
  }
  void learn_of(const Training* training) { training_ = training; }

 private:
  void learn();

  const Training* training_ = nullptr;
  int nodes_ = 0;
  int gpus_ = 0;
  int most_gpus_ = 0;
  std::vector<StepMeasurement> seen_;
  StepModel model_;
  GradientNoise noise_;
  bool model_stale_ = true;
  bool table_stale_ = true;
  std::vector<double> table_;  // goodput by nodes and GPUs; negative: not yet asked
};

}  // namespace muster
