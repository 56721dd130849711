// `muster demo --live`: a daemon with fake GPUs, real processes, and what the simulator says.
#pragma once

#include <cstdint>
#include <string>

namespace muster {

struct DemoLiveOptions {
  std::uint64_t seed = 5;  // one whose jobs preempt and resize each other often
  int jobs = 20;
  std::string folder = "results/demo";  // for the page
};

int demo_live(const DemoLiveOptions& options);

}  // namespace muster
