#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/comparison.h"
#include "cli/live/demo_live.h"
#include "run/config/load_config.h"

namespace muster {
namespace {

struct DemoOptions {
  long long jobs = 4000;
  std::optional<long long> seed;
  std::string folder = "results/demo";
  unsigned threads = 0;
  bool json = false;
  bool quiet = false;
  bool live = false;
  bool force = false;
};

// A month of a busy research cluster of 128 GPUs: most jobs are small and short, a few are large
// and run for days; nodes fail now and then, and a restart costs time.
constexpr std::string_view kDemo = R"(
cluster = "16x8"

[workload.generator]
name = "diurnal"
load = 0.9
duration = "lognormal"
mean_duration = 10800
max_duration = 172800
shape = 1.8
users = 40
models = "resnet50:3,bert:2,gpt2:1,dlrm:1"
estimates = "noisy"

[restart]
first_start = 15
restart = 45
checkpoint_interval = 1800

[failures]
node_mtbf = 2592000
node_repair = 7200

[[perf]]
name = "locality"
)";

constexpr std::string_view kDemoPolicies[] = {
    "fifo", "sjf", "srtf", "las", "tiresias", "max-min", "finish-time-fairness"};

int live(const DemoOptions& options) {
  DemoLiveOptions given;
  given.folder = options.folder;
  if (options.seed) given.seed = static_cast<std::uint64_t>(*options.seed);
  return demo_live(given);
}

int demo(const DemoOptions& options) {
  if (options.live) return live(options);
  const long long seed = options.seed.value_or(1);
  auto document = parse_toml(kDemo, "demo");
  if (!document) return complain(document.error(), kExitFailed);
  std::vector<RunConfig> runs;
  for (const std::string_view policy : kDemoPolicies) {
    ConfigLayers layers;
    layers.settings.push_back(setting_of("scheduling", policy, "demo"));
    layers.settings.push_back(setting_of("seed", std::to_string(seed), "--seed"));
    layers.settings.push_back(
        setting_of("workload.generator.jobs", std::to_string(options.jobs), "--jobs"));
    auto config = load_config(*document, "demo", "", layers);
    if (!config) return complain(config.error());
    auto complete = complete_config(std::move(*config));
    if (!complete) return complain(complete.error());
    complete->name = policy;
    complete->output.force = options.force;
    runs.push_back(std::move(*complete));
  }
  if (!options.json) {
    fmt::print(
        "{} jobs drawn from seed {}: arrivals by day and night with bursts, on 16 nodes of 8 GPUs "
        "that fail\nnow and then, where a restart costs 45 s. Seven policies on the same jobs:\n\n",
        options.jobs, seed);
    std::fflush(stdout);
  }
  ComparisonOptions comparison;
  comparison.title = "demo";
  comparison.folder = options.folder;
  comparison.threads = options.threads;
  comparison.json = options.json;
  comparison.quiet = options.quiet;
  const int status = compare_runs(std::move(runs), comparison);
  if (status == kExitOk && !options.json) {
    fmt::print("\nNext: muster policies, muster compare --help, muster explain {}/las\n",
               options.folder);
  }
  return status;
}

}  // namespace

void add_demo_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("demo", "Compare policies on a generated workload; needs no input");
  const auto options = std::make_shared<DemoOptions>();
  command->add_option("-n,--jobs", options->jobs, "number of jobs to draw")
      ->check(CLI::Range(1LL, 10'000'000LL))
      ->capture_default_str();
  command
      ->add_option("--seed", options->seed,
                   "seed; the same seed gives the same jobs (default: 1; 5 with --live)")
      ->check(CLI::Range(0LL, 1LL << 53));
  command->add_option("-o,--output", options->folder, "folder for the results")
      ->type_name("FOLDER")
      ->capture_default_str();
  command->add_flag("--force", options->force,
                    "rename result folders that also hold other files to FOLDER.old");
  command->add_option("--threads", options->threads,
                      "number of parallel runs (default: one per core)");
  command->add_flag("--live", options->live,
                    "instead, run a daemon with fake GPUs and real processes for a minute");
  command->add_flag("--json", options->json, "print the figures as JSON");
  command->add_flag("-q,--quiet", options->quiet, "show no progress on standard error");
  command->footer(
      "Examples:\n"
      "  muster demo\n"
      "  muster demo --live\n"
      "  muster demo --jobs 8000 --seed 7 -o results/large-demo");
  command->callback([options, &chosen] { chosen.run = [options] { return demo(*options); }; });
}

}  // namespace muster
