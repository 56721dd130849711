// The throughput predict model of Lucid (Hu et al., ASPLOS'23): how many GPU jobs and GPUs will be
// submitted in each slot of ten minutes, from the calendar and from what was submitted one hour,
// three hours and a day before. 25 features and an explainable boosting machine for each of the
// two. O(slots) for the features; training as in learn/ebm.h.
#pragma once

#include <span>
#include <vector>

#include "learn/ebm.h"
#include "perf/forecast.h"

namespace muster {

struct ThroughputSlot {
  std::int64_t time = 0;  // seconds since 1970, on the clock of the cluster
  double jobs = 0;        // GPU jobs submitted in the slot
  double gpus = 0;        // GPUs they asked for
};

// The features of every slot: month, day, hour, minute, dayofweek, dayofyear, week; then for jobs
// (njob) and GPUs (ngpu) the value one hour, three hours and a day before, plain (shift) and
// smoothed (soft), and mean, median and deviation of the hour that ended an hour before (roll).
// What lies before the first slot counts as 0.
Examples throughput_features(std::span<const ThroughputSlot> slots);
std::vector<std::string> throughput_feature_names();

struct ThroughputModel {
  Ebm jobs;
  Ebm gpus;
};

EbmOptions throughput_options();
Result<ThroughputModel> train_throughput(std::span<const ThroughputSlot> slots,
                                         const EbmOptions& options);
// The forecast for every slot, made from what came before it; its clock begins at `begin`.
Result<Forecast> forecast_of(const ThroughputModel& model, std::span<const ThroughputSlot> slots,
                             Seconds begin, Seconds slot_length);

// Counts submissions per slot; `submit` must ascend.
std::vector<ThroughputSlot> count_submissions(std::span<const std::int64_t> submit,
                                              std::span<const int> gpus, std::int64_t slot_length);

}  // namespace muster
