// How long a what-if question takes: 1,000 active jobs on 64 nodes of 8 GPUs, one ordering policy
// after the other, as believed and with 20 drawn lives. Of one thread, in CPU time: other programs
// on the machine do not count. Drawn lives run in as many threads as the machine has.
#include <cstdlib>
#include <string>
#include <time.h>

#include <fmt/format.h>

#include "base/random.h"
#include "perf/product.h"
#include "run/config/plugin_tables.h"
#include "run/whatif/answer.h"

namespace muster::bench {
namespace {

constexpr int kJobs = 1000;

EngineWorld crowded(const ClusterSpec& cluster) {
  Random random(1, "what-if");
  EngineWorld world;
  world.now = 1e6;
  world.next_id = kJobs;
  for (int i = 0; i < kJobs; ++i) {
    Job& job = world.jobs.emplace_back();
    job.spec.id = JobId{static_cast<std::uint32_t>(i)};
    job.spec.submit = job.spec.arrival = world.now - random.uniform(0, 1e5);
    job.spec.gpus = 1 << random.integer(0, 3);
    job.spec.duration = job.spec.estimate = random.log_normal(8, 1.5);
    job.spec.believed = true;
    job.spec.deadline = job.spec.submit + 10 * job.spec.duration;
    job.total_work = job.spec.duration;
    job.state = JobState::kQueued;
    job.admitted = job.waiting_since = job.spec.submit;
  }
  // One job of 8 GPUs, or several smaller ones, on each node.
  std::size_t node = 0;
  int used = 0;
  for (Job& job : world.jobs) {
    if (node == cluster.nodes.size()) break;
    if (used + job.spec.gpus > cluster.nodes[node].gpus) continue;
    const std::uint64_t mask = ((std::uint64_t{1} << job.spec.gpus) - 1) << used;
    job.gpus.add(NodeId{static_cast<std::uint32_t>(node)}, mask);
    job.state = JobState::kRunning;
    job.first_start = job.held_since = job.since = world.now;
    job.rate = 1;
    used += job.spec.gpus;
    if (used == cluster.nodes[node].gpus) {
      ++node;
      used = 0;
    }
  }
  return world;
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <typename Table>
auto made(const Table& table, std::string_view name) {
  auto result = make_from("policy", table, name, {});
  if (!result) std::abort();
  return std::move(*result);
}

}  // namespace
}  // namespace muster::bench

int main() {
  using namespace muster;
  using namespace muster::bench;
  OutlookParts parts;
  parts.cluster = std::make_shared<const ClusterSpec>(uniform_cluster(64, 8));
  parts.perf = multiply({});
  parts.pacing = make_events();
  const EngineWorld world = crowded(*parts.cluster);
  Symbols symbols;
  const auto& errors = plugin_tables().errors.front();
  OutlookOptions options;
  options.threads = 1;
  options.errors = [&](int sample) {
    return errors.make(*Params::make("errors", errors.params, {{"seed", std::to_string(sample)}}),
                       symbols);
  };
  fmt::print("what-if over {} jobs on {} GPUs, milliseconds of one core\n", kJobs, 64 * 8);
  fmt::print("  {:<12}{:>10}{:>14}{:>26}\n", "policy", "believed", "20 samples",
             "with 2 nodes more, both");
  for (const char* name : {"fifo", "sjf", "srtf", "srsf", "las", "edf"}) {
    auto policies = std::make_shared<PolicySet>();
    policies->admission = made(plugin_tables().admission, "accept-all");
    policies->scheduling = made(plugin_tables().scheduling, name);
    policies->placement = made(plugin_tables().placement, "consolidated");
    parts.policies = policies;
    const auto timed = [&](const Change& change, const OutlookOptions& asked) {
      double best = 1e9;
      for (int i = 0; i < 3; ++i) {
        const double begin = cpu_seconds();
        const auto answer = ask(world, parts, change, asked, symbols);
        if (!answer || answer->as_is.unfinished > 0) std::abort();
        best = std::min(best, cpu_seconds() - begin);
      }
      return best * 1e3;
    };
    Change more;
    more.add_nodes = "2x8";
    fmt::print("  {:<12}{:>10.1f}{:>14.1f}{:>26.1f}\n", name, timed({}, {}), timed({}, options),
               timed(more, options));
  }
  return 0;
}
