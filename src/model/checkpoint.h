// What jobs are made of, in an archive (base/archive.h).
#pragma once

#include "base/archive.h"
#include "model/job.h"
#include "model/record.h"

namespace muster {

void checkpoint(Archive& archive, GpuSet& gpus);
void checkpoint(Archive& archive, JobSpec& job);
void checkpoint(Archive& archive, Job& job);
void checkpoint(Archive& archive, JobRecord& record);

}  // namespace muster
