// Pollux, Sia and Chronus against the clock: one decision for growing numbers of jobs, with the gap
// of what was cut off; and, with the argument `figures`, Pollux's run of figure 8(a), which takes a
// minute and needs the measurements (MUSTER_SHARED).
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/random.h"
#include "clock.h"
#include "solve/allocation_search.h"
#include "solve/lease_program.h"
#include "timed_experiment.h"

namespace muster {
namespace {

class Roots final : public SpeedupSource {
 public:
  double speedup(std::size_t job, int nodes, int gpus) override {
    return std::pow(gpus, 0.6 + 0.03 * static_cast<double>(job % 10)) * (nodes > 1 ? 0.8 : 1.0);
  }
};

void bench_search() {
  fmt::print("Pollux: one search, 100 candidates, 100 generations (published: 2.2 s at 64 GPUs)\n");
  for (const std::size_t nodes : {16U, 64U, 256U}) {
    const std::vector<int> gpus(nodes, 4);
    std::vector<SearchJob> jobs(2 * nodes);
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      jobs[j].key = j;
      jobs[j].most = 16;
      jobs[j].held.assign(nodes, 0);
    }
    AllocationSearch search({}, 1);
    Roots source;
    search.run(gpus, jobs, source);
    const auto begin = bench::now();
    search.run(gpus, jobs, source);
    fmt::print("  {:>5} GPUs {:>5} jobs {:>10.1f} ms\n", 4 * nodes, jobs.size(),
               1e3 * bench::seconds_since(begin));
  }
}

// A choice among 1, 2, 4 ... GPUs of two types for each job, as Sia has it.
void bench_configurations() {
  // The library is loaded when it is first used, once for the command.
  IntegerProgram first;
  first.add_row(0, 1);
  first.add_choice(1);
  first.add_term(0, 1);
  (void)solve_integer(first, {});
  fmt::print("Sia: one program over two types (published: 96 ms at 64 GPUs)\n");
  for (const int count : {30, 100, 300, 1000}) {
    Random random(1, "configurations");
    IntegerProgram program;
    for (int type = 0; type < 2; ++type) program.add_row(0, count);
    for (int job = 0; job < count; ++job) {
      const std::size_t once = program.add_row(0, 1);
      const double power = random.uniform(0.5, 0.95);
      for (std::size_t type = 0; type < 2; ++type) {
        for (int gpus = 1; gpus <= 16; gpus *= 2) {
          const double speed = std::pow(gpus, power) * (type == 0 ? 1 : random.uniform(1, 4));
          program.add_choice(1.1 - 1 / std::sqrt(speed));
          program.add_term(type, gpus);
          program.add_term(once, 1);
        }
      }
    }
    IntegerOptions options;
    options.gap = 1e-4;
    const auto begin = bench::now();
    const IntegerSolution solution = solve_integer(program, options);
    fmt::print("  {:>5} jobs {:>10.1f} ms   gap {:.2e}\n", count, 1e3 * bench::seconds_since(begin),
               solution.gap());
  }
}

void bench_leases() {
  fmt::print("Chronus: who has the next lease of 128 GPUs\n");
  for (const int count : {10, 30, 100, 300, 1000}) {
    Random random(2, "leases");
    std::vector<LeaseJob> jobs;
    for (int i = 0; i < count; ++i) {
      const int needed = static_cast<int>(random.integer(1, 60));
      const int within = needed + static_cast<int>(random.integer(0, 4LL * count));
      jobs.push_back({1 << random.below(5), needed, {{within, 10}, {within + 20, 5}}});
    }
    IntegerOptions options;
    options.branches = 100;
    auto begin = bench::now();
    const LeaseChoice greedy = choose_leases_greedily(jobs, 128, LeaseAim::kFew);
    const double quick = bench::seconds_since(begin);
    fmt::print("  {:>5} jobs  greedy {:>9.2f} ms  gap {:.2e}", count, 1e3 * quick, greedy.gap);
    constexpr int kExactUpTo = 100;
    if (count <= kExactUpTo) {
      begin = bench::now();
      const LeaseChoice exact = choose_leases(jobs, 128, LeaseAim::kFew, options);
      fmt::print("  exact {:>9.2f} ms  gap {:.2e}", 1e3 * bench::seconds_since(begin), exact.gap);
    }
    fmt::print("\n");
  }
}

int bench_figure() {
  const auto timed = bench::time_experiment("elasticflow", "pollux", [](Experiment& experiment) {
    for (ExperimentRun& run : experiment.runs) run.seeds = 1;
  });
  if (!timed) return 1;
  fmt::print("Pollux, figure 8(a), one seed {:>8.1f} s   (goal 120 s; original: 17.5 h)\n",
             timed->seconds);
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  muster::bench_search();
  muster::bench_configurations();
  muster::bench_leases();
  return argc > 1 && std::strcmp(argv[1], "figures") == 0 ? muster::bench_figure() : 0;
}
