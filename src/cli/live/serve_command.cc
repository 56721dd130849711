#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "backend/live/shadow_executor.h"
#include "backend/local/local_executor.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/live/daemon_link.h"
#include "cli/live/serve_plan.h"
#include "cli/live/slurm_serve.h"
#include "daemon/daemon.h"

namespace muster {
namespace {

struct ServeOptions {
  ServePlan plan;
  std::string state;
  std::string executor = "local";
  std::string cgroup;
  std::string recording;
  SlurmServe slurm;
  bool drain = false;
  bool shadow = false;
};

std::atomic<int> got_signal{0};
void on_signal(int number) { got_signal.store(number); }

void watch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void log_line(const std::string& line) {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  localtime_r(&now, &parts);
  fmt::print(stderr, "{:02}:{:02}:{:02} {}\n", parts.tm_hour, parts.tm_min, parts.tm_sec, line);
}

std::filesystem::path keeper_program() {
  if (const char* named = std::getenv("MUSTER_KEEPER")) return named;
  std::error_code code;
  return std::filesystem::read_symlink("/proc/self/exe", code).parent_path() / "muster-keeper";
}

DaemonSettings settings_of(const ServeOptions& options) {
  DaemonSettings settings;
  settings.state = state_folder(options.state);
  settings.executor_name = options.executor;
  settings.log = log_line;
  settings.recording = options.recording;
  if (options.shadow) {
    settings.executor_name = "shadow";
    settings.make_executor = [](const std::filesystem::path&, std::uint64_t, Mailbox& mailbox) {
      return Result<std::unique_ptr<Executor>>(std::make_unique<ShadowExecutor>(mailbox, log_line));
    };
    return settings;
  }
  settings.make_executor = [cgroup = options.cgroup](
                               const std::filesystem::path& state, std::uint64_t generation,
                               Mailbox& mailbox) -> Result<std::unique_ptr<Executor>> {
    LocalSettings local;
    local.runs = state / "runs";
    local.ended = state / "ended";
    local.keeper = keeper_program();
    local.cgroup = cgroup;
    auto made = LocalExecutor::make(std::move(local), generation, mailbox);
    if (!made) return made.error();
    return std::unique_ptr<Executor>(std::move(*made));
  };
  return settings;
}

// The cluster that there is, and what carries launches out on it.
Status use_executor(ServeOptions& options, DaemonSettings& settings) {
  const std::vector<std::string_view> known = {"local", "slurm"};
  Status found = Error{unknown_name("executor", options.executor, known)};
  if (options.executor == "local") found = find_cluster(options.plan);
  if (options.executor == "slurm") {
    found = use_slurm(options.slurm, options.shadow, options.plan, settings);
  }
  settings.make_plan = [plan = options.plan](bool safe) { return live_plan_of(plan, safe); };
  return found;
}

int serve(ServeOptions options) {
  DaemonSettings settings = settings_of(options);
  if (Status found = use_executor(options, settings); !found) return complain(found.error());
  watch_signals();
  auto daemon = Daemon::start(std::move(settings));
  if (!daemon) return complain(daemon.error(), kExitFailed);
  const std::string folder = state_folder(options.state);
  log_line(fmt::format("serving {} with {} ({} GPUs), generation {}; clients: --state {}", folder,
                       (*daemon)->plan().label, (*daemon)->plan().cluster->total_gpus(),
                       (*daemon)->generation(), folder));
  (*daemon)->run([&options] {
    switch (got_signal.exchange(0)) {
      case SIGHUP:
        return Daemon::Wanted::kReload;
      case SIGINT:
      case SIGTERM:
        return options.drain ? Daemon::Wanted::kDrain : Daemon::Wanted::kLeave;
      default:
        return Daemon::Wanted::kGoOn;
    }
  });
  log_line("ended; what runs goes on, and the next daemon finds it");
  return kExitOk;
}

}  // namespace

void add_serve_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("serve", "Schedule real jobs on this machine with any of the policies");
  const auto options = std::make_shared<ServeOptions>();
  command
      ->add_option("--state", options->state,
                   "folder for everything it keeps; by default MUSTER_STATE, or the usual one")
      ->type_name("FOLDER");
  command
      ->add_option("--fake-gpus", options->plan.fake_gpus,
                   "pretend to have so many GPUs; by default those that NVML finds")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  command
      ->add_option("--executor", options->executor,
                   "what carries launches out: this machine (local), or a cluster (slurm)")
      ->type_name("NAME")
      ->capture_default_str();
  add_slurm_options(*command, options->slurm);
  add_plan_options(*command, options->plan);
  command
      ->add_option("--cgroup", options->cgroup,
                   "cgroup v2 folder in which each launch gets its own, for memory limits")
      ->type_name("FOLDER");
  command
      ->add_option("--record", options->recording,
                   "append everything that was decided from to this file, for `muster replay`")
      ->type_name("FILE");
  command->add_flag("--shadow", options->shadow,
                    "decide, say what would be done, and do nothing: jobs are pretended to run as "
                    "long as is believed");
  command->add_flag("--drain-on-stop", options->drain,
                    "when told to end, stop all jobs first; else they go on without the daemon");
  command->footer(
      "Examples:\n"
      "  muster serve --state /tmp/muster --fake-gpus 8\n"
      "  muster serve --scheduling las --pacing rounds:length=60\n"
      "  muster serve --preset blox --fake-gpus 4\n"
      "  muster serve --executor slurm --partition gpu --scheduling las --pacing rounds:length=60\n"
      "\n"
      "SIGTERM ends it and leaves all jobs running; the next daemon on the same folder finds "
      "them.\n"
      "SIGHUP reads the configuration again. docs/live.md has the guarantees.");
  command->callback([options, &chosen] { chosen.run = [options] { return serve(*options); }; });
}

}  // namespace muster
