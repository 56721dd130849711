// A trace as a workload of a running daemon, in real or scaled time: each job becomes a trainer
// that takes as long as the trace says, divided by the speed.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/live/daemon_link.h"
#include "daemon/job_request.h"
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
  long long fast_forward = 0;
  bool no_estimates = false;
};

// What the cluster has by name. A machine has neither partitions nor types that a trace could know.
struct KnownNames {
  std::set<std::string> partitions;
  std::set<std::string> gpu_types;
};

Result<KnownNames> known_names(DaemonLink& link) {
  const auto answer = link.get("/v1/status");
  if (!answer) return answer.error();
  const auto status = nlohmann::json::parse(*answer);
  return KnownNames{status.value("partitions", std::set<std::string>()),
                    status.value("gpu_types", std::set<std::string>())};
}

class Driver {
 public:
  Driver(const DriveOptions& options, const Symbols& symbols, KnownNames known)
      : options_(options), symbols_(symbols), known_(std::move(known)) {}

  std::string submission(const JobSpec& job, std::size_t number);
  // What of the trace was left out.
  void tell_notes() const {
    for (const auto& [what, jobs] : left_out_) {
      fmt::print(stderr, "note: the cluster has no {}: {} jobs that ask for it may go anywhere\n",
                 what, jobs);
    }
  }

 private:
  void add_name(nlohmann::json& json, const char* key, Symbol symbol,
                const std::set<std::string>& names) {
    if (symbol == kNoSymbol) return;
    if (names.contains(symbols_.text(symbol))) {
      json[key] = symbols_.text(symbol);
    } else {
      ++left_out_[fmt::format("{} '{}'", key, symbols_.text(symbol))];
    }
  }
  void add_workload(nlohmann::json& json, const JobSpec& job);

  const DriveOptions& options_;
  const Symbols& symbols_;
  KnownNames known_;
  std::map<std::string, int> left_out_;  // by what, of how many jobs
};

// What it trains. All jobs are shorter by the speed, so they have fewer iterations, and each takes
// as long as it was measured: tables of measured speeds say of them what they say of the trace.
void Driver::add_workload(nlohmann::json& json, const JobSpec& job) {
  if (job.iterations > 0) json["iterations"] = job.iterations / options_.speed;
  if (job.model != kNoSymbol) json["model"] = symbols_.text(job.model);
  if (job.batch_size > 0) json["batch_size"] = job.batch_size;
  if (job.step_ms > 0) json["step_ms"] = job.step_ms;
  for (std::size_t i = 0; i < kStages; ++i) {
    if (job.stage_ms[i] > 0) json["stage_ms"][kStageNames[i]] = job.stage_ms[i];
  }
}

