// Reads measured applications (perf/training.h), a folder each, as Pollux publishes them:
//
// clang-format off
//   placements.csv       placement,local_bsz,step_time,sync_time
//                        up to four nodes; "124": one GPU on a node, two on the next, four on the
//                        third
//   scalability.csv      num_nodes,num_replicas,local_bsz,step_time,sync_time
//   validation-<B>.csv   progress,iteration,metric,grad_sqr,grad_var
//                        a row per epoch at batch size B
// clang-format on
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/symbols.h"
#include "perf/goodput_model.h"

namespace muster {

Result<Training> read_training(const std::string& folder, const std::string& name);

// The performance model of a folder that holds one such folder per application.
Result<std::unique_ptr<PerfModel>> load_goodput_model(const std::string& folder, bool adapted,
                                                      Symbols& symbols);

}  // namespace muster
