// A table of throughputs in Gavel's form for tests that need no published data: all its job types
// on 1, 2, 4 and 8 GPUs of three types, with pairs of single-GPU jobs.
#pragma once

#include <string>

namespace muster {

std::string gavel_table_json();

}  // namespace muster
