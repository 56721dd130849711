// A job's use of its GPUs, averaged over its time on them so far.
#pragma once

#include <algorithm>

#include "agent/gpus/gpus.h"

namespace muster {

class GpuMeter {
 public:
  // A look at one of its GPUs. What the driver does not say is left out.
  void see(const GpuUse& use) {
    busy_.add(use.busy);
    memory_busy_.add(use.memory_busy);
    watts_.add(use.watts);
    memory_ = std::max(memory_, use.memory_bytes);
  }

  // Negative where nothing is known.
  double gpu_util() const { return 100 * busy_.mean(); }
  double memory_util() const { return 100 * memory_busy_.mean(); }
  double memory_mb() const { return memory_ < 0 ? -1 : memory_ / (1024 * 1024); }  // the most
  double watts() const { return watts_.mean(); }

 private:
  struct Mean {
    double sum = 0;
    int count = 0;
    void add(double value) {
      if (value < 0) return;
      sum += value;
      ++count;
    }
    double mean() const { return count > 0 ? sum / count : -1; }
  };
  Mean busy_;
  Mean memory_busy_;
  Mean watts_;
  double memory_ = -1;
};

}  // namespace muster
