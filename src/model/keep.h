// What jobs are made of, in an archive (base/archive.h).
#pragma once

#include "base/archive.h"
#include "model/job.h"
#include "model/record.h"

namespace muster {

void keep(Archive& archive, GpuSet& gpus);
void keep(Archive& archive, JobSpec& job);
void keep(Archive& archive, Job& job);
void keep(Archive& archive, JobRecord& record);

}  // namespace muster
