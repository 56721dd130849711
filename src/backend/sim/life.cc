#include "backend/sim/life.h"

#include <fmt/format.h>

#include "base/random.h"

namespace muster {

LifeOptions mean_of(LifeOptions options) {
  options.start_failure = options.partial_gang = options.report_loss = 0;
  options.spread = 0;
  return options;
}

LaunchFate fate_of(RunId run, const LifeOptions& options) {
  Random random(options.seed, fmt::format("launch {} of job {}", run.launch, index(run.job)));
  const auto around = [&](Seconds mean) {
    return mean * random.uniform(1 - options.spread, 1 + options.spread);
  };
  LaunchFate fate;
  fate.start = around(options.start_latency);
  fate.stop = around(options.stop_latency);
  fate.fails = random.chance(options.start_failure);
  fate.partial = random.chance(options.partial_gang);
  fate.start_delay = around(options.report_delay);
  fate.end_delay = around(options.report_delay);
  fate.start_lost = random.chance(options.report_loss);
  fate.end_lost = random.chance(options.report_loss);
  return fate;
}

}  // namespace muster
