// How much memory a whole run takes, with the figures of its summary: FIFO on generated jobs, one
// run after the other in one process, from few jobs to many, so that each peak is its own.
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "backend/sim/sim_backend.h"
#include "engine/engine.h"
#include "perf/product.h"
#include "report/metrics.h"
#include "report/run_info.h"
#include "run/config/plugin_tables.h"
#include "workload/generate/generators.h"

namespace muster::bench {
namespace {

void run(long long jobs) {
  Symbols symbols;
  const Generator* generator = *find_generator("poisson");
  const auto params =
      Params::make("poisson", generator->params(),
                   {{"jobs", std::to_string(jobs)}, {"cluster_gpus", "512"}, {"load", "0.8"}});
  if (!params) std::abort();
  const auto source = generator->make(*params, symbols);
  if (!source) std::abort();
  Engine::Parts parts;
  parts.cluster = std::make_shared<ClusterSpec>(uniform_cluster(64, 8));
  parts.perf = multiply({});
  parts.pacing = make_events();
  PolicySet set;
  set.admission = std::move(*make_from("admission", plugin_tables().admission, "accept-all", {}));
  set.scheduling = std::move(*make_from("scheduling", plugin_tables().scheduling, "fifo", {}));
  set.placement = std::move(*make_from("placement", plugin_tables().placement, "consolidated", {}));
  parts.policy_sets.push_back(std::move(set));
  SimBackend backend({parts.cluster, parts.perf});
  MetricsFold fold(symbols);
  parts.backend = &backend;
  parts.source = source->source.get();
  parts.observers = {&fold};
  Engine engine(std::move(parts));
  if (!engine.run()) std::abort();
  if (fold.summary().metrics.finished != static_cast<double>(jobs)) std::abort();
}

}  // namespace
}  // namespace muster::bench

int main() {
  using namespace muster;
  fmt::print("Memory of a whole run, FIFO with the figures of its summary\n");
  double few = 0;
  for (const long long jobs : {10'000LL, 100'000LL, 1'000'000LL, 4'000'000LL, 10'000'000LL}) {
    bench::run(jobs);
    const double peak = peak_rss_mb();
    if (few == 0) few = peak;
    fmt::print("  {:>10} jobs {:>8.1f} MiB {:>6.1f} bytes per job beyond the first run\n", jobs,
               peak, (peak - few) * 1048576 / static_cast<double>(jobs));
  }
  return 0;
}
