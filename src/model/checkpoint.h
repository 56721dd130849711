// Saves and restores jobs and clusters (base/archive.h).
#pragma once

#include "base/archive.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/record.h"

namespace muster {

void checkpoint(Archive& archive, GpuSet& gpus);
void checkpoint(Archive& archive, JobSpec& job);
void checkpoint(Archive& archive, Job& job);
void checkpoint(Archive& archive, JobRecord& record);
void checkpoint(Archive& archive, JobTable& jobs);
// Into a state that was made of the same cluster.
void checkpoint(Archive& archive, ClusterState& cluster);

}  // namespace muster
