// How the published ElasticFlow schedulers plan, beyond what ElasticFlow's planner does.
#pragma once

#include "policy/elasticflow/planner.h"

namespace muster::published {

// Work ends on whole seconds, GPUs are held to the end of a slot, and the first GPUs of a late job
// are forgotten after its deadline's slot if that ends before the next step.
const PlanRules& whole_second_rules();

// Earliest deadline first: as many GPUs as a job can use, from now on. Ends are whole seconds.
void plan_greedy(const PlanFrame& frame, const PlannedJob& job, const GpuTimeline& free,
                 JobPlan& plan);

}  // namespace muster::published
