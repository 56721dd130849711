// Measured applications: step times by GPUs, nodes and batch size, and the gradients and progress
// of every epoch by batch size.
//
// A folder per application, as Pollux publishes them:
//
//   placements.csv       placement,local_bsz,step_time,sync_time
//                        up to four nodes; "124" is one GPU on a node, two on the next, four on
//                        the third
//   scalability.csv      num_nodes,num_replicas,local_bsz,step_time,sync_time
//   validation-<B>.csv   progress,iteration,metric,grad_sqr,grad_var
//                        a row per epoch, at batch size B
//
// Values between measurements are interpolated linearly in the batch size, the GPU count and the
// number of nodes, keeping the GPUs per node.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "perf/goodput.h"

namespace muster {

class Training {
 public:
  static Result<Training> read(const std::string& folder, const std::string& name);

  struct StepTime {
    double step = 0;
    double exchange = 0;
    double compute() const { return step - exchange; }
  };
  // GPUs per node, in the order of the nodes; no zeros.
  StepTime step_time(std::span<const int> placement, double local_batch) const;
  StepTime step_time(int nodes, int gpus, double local_batch) const;

  const std::string& name() const { return name_; }
  const BatchLimits& limits() const { return limits_; }
  int epochs() const { return epochs_; }
  // Steps at the smallest batch that make so many epochs.
  double progress_after(int epochs) const;
  GradientNoise noise(int batch, int epoch) const;
  // Iterations that a whole run takes at this batch size, if that was measured; else 0.
  double iterations(int batch) const;
  std::vector<int> batches() const;

 private:
  struct Point {
    double local_batch = 0;
    StepTime time;
  };
  using Points = std::vector<Point>;  // by batch, ascending
  struct Epoch {
    double progress = 0;
    double iteration = 0;
    GradientNoise noise;
  };

  Status read_placements(const std::string& path);
  Status read_scalability(const std::string& path);
  Status read_epochs(const std::string& folder);
  void finish();
  static StepTime at(const Points& points, double local_batch);
  StepTime on_nodes(int nodes, double gpus, double local_batch) const;

  std::string name_;
  BatchLimits limits_;
  int epochs_ = 0;
  std::map<std::vector<int>, Points> placements_;  // smallest rotation
  std::map<int, std::map<int, Points>> by_size_;   // nodes, GPUs
  std::map<int, std::vector<Epoch>> by_batch_;
};

}  // namespace muster
