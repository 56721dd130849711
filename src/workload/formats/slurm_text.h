// How Slurm writes durations, resources, array tasks and texts of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/ids.h"

namespace muster {

// "2-03:04:05", "03:04:05", "04:05" or "04:05.678" as seconds.
bool read_slurm_duration(std::string_view text, Seconds& value);

// Whether Slurm says that there is nothing to say: "Unknown", "None", "(null)", "N/A", ...
bool is_slurm_nothing(std::string_view text);

// GPUs of one type in a list of resources.
struct TypedGpus {
  std::string type;  // empty: of any
  int count = 0;
};

// The parts of a list of resources that jobs and nodes have.
struct TrackableResources {
  int gpus = 0;
  int shards = 0;                // parts of GPUs, of which only a cluster knows how many make one
  std::string gpu_type;          // of the GPUs, if they are all of one
  std::vector<TypedGpus> types;  // those that are named, in their order
  double cpus = 0;
  double memory_gb = 0;
  bool has_memory = false;  // the list names it
};

// Any of the spellings that Slurm's releases and commands have for resources:
//   billing=8,cpu=8,gres/gpu=2,gres/gpu:a100=2,mem=64G,node=1     sacct, CfgTRES
//   gpu:2   gpu:a100:2(S:0-1)   gpu:a100:2(IDX:0,3),shard:a100:4   Gres of nodes, sinfo
//   gres:gpu:2   gres/gpu:a100:2                                   TresPerNode, squeue
// An empty list is one; false when an entry that counts here cannot be read.
bool read_tres(std::string_view list, TrackableResources& resources);

// The tasks of "12_[3,5-9:2%4]" as 12_3, 12_5, ...; the name itself where it is no such list. False
// when it cannot be read or has more than `most` tasks.
bool expand_array(std::string_view job, std::size_t most, std::vector<std::string>& tasks);

}  // namespace muster
