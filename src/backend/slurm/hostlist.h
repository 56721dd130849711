// Slurm's short way to write many names: n[1-3,07],login expands to n1 n2 n3 n07 login.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

// In order. Refused: brackets that do not match, ranges that are none, more than 100,000 names.
Result<std::vector<std::string>> expand_hostlist(std::string_view text);

}  // namespace muster
