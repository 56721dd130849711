// How much memory a whole run takes, with the figures of its summary: FIFO on generated jobs, from
// few to many.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

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
  std::fflush(stdout);
  for (const long long jobs : {10'000LL, 100'000LL, 1'000'000LL, 4'000'000LL, 10'000'000LL}) {
    // Each in a process of its own: what an earlier run has freed does not all go back to the
    // system.
    const pid_t child = fork();
    if (child == 0) {
      const double before = peak_rss_mb();
      bench::run(jobs);
      const double peak = peak_rss_mb();
      fmt::print("  {:>10} jobs {:>8.1f} MiB {:>7.1f} bytes per job\n", jobs, peak,
                 (peak - before) * 1048576 / static_cast<double>(jobs));
      return 0;
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  return 0;
}
