// The linear program of the least makespan.
#pragma once

#include "policy/gavel/program_allocators.h"

namespace muster {

// Seconds of the longest job alone on its best type: in this unit of time the numbers are near one.
double longest_alone(const AllocationProgram& program);
// All jobs done as soon as possible: the level is `unit` over the time that it takes.
AllocationProgram::Objective shortest_time(const AllocationProgram& program, double unit);

}  // namespace muster
