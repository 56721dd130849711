// The job types of Gavel's generators, by the names that its tables of throughputs have: for
// whoever draws jobs as one of its notebooks does.
#pragma once

#include <string>
#include <vector>

namespace muster {

std::vector<std::string> gavel_job_types();  // in the order of its own table

}  // namespace muster
