// The list of jobs that Blox's workload is made from: those of Microsoft's Philly log
// (`cluster_job_log`, a JSON list of jobs with their attempts) that Blox accepts, in file order.
//
// Use it only to feed Blox's sources (blox_sources.h); the Philly reader (formats/philly_json.cc)
// leaves out what Blox leaves out, by its settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/ids.h"

namespace muster {

struct BloxLogJob {
  int gpus = 1;
  Seconds duration = 0;  // the summed length of its attempts
};

// Blox's rules. An attempt counts when its start and end are known, it lasted and it had GPUs (with
// `multi_gpu`: at most 16). A job is accepted when its last attempt counts and its attempts
// together lasted more than 10^1.5 and less than 10^4 minutes. It keeps the GPU count of its last
// attempt with `multi_gpu`, and has one GPU without.
Result<std::vector<BloxLogJob>> parse_blox_log(std::string_view text, std::string_view file,
                                               bool multi_gpu);
Result<std::vector<BloxLogJob>> read_blox_log(const std::string& file, bool multi_gpu);

}  // namespace muster
