// Golden values: what a published system answered, job by job, and where such files are found.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/ids.h"

namespace muster {

struct GoldenJob {
  long long id = 0;
  Seconds submit = 0;
  Seconds end = 0;
};

// The jobs in a file: JSON of the form {"100": [submit, end]}, or CSV with the columns job_id,
// submit_s and end_s, of which only the lines count whose columns have the values in `where`.
Result<std::vector<GoldenJob>> read_golden(
    const std::string& path, const std::map<std::string, std::string, std::less<>>& where);

// The file of that path in the data folder, or in the folder that MUSTER_SHARED names (default
// ../shared). The error says where it was looked for.
Result<std::string> find_reference_file(const std::string& relative);

}  // namespace muster
