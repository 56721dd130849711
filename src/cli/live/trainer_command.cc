// A training job without training, for trials: it counts steps of a given length, keeps the count
// in a file, and speaks the job protocol. Not listed in the help; `muster drive` submits it.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <muster/job.h>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"

namespace muster {
namespace {

struct TrainerOptions {
  std::string checkpoint;
  long long steps = 0;
  double step_seconds = 0;
  int gpus = 1;  // with which a step takes that long
  long long fast_forward = 0;
  std::vector<std::string> metrics;
};

int gpus_here() {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list == nullptr || *list == '\0') return 1;
  return static_cast<int>(split(list, ',').size());
}

// ElasticFlow's fast-forward: steps that pass without being done. So many of them at once that
// answers come without delay.
std::int64_t skipped_at_once(double seconds, std::int64_t left) {
  constexpr double kStride = 0.2;
  const double steps = std::floor(kStride / std::max(seconds, 1e-9));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(steps, 1e15)), 1, left);
}

int train(const TrainerOptions& options) {
  std::int64_t completed = 0;
  std::ifstream(options.checkpoint) >> completed;
  const int here = gpus_here() * muster_job::Job::world_size();
  const double seconds = options.step_seconds * options.gpus / std::max(1, here);
  std::vector<std::pair<std::string, double>> metrics;
  for (const std::string& one : options.metrics) {
    const std::vector<std::string_view> words = split(one, '=');
    const auto value = words.size() == 2 ? parse_real(words[1]) : std::nullopt;
    if (!value) return complain(Error{fmt::format("--report {}: expected NAME=NUMBER", one)});
    metrics.emplace_back(words[0], *value);
  }
  muster_job::Job job;
  fmt::print("launch {}: from step {} on {} GPUs\n", muster_job::Job::launch(), completed, here);
  std::fflush(stdout);
  auto next = std::chrono::steady_clock::now();
  const std::int64_t trained =
      options.fast_forward > 0 ? completed + options.fast_forward : options.steps;
  while (job.next(completed, options.steps)) {
    const std::int64_t steps =
        completed < trained ? 1 : skipped_at_once(seconds, options.steps - completed);
    next += std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(seconds * static_cast<double>(steps)));
    std::this_thread::sleep_until(next);
    completed += steps;
    job.report("loss", 1 / std::sqrt(static_cast<double>(completed)));
    for (const auto& [name, value] : metrics) job.report(name, value);
  }
  if (job.leaving()) {
    if (muster_job::Job::rank() == 0) {
      const std::string partial = options.checkpoint + ".new";
      std::ofstream(partial) << completed << "\n";
      std::rename(partial.c_str(), options.checkpoint.c_str());
    }
    job.left(completed);
  }
  fmt::print("{} after step {}\n", job.leaving() ? "left" : "done", completed);
  return kExitOk;
}

}  // namespace

void add_trainer_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("trainer", "Count steps like a training job, for trials")->group("");
  const auto options = std::make_shared<TrainerOptions>();
  command->add_option("CHECKPOINT", options->checkpoint, "file that keeps the count")->required();
  command->add_option("STEPS", options->steps, "steps in all")->required();
  command->add_option("SECONDS", options->step_seconds, "length of a step")->required();
  command->add_option("--report", options->metrics, "NAME=NUMBER that it reports with each step")
      ->allow_extra_args(false);
  command->add_option("--gpus", options->gpus, "GPUs with which a step takes that long");
  command->add_option("--fast-forward", options->fast_forward,
                      "do only so many steps of each launch; the others pass in their time");
  command->callback([options, &chosen] { chosen.run = [options] { return train(*options); }; });
}

}  // namespace muster
