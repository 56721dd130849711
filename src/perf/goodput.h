// Goodput: useful training per second = throughput x statistical efficiency (Pollux, OSDI 2021).
//
// Throughput is what the hardware does: samples per second with so many GPUs on so many nodes and
// so large a batch. Efficiency is what a sample is worth: with a larger batch each step averages
// over more samples, and from some size on, which the noise of the gradients tells, the additional
// ones add little. Their product has a best batch size for every number of GPUs.
//
// Use StepModel where step times are to be predicted from a few measured ones, BatchLimits and
// best_batch() to choose a batch size. perf/training.h has measured applications.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace muster {

// How long a training step takes, in seven numbers: computing grows with the samples per GPU,
// exchanging gradients with the number of GPUs, more so across nodes; the two overlap in part.
struct StepModel {
  double compute = 0.1;          // seconds of a step, whatever its size
  double compute_sample = 0.01;  // and for each sample on a GPU
  double across = 0.1;           // seconds to exchange gradients across nodes, by two GPUs
  double across_gpu = 0.01;      // and for each further GPU
  double within = 0.1;           // the same inside one node
  double within_gpu = 0.01;
  double overlap = 1.001;  // 1: one after the other; large: side by side

  double compute_time(double local_batch) const { return compute + compute_sample * local_batch; }
  double exchange_time(int nodes, int gpus) const;
  // Of a step that ends with an exchange.
  double step_time(int nodes, int gpus, double local_batch) const;
};

struct StepMeasurement {
  int nodes = 1;
  int gpus = 1;
  double local_batch = 1;
  double compute_time = 0;
  double step_time = 0;
};

// Fits the model to the measurements by least squares in the logarithms of their times.
// Configurations without measurements are assumed to be as good as possible; otherwise they would
// never be tried.
StepModel fit_step_model(std::span<const StepMeasurement> measurements);

// Squared norm and variance of gradients at the smallest batch; they decide how much a larger batch
// helps.
struct GradientNoise {
  double square = 1;
  double variance = 0;

  // How many steps at the smallest batch one step is worth that is `scale` times as large.
  double gain(double scale) const {
    const double spread = variance / scale + square;
    return spread > 0 ? (variance + square) / spread : 1;
  }
  double efficiency(double scale) const { return gain(scale) / scale; }
  friend bool operator==(const GradientNoise&, const GradientNoise&) = default;
};

// The batch sizes with which an application may be trained.
struct BatchLimits {
  int initial = 1;  // of all GPUs together: the smallest, to which efficiency is relative
  int most = 1;
  int local_least = 1;  // on one GPU at a time
  int local_most = 1;
};

// What a GPU does in a step: `passes` times `local` samples, then one exchange of gradients.
struct BatchChoice {
  int local = 0;
  int passes = 1;
  double goodput = 0;  // samples at the smallest batch that one second is worth

  int samples(int gpus) const { return gpus * local * passes; }
};

// The best of 50 batch sizes between the least and the most, in equal ratios. A single GPU makes at
// least two passes where the batch is larger than the initial one: from one pass alone the noise of
// the gradients cannot be told.
BatchChoice best_batch(const StepModel& model, const GradientNoise& noise,
                       const BatchLimits& limits, int nodes, int gpus);

// The same for a given batch size.
BatchChoice given_batch(const BatchLimits& limits, int gpus, int batch);

}  // namespace muster
