// A trace as a workload of a running daemon, in real or scaled time: each job becomes a trainer
// that takes as long as the trace says, divided by the speed.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/live/daemon_link.h"
#include "workload/trace_reader.h"

namespace muster {
namespace {

struct DriveOptions {
  LinkOptions link;
  std::string trace;
  std::string format;
  std::string folder = "trainers";
  double speed = 1;
  double step = 1;
  long long jobs = 0;
  bool no_estimates = false;
};

std::string submission(const JobSpec& job, const DriveOptions& options, std::size_t number) {
  const double seconds = std::max(0.05, job.duration / options.speed);
  const auto steps = static_cast<long long>(std::max(1.0, std::round(seconds / options.step)));
  const std::filesystem::path folder = std::filesystem::absolute(options.folder);
  std::error_code code;
  nlohmann::json json = {
      {"command",
       {std::filesystem::read_symlink("/proc/self/exe", code).string(), "trainer",
        (folder / fmt::format("{}.step", number)).string(), std::to_string(steps),
        fmt::format("{}", seconds / static_cast<double>(steps)), "--gpus",
        std::to_string(job.gpus)}},
      {"name", job.name.empty() ? fmt::format("job {}", number) : job.name},
      {"gpus", job.gpus},
      {"priority", job.priority},
      {"iterations", steps},
      {"working_directory", folder.string()}};
  if (!options.no_estimates) json["estimate"] = seconds;
  if (job.elastic()) {
    json["min_gpus"] = std::max(1, job.min_gpus);
    json["max_gpus"] = std::max(job.gpus, job.max_gpus);
  }
  if (job.deadline != kNever && job.deadline > job.submit) {
    json["deadline"] = (job.deadline - job.submit) / options.speed;
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

int drive(const DriveOptions& options) {
  watch_interrupts();
  Symbols symbols;
  TraceOptions reading;
  reading.format = options.format;
  auto trace = load_trace(options.trace, reading, symbols);
  if (!trace) return complain(trace.error());
  std::error_code code;
  std::filesystem::create_directories(options.folder, code);
  auto link = DaemonLink::open(options.link);
  if (!link) return complain(link.error(), kExitFailed);
  const auto begin = std::chrono::steady_clock::now();
  std::size_t number = 0;
  for (const JobSpec& job : trace->jobs) {
    if (options.jobs > 0 && number >= static_cast<std::size_t>(options.jobs)) break;
    const auto due = begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                 std::chrono::duration<double>(
                                     (job.submit - trace->jobs.front().submit) / options.speed));
    while (!interrupted() && std::chrono::steady_clock::now() < due) {
      const auto left = due - std::chrono::steady_clock::now();
      std::this_thread::sleep_for(
          std::min<std::chrono::steady_clock::duration>(left, std::chrono::milliseconds(200)));
    }
    if (interrupted()) return kExitInterrupted;
    const auto answer = link->post("/v1/jobs", submission(job, options, number));
    if (!answer) return complain(answer.error(), kExitFailed);
    if (options.link.json) {
      fmt::print("{}", *answer);
    } else {
      fmt::print("{}\n", nlohmann::json::parse(*answer)["id"].get<std::uint64_t>());
    }
    std::fflush(stdout);
    ++number;
  }
  return kExitOk;
}

}  // namespace

void add_drive_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "drive",
      "Submit the jobs of a trace to a running daemon, as trainers that run as long as recorded");
  const auto options = std::make_shared<DriveOptions>();
  command->add_option("TRACE", options->trace, "trace; its format is detected")->required();
  command->add_option("--format", options->format, "format of the trace, if detection fails")
      ->type_name("NAME");
  command->add_option("--speed", options->speed, "how many times as fast as recorded")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--step", options->step, "seconds of a training step, in real time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--jobs", options->jobs, "only the first N")->type_name("N");
  command->add_option("-o,--output", options->folder, "folder for the trainers' checkpoints")
      ->type_name("FOLDER")
      ->capture_default_str();
  command->add_flag("--no-estimates", options->no_estimates,
                    "do not tell the daemon how long jobs take");
  add_link_options(*command, options->link);
  command->footer(
      "Examples:\n"
      "  muster drive trace.csv --speed 3600 --jobs 100\n"
      "\n"
      "It prints the number of each job when it is submitted. Each is preempted, saves its step, "
      "and\n"
      "goes on from there, as a real training job would.");
  command->callback([options, &chosen] { chosen.run = [options] { return drive(*options); }; });
}

}  // namespace muster
