// How long a what-if question takes: jobs that run and wait on 64 nodes of 8 GPUs, one ordering
// policy after the other, as believed and with a band from drawn futures. Milliseconds of processor
// time, where other programs on the machine do not count, and of the clock: futures run in as many
// threads as the machine has.
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

EngineWorld crowded(const ClusterSpec& cluster, int jobs) {
  Random random(1, "what-if");
  EngineWorld world;
  world.now = 1e6;
  world.next_id = static_cast<std::uint32_t>(jobs);
  for (int i = 0; i < jobs; ++i) {
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

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <typename Table>
auto made(const Table& table, std::string_view name) {
  auto result = make_from("policy", table, name, {});
  if (!result) std::abort();
  return std::move(*result);
}

struct Cost {
  double processor = 1e9;
  double clock = 1e9;
};

// Milliseconds, the best of three.
Cost cost_of(const EngineWorld& world, const OutlookParts& parts, const Change& change,
             const OutlookOptions& options, Symbols& symbols) {
  Cost best;
  for (int i = 0; i < 3; ++i) {
    const double processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    const double clock = seconds_of(CLOCK_MONOTONIC);
    const auto answer = ask(world, parts, change, options, symbols);
    if (!answer || answer->as_is.unfinished > 0) std::abort();
    best.processor =
        std::min(best.processor, 1e3 * (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - processor));
    best.clock = std::min(best.clock, 1e3 * (seconds_of(CLOCK_MONOTONIC) - clock));
  }
  return best;
}

OutlookParts parts_with(const char* scheduling) {
  OutlookParts parts;
  parts.cluster = std::make_shared<const ClusterSpec>(uniform_cluster(64, 8));
  parts.perf = multiply({});
  parts.pacing = make_events();
  auto policies = std::make_shared<PolicySet>();
  policies->admission = made(plugin_tables().admission, "accept-all");
  policies->scheduling = made(plugin_tables().scheduling, scheduling);
  policies->placement = made(plugin_tables().placement, "consolidated");
  parts.policy_sets = {policies};
  return parts;
}

}  // namespace
}  // namespace muster::bench

int main() {
  using namespace muster;
  using namespace muster::bench;
  constexpr const char* kPolicies[] = {"fifo", "sjf", "srtf", "srsf", "edf", "las"};
  Symbols symbols;
  const auto& errors = plugin_tables().errors.front();
  OutlookOptions bands;
  bands.errors = [&](int sample) {
    return errors.make(*Params::make("errors", errors.params, {{"seed", std::to_string(sample)}}),
                       symbols);
  };
  Change more;
  more.add_nodes = "2x8";
  constexpr int kJobs = 1000;
  fmt::print("what-if over {} jobs on {} GPUs, milliseconds\n", kJobs, 64 * 8);
  fmt::print("  {:<8}{:>12}{:>14}{:>14}{:>24}\n", "policy", "believed", "with a band",
             "by the clock", "and 2 nodes more, clock");
  for (const char* name : kPolicies) {
    const OutlookParts parts = parts_with(name);
    const EngineWorld world = crowded(*parts.cluster, kJobs);
    const Cost band = cost_of(world, parts, {}, bands, symbols);
    fmt::print("  {:<8}{:>12.1f}{:>14.1f}{:>14.1f}{:>24.1f}\n", name,
               cost_of(world, parts, {}, {}, symbols).processor, band.processor, band.clock,
               cost_of(world, parts, more, bands, symbols).clock);
  }
  constexpr int kCurve[] = {100, 300, 1000, 3000, 10000};
  fmt::print("\nwith a band, milliseconds by the clock\n  {:<8}", "jobs");
  for (const char* name : kPolicies) fmt::print("{:>10}", name);
  fmt::print("\n");
  for (const int jobs : kCurve) {
    fmt::print("  {:<8}", jobs);
    for (const char* name : kPolicies) {
      const OutlookParts parts = parts_with(name);
      const EngineWorld world = crowded(*parts.cluster, jobs);
      fmt::print("{:>10.1f}", cost_of(world, parts, {}, bands, symbols).clock);
    }
    fmt::print("\n");
  }
  return 0;
}
