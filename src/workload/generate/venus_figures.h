// What is known of the Venus cluster in figures: 23,859 GPU jobs of 1 to 26 September 2020 in 15
// virtual clusters. Statistics of the Helios trace (Hu et al., SC 2021, doi
// 10.1145/3458817.3476223; data under CC-BY-4.0); docs/generators.md tells what was taken.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace muster {

// Durations at these parts of the jobs; in between, their logarithm is taken to be straight.
inline constexpr std::array<double, 9> kVenusParts = {0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1};
using VenusDurations = std::array<double, 9>;

struct VenusCluster {
  std::string_view name;
  int nodes = 0;    // of 8 GPUs
  double jobs = 0;  // in 26 days
  int users = 0;
  double load = 0;         // GPU time asked for over GPU time there was
  std::string_view sizes;  // GPU counts with the number of jobs
  VenusDurations small;    // below 8 GPUs
  VenusDurations large;    // from 8 GPUs on
};

std::span<const VenusCluster> venus_clusters();

// Jobs per hour of the day and per day from Monday, relative to the mean.
extern const std::array<double, 24> kVenusHours;
extern const std::array<double, 7> kVenusDays;

}  // namespace muster