std::string Driver::submission(const JobSpec& job, std::size_t number) {
  const double seconds = std::max(0.05, job.duration / options_.speed);
  const auto steps = static_cast<long long>(std::max(1.0, std::round(seconds / options_.step)));
  const std::filesystem::path folder = std::filesystem::absolute(options_.folder);
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
  if (options_.fast_forward > 0) {
    json["command"].push_back("--fast-forward");
    json["command"].push_back(std::to_string(options_.fast_forward));
  }
  if (!options_.no_estimates) json["estimate"] = seconds;
  if (job.elastic()) {
    json["min_gpus"] = std::max(1, job.min_gpus);
    json["max_gpus"] = std::max(job.gpus, job.max_gpus);
  }
  if (job.deadline != kNever && job.deadline > job.submit) {
    json["deadline"] = (job.deadline - job.submit) / options_.speed;
  }
  add_workload(json, job);
  add_name(json, "gpu_type", job.gpu_type, known_.gpu_types);
  add_name(json, "partition", job.partition, known_.partitions);
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Those of `numbers` that were refused, once it was decided about all of them or a while has
// passed. An admission policy may decline a job later still.
Status tell_refused(DaemonLink& link, const std::set<std::uint64_t>& numbers) {
  constexpr int kLooks = 20;
  nlohmann::json jobs;
  for (int look = 0; look < kLooks; ++look) {
    if (look > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto undecided = link.get("/v1/jobs?state=submitted");
    if (!undecided) return undecided.error();
    jobs = nlohmann::json::parse(*undecided);
    const auto ours = [&](const auto& job) { return numbers.contains(job["id"]); };
    if (std::none_of(jobs.begin(), jobs.end(), ours)) break;
  }
  const auto refused = link.get("/v1/jobs?state=refused");
  if (!refused) return refused.error();
  std::size_t count = 0;
  for (const auto& job : nlohmann::json::parse(*refused)) {
    if (!numbers.contains(job["id"])) continue;
    ++count;
    fmt::print(stderr, "job {} ({}) was refused: {}\n", job["id"].get<std::uint64_t>(),
               job["name"].get<std::string>(), job["reason"].get<std::string>());
  }
  if (count == 0) return Done{};
  return Error{fmt::format("{} of {} jobs were refused", count, numbers.size())};
}

// Waits until `due`; false after an interrupt.
bool wait_until(std::chrono::steady_clock::time_point due) {
  while (!interrupted() && std::chrono::steady_clock::now() < due) {
    const auto left = due - std::chrono::steady_clock::now();
    std::this_thread::sleep_for(
        std::min<std::chrono::steady_clock::duration>(left, std::chrono::milliseconds(200)));
  }
  return !interrupted();
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
  auto known = known_names(*link);
  if (!known) return complain(known.error(), kExitFailed);
  Driver driver(options, symbols, std::move(*known));
  const auto begin = std::chrono::steady_clock::now();
  std::set<std::uint64_t> numbers;
  for (std::size_t number = 0; number < trace->jobs.size(); ++number) {
    if (options.jobs > 0 && number >= static_cast<std::size_t>(options.jobs)) break;
    const JobSpec& job = trace->jobs[number];
    const auto due = begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                 std::chrono::duration<double>(
                                     (job.submit - trace->jobs.front().submit) / options.speed));
    if (!wait_until(due)) return kExitInterrupted;
    const auto answer = link->post("/v1/jobs", driver.submission(job, number));
    if (!answer) return complain(answer.error(), kExitFailed);
    const auto id = nlohmann::json::parse(*answer)["id"].get<std::uint64_t>();
    numbers.insert(id);
    fmt::print("{}", options.link.json ? *answer : fmt::format("{}\n", id));
    std::fflush(stdout);
  }
  driver.tell_notes();
  if (Status fine = tell_refused(*link, numbers); !fine) return complain(fine.error(), kExitFailed);
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
      ->check(not_above_zero, "POSITIVE")
      ->capture_default_str();
  command->add_option("--step", options->step, "seconds of a training step, in real time")
      ->check(not_above_zero, "POSITIVE")
      ->capture_default_str();
  command->add_option("--jobs", options->jobs, "only the first N")->type_name("N");
  command->add_option("-o,--output", options->folder, "folder for the trainers' checkpoints")
      ->type_name("FOLDER")
      ->capture_default_str();
  command->add_flag("--no-estimates", options->no_estimates,
                    "do not tell the daemon how long jobs take");
  command
      ->add_option("--fast-forward", options->fast_forward,
                   "each launch does only so many steps; the others pass in their time")
      ->type_name("N");
  add_link_options(*command, options->link);
  command->footer(
      "Examples:\n"
      "  muster drive trace.csv --speed 3600 --jobs 100\n"
      "\n"
      "It prints the number of each job when it is submitted. Each is preempted, saves its step, "
      "and\n"
      "goes on from there, as a real training job would. What the trace says of a job is passed "
      "on:\n"
      "model, batch size, iterations, stages, deadline, sizes, GPU type and partition. It ends "
      "with\n"
      "status 1 where jobs were refused, and says which and why.");
  command->callback([options, &chosen] { chosen.run = [options] { return drive(*options); }; });
}

}  // namespace muster
