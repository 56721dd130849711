// A published result about a model instead of a run: how well submissions are forecast (Lucid's
// table 7 and figure 13), and what the forecast looks at (figure 7).
//
// In an experiment a [[run]] has such a task instead of settings:
//
//   model = {file = "shared:data/lucid/cluster_throughput.csv.gz", kind = "ebm", target = "jobs",
//            begin = "2020-04-01", train = 22032}
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "run/config/toml.h"

namespace muster {

struct ModelTask {
  std::string file;                            // CSV, one row per ten minutes
  std::string jobs_column = "submit_gpu_job";  // GPU jobs submitted in the slot
  std::string gpus_column = "submit_gpu_num";  // GPUs they ask for
  std::string kind = "ebm";                    // or "boosted-trees"
  std::string target = "jobs";                 // or "gpus"
  long long begin = 0;                         // of the first row, seconds since 1970
  long long train = 0;                         // rows to train on; the others test
  long long bins = 0;                          // of the EBM; 0: as usual
};

Result<ModelTask> read_model_task(const TomlNode& node, const std::string& where);

// Figures of a task: mae, r2; of an EBM also importance.TERM, rank.TERM (1: the most important) and
// effect.FEATURE.VALUE.
Status check_model_figure(std::string_view key);

using ModelFigures = std::map<std::string, double, std::less<>>;
// `keep_going` is asked while an EBM is trained; no ends it with an error.
Result<ModelFigures> run_model_task(const ModelTask& task,
                                    const std::function<bool()>& keep_going = {});

}  // namespace muster
