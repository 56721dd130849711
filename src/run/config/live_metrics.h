// What policies see of running jobs (View::metrics) unless the description names others: what NVML
// says of the GPUs of a job that has them to itself, or the job of itself, in percent, percent, MB
// and watts; and its speed.
#pragma once

#include <array>
#include <string_view>

namespace muster {

inline constexpr std::string_view kGpuUtil = "gpu_util";
inline constexpr std::string_view kMemoryUtil = "gmem_util";
inline constexpr std::string_view kMemoryMb = "gmem";
inline constexpr std::string_view kWatts = "watts";
inline constexpr std::string_view kStepsPerSecond = "steps_per_second";
inline constexpr std::array<std::string_view, 5> kLiveMetrics = {kGpuUtil, kMemoryUtil, kMemoryMb,
                                                                 kWatts, kStepsPerSecond};

}  // namespace muster
