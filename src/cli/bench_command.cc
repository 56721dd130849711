// `muster bench`: measurements that a user may want to repeat on a machine of their own.
#include <cmath>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "run/experiment/policy_runtime.h"

namespace muster {
namespace {

int policy_runtime(const PolicyRuntimeOptions& options) {
  watch_interrupts();
  fmt::print("{:<46} {:>7} {:>12}{}{}\n", "policy", "jobs", "seconds",
             options.parts > 1 ? "  throughput kept  objective kept" : "",
             options.check ? "  below the general solver" : "");
  const auto rows = measure_policy_runtimes(options, [&](const PolicyRuntime& row) {
    fmt::print("{:<46} {:>7} ", row.policy, row.jobs);
    if (row.too_many_pairs) {
      fmt::print("{:>12}\n", "too many pairs");
      return !interrupted();
    }
    fmt::print("{:>12.6f}", row.average);
    if (options.parts > 1) {
      fmt::print(" {:>16} {:>11}",
                 std::isnan(row.share_kept) ? "" : fmt::format("{:.2f} %", 100 * row.share_kept),
                 row.goal_kept ? fmt::format("{:.2f} %", 100 * *row.goal_kept) : "");
    }
    if (options.check) fmt::print(" {:>25.1e}", row.off_general);
    fmt::print("\n");
    std::fflush(stdout);
    return !interrupted();
  });
  if (!rows) return complain(rows.error());
  return interrupted() ? kExitInterrupted : kExitOk;
}

}  // namespace

void add_bench_command(CLI::App& app, Chosen& chosen) {
  CLI::App* bench = app.add_subcommand("bench", "Measure how long decisions take");
  bench->require_subcommand(1);
  CLI::App* command = bench->add_subcommand(
      "policy-runtime", "Measure how long one allocation takes, by policy and number of jobs");
  const auto options = std::make_shared<PolicyRuntimeOptions>();
  options->policies = policy_runtime_families();
  command
      ->add_option("--throughputs", options->throughputs,
                   "Gavel's table of throughputs (`muster data fetch gavel` brings it)")
      ->required();
  command->add_option("-p,--policy", options->policies, "policies that allocate fractions of time")
      ->delimiter(',');
  command->add_option("-n,--jobs", options->jobs, "numbers of jobs")->delimiter(',');
  command->add_option("--trials", options->trials, "random draws of jobs for each number")
      ->check(CLI::Range(1, 1000));
  command
      ->add_option("--parts", options->parts,
                   "split jobs and GPUs into this many independent programs (POP)")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--multi-gpu", options->multi_gpu, "let some jobs use several GPUs");
  command->add_flag("--check", options->check,
                    "compare the objective with that of the general solver");
  command->footer(
      "Examples:\n"
      "  muster bench policy-runtime --throughputs simulation_throughputs.json -n 32,64\n"
      "  muster bench policy-runtime --throughputs T.json -p gavel-max-min-fairness-packed -n "
      "256 --parts 4");
  command->callback(
      [options, &chosen] { chosen.run = [options] { return policy_runtime(*options); }; });
}

}  // namespace muster
