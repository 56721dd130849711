// The workload estimate model of Lucid (Hu et al., ASPLOS'23): how long a job will run, from who
// submits it, where, when and what a profiler saw of it. An explainable boosting machine on 13
// features, trained anew every week on all jobs before it. One training per week, in time linear in
// the jobs before it (learn/ebm.h); an estimate costs one look-up per term.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/symbols.h"
#include "learn/ebm.h"
#include "model/job_spec.h"
#include "perf/perf_model.h"

namespace muster {

struct EstimateOptions {
  EbmOptions ebm;
  bool with_profile = true;  // use what the profiler measured, where it is known
  double floor = 1;          // no estimate below this many seconds
  std::int64_t epoch = 0;    // seconds since 1970 of the trace's second 0
  Seconds retrain_every = 7 * 86400;

  EstimateOptions() {
    ebm.uniform_bins = false;
    ebm.pairs = 10;
    ebm.learning_rate = 0.1;
    ebm.bags = 4;
    ebm.max_rounds = 300;
  }
};

// job_number, user, vc, gpu_num, cpu_num, month, day, hour, dayofweek, amp, gpu_util, gmem_util,
// gmem, and the target, duration. Profile columns of a job without a profile are missing.
Examples estimate_examples(std::span<const JobSpec> jobs, const Symbols& symbols,
                           const PerfModel* perf, const EstimateOptions& options,
                           std::size_t first_number = 0);
std::vector<std::string> estimate_feature_names(bool with_profile);

Result<Ebm> train_estimate(std::span<const JobSpec> history, const Symbols& symbols,
                           const PerfModel* perf, const EstimateOptions& options);

// An estimate for each of `jobs`, which must be in order of submission: the model is trained on
// `history` and, at the end of every period, again with the jobs that came before.
Result<std::vector<double>> weekly_estimates(std::span<const JobSpec> history,
                                             std::span<const JobSpec> jobs, const Symbols& symbols,
                                             const PerfModel* perf, const EstimateOptions& options);

// Replaces each name by that of its cluster: the `keep` most frequent names stay; the others join
// the most frequent name that begins with the same character and is within `distance` of theirs, as
// a part of the longer one's length (edit distance).
std::vector<std::string> cluster_names(const std::vector<std::string>& names, std::size_t keep,
                                       double distance);
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace muster
