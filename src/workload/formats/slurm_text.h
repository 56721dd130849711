// How Slurm writes durations and resources.
#pragma once

#include <string>
#include <string_view>

#include "model/ids.h"

namespace muster {

// "2-03:04:05", "03:04:05", "04:05" or "04:05.678" as seconds.
bool read_slurm_duration(std::string_view text, Seconds& value);

// The parts of a TRES list ("billing=8,cpu=8,gres/gpu=2,gres/gpu:a100=2,mem=64G,node=1") that jobs
// have.
struct TrackableResources {
  int gpus = 0;
  std::string gpu_type;  // of the GPUs, if they are all of one
  double cpus = 0;
  double memory_gb = 0;
};

// An empty list is one; false when an entry that counts here cannot be read.
bool read_tres(std::string_view list, TrackableResources& resources);

}  // namespace muster
