// Jobs that users submitted to Slurm itself and that are held for us: which of them can be
// scheduled, and how they are described to the daemon.
#pragma once

#include <string>

#include "backend/slurm/constraints.h"
#include "backend/slurm/rows.h"

namespace muster {

// How many GPUs it asks for in all.
int gpus_wanted(const SlurmJob& job);
// The type that all of them must have; empty: any.
std::string gpu_type_wanted(const SlurmJob& job);

// Why it cannot be scheduled by us, and what to do about it; empty: it can.
std::string unfit_to_schedule(const SlurmJob& job);

// As it would be submitted to the daemon. Where its constraints cannot be kept it is refused there,
// so that people see why.
std::string found_description(const SlurmJob& job, const NodeConstraints& constraints,
                              const std::string& origin);

}  // namespace muster
