// The Philly job log as Blox reads it: accepted jobs always have GPUs and a length within Blox's
// limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workload/generate/blox_log.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool multi_gpu : {false, true}) {
    const auto jobs = muster::parse_blox_log(text, "log.json", multi_gpu);
    if (!jobs) continue;
    for (const muster::BloxLogJob& job : *jobs) {
      if (job.gpus < 1 || job.gpus > 16 || !(job.duration > 1897) || !(job.duration < 600000))
        std::abort();
    }
  }
  return 0;
}
