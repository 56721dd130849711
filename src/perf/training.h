// Measured applications: step times by GPUs, nodes and batch size, and the gradients and progress
// of every epoch by batch size.
//
// Values between measurements are interpolated linearly in the batch size, the GPU count and the
// number of nodes, keeping the GPUs per node. workload/perf/training_files.h reads the
// measurements.
#pragma once

#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "perf/goodput.h"

namespace muster {

// What was measured of one application. Placements, sizes and batches must not be empty, nor
// anything in them.
struct TrainingMeasurements {
  struct StepTime {
    double step = 0;
    double exchange = 0;
    double compute() const { return step - exchange; }
  };
  struct Point {
    double local_batch = 0;
    StepTime time;
  };
  using Points = std::vector<Point>;
  struct Epoch {
    double progress = 0;
    double iteration = 0;
    GradientNoise noise;
  };

  std::string name;
  std::map<std::vector<int>, Points> placements;  // by same_ring() of the GPUs per node
  std::map<int, std::map<int, Points>> by_size;   // nodes, GPUs
  std::map<int, std::vector<Epoch>> by_batch;
  int local_most = std::numeric_limits<int>::max();  // samples on a GPU, if fewer than measured
};

// Placements that are rotations of each other (124, 241, 412) are one: the first in order.
std::vector<int> same_ring(std::span<const int> placement);

class Training {
 public:
  using StepTime = TrainingMeasurements::StepTime;

  explicit Training(TrainingMeasurements measured);

  // GPUs per node, in the order of the nodes; no zeros.
  StepTime step_time(std::span<const int> placement, double local_batch) const;
  StepTime step_time(int nodes, int gpus, double local_batch) const;

  const std::string& name() const { return measured_.name; }
  const BatchLimits& limits() const { return limits_; }
  int epochs() const { return epochs_; }
  // Steps at the smallest batch that make so many epochs.
  double progress_after(int epochs) const;
  GradientNoise noise(int batch, int epoch) const;
  // Iterations that a whole run takes at this batch size, if that was measured; else 0.
  double iterations(int batch) const;
  std::vector<int> batches() const;

 private:
  using Point = TrainingMeasurements::Point;
  using Points = TrainingMeasurements::Points;  // by batch, ascending

  static StepTime at(const Points& points, double local_batch);
  StepTime on_nodes(int nodes, double gpus, double local_batch) const;

  TrainingMeasurements measured_;
  BatchLimits limits_;
  int epochs_ = 0;
};

}  // namespace muster
