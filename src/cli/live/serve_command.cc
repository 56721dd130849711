#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "agent/gpus/numa.h"
#include "backend/live/shadow_executor.h"
#include "backend/local/local_executor.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/live/daemon_link.h"
#include "cli/live/serve_plan.h"
#include "cli/live/slurm_serve.h"
#include "cli/python_command.h"
#include "daemon/daemon.h"

namespace muster {
namespace {

struct ServeOptions {
  ServePlan plan;
  std::string state;
  std::string executor = "local";
  std::string cgroup;
  std::string recording;
  std::string listen, certificate, key;
  bool all_users = false;
  std::size_t jobs_per_user = IntakeLimits{}.jobs_per_user;
  double requests_per_second = DaemonSettings{}.requests_per_second;
  SlurmServe slurm;
  std::int64_t most_deaths = DaemonSettings{}.most_deaths;
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
  settings.for_all = options.all_users;
  settings.intake.jobs_per_user = options.jobs_per_user;
  settings.requests_per_second = options.requests_per_second;
  settings.most_deaths = options.most_deaths;
  settings.listen = options.listen;
  settings.certificate = options.certificate;
  settings.key = options.key;
  if (options.shadow) {
    settings.executor_name = "shadow";
    settings.make_executor = [](const std::filesystem::path&, std::uint64_t, Mailbox& mailbox) {
      return Result<std::unique_ptr<Executor>>(std::make_unique<ShadowExecutor>(mailbox, log_line));
    };
    return settings;
  }
  std::vector<std::string> pcis;
  for (const GpuInfo& gpu : options.plan.gpus) pcis.push_back(gpu.pci);
  if (!pcis.empty()) {
    settings.gpus = [gauge = std::make_shared<GpuGauge>()] { return gauge->read(); };
  }
  settings.make_executor = [cgroup = options.cgroup, cpus = cpus_near_gpus(pcis)](
                               const std::filesystem::path& state, std::uint64_t generation,
                               Mailbox& mailbox) -> Result<std::unique_ptr<Executor>> {
    LocalSettings local;
    local.runs = state / "runs";
    local.ended = state / "ended";
    local.keeper = keeper_program();
    local.cgroup = cgroup;
    local.cpus_of_gpu = cpus;
    auto made = LocalExecutor::make(std::move(local), generation, mailbox);
    if (!made) return made.error();
    return std::unique_ptr<Executor>(std::move(*made));
  };
  return settings;
}

// Who may get in, and on which conditions.
Status check_doors(const ServeOptions& options) {
  if (options.listen.empty() != (options.certificate.empty() || options.key.empty())) {
    return Error{
        "--listen, --tls-cert and --tls-key go together: the daemon accepts no network connections "
        "without TLS"};
  }
  if (options.all_users && options.executor != "local") {
    return Error{
        "--all-users is for this machine alone: on a cluster users submit to its own queue, held, "
        "and are taken in"};
  }
  if (options.all_users && geteuid() != 0) {
    return Error{
        "--all-users needs root: jobs run as the user who submits them, and only root can start "
        "processes "
        "of others"};
  }
  return Done{};
}

// What another executor would heed is not ignored.
Status check_executor(const ServeOptions& options) {
  const bool local = options.executor == "local";
  if (local && !options.slurm.partitions.empty()) {
    return Error{"--partition names partitions of a cluster: it needs --executor slurm"};
  }
  if (!local && options.plan.fake_gpus > 0) {
    return Error{"--fake-gpus is for this machine alone: a cluster says itself which GPUs it has"};
  }
  if (!local && !options.cgroup.empty()) {
    return Error{"--cgroup is for this machine alone: on a cluster Slurm keeps jobs apart"};
  }
  return Done{};
}

// With the cluster that there is, and what carries launches out on it.
Result<DaemonSettings> settings_on_executor(ServeOptions& options) {
  if (Status fits = check_executor(options); !fits) return fits.error();
  const std::vector<std::string_view> known = {"local", "slurm"};
  Status found = Error{unknown_name("executor", options.executor, known)};
  if (options.executor == "local") found = find_cluster(options.plan);
  DaemonSettings settings = settings_of(options);
  if (options.executor == "slurm") {
    found = use_slurm(options.slurm, options.shadow, options.plan, settings);
  }
  if (!found) return found.error();
  if (options.executor == "local") {
    settings.intake.cpus = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
    settings.intake.memory_gb = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                                static_cast<double>(sysconf(_SC_PAGE_SIZE)) / 1e9;
    settings.intake.limits_memory = !options.cgroup.empty();
  }
  settings.make_plan = [plan = options.plan](bool safe) { return live_plan_of(plan, safe); };
  return settings;
}

int serve(ServeOptions options) {
  options.plan.hosts = std::make_shared<PolicyHosts>(
      HostSettings{find_python, options.plan.policy_seconds, 60, log_line});
  Result<DaemonSettings> settings = settings_on_executor(options);
  if (!settings) return complain(settings.error());
  if (Status fine = check_doors(options); !fine) return complain(fine.error());
  watch_signals();
  umask(077);  // its files are for its own user only
  auto daemon = Daemon::start(std::move(*settings));
  if (!daemon) return complain(daemon.error(), kExitFailed);
  const std::string folder = state_folder(options.state);
  log_line(fmt::format("serving {} with {} ({} GPUs), generation {}; clients: --state {}", folder,
                       (*daemon)->plan().label, (*daemon)->plan().cluster->total_gpus(),
                       (*daemon)->generation(), folder));
  if (const std::string at = (*daemon)->network_address(); !at.empty()) {
    log_line(fmt::format("on the network: --server https://{}, with a token", at));
  }
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
  log_line("ended; running jobs continue, and the next daemon finds them");
  return kExitOk;
}

void add_door_options(CLI::App& command, ServeOptions& options) {
  command.add_flag("--all-users", options.all_users,
                   "let every user of this machine submit jobs; jobs run as the submitting user; "
                   "needs root");
  command
      .add_option("--listen", options.listen,
                  "accept requests from the network at this HOST:PORT, with TLS and tokens "
                  "(`muster token`)")
      ->type_name("ADDRESS");
  command
      .add_option("--tls-cert", options.certificate,
                  "the certificate of --listen and its chain, in PEM")
      ->type_name("FILE");
  command.add_option("--tls-key", options.key, "the key of the certificate, in PEM")
      ->type_name("FILE");
  command
      .add_option("--jobs-per-user", options.jobs_per_user,
                  "maximum number of waiting and running jobs per user")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  command
      .add_option("--requests-per-second", options.requests_per_second,
                  "maximum requests per second per user, averaged over a few seconds")
      ->type_name("N")
      ->check(CLI::Range(0.1, 1e9))
      ->capture_default_str();
}

}  // namespace

void add_serve_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("serve", "Schedule real jobs, here or on Slurm, with any policy");
  const auto options = std::make_shared<ServeOptions>();
  command
      ->add_option("--state", options->state,
                   "state folder of the daemon; by default MUSTER_STATE, or the usual one")
      ->type_name("FOLDER");
  command
      ->add_option("--fake-gpus", options->plan.fake_gpus,
                   "pretend to have this many GPUs; by default those that NVML finds")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  command
      ->add_option("--executor", options->executor,
                   "what runs the jobs: this machine (local), or a cluster (slurm)")
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
                   "append all inputs of decisions to this file, for `muster replay`")
      ->type_name("FILE");
  add_door_options(*command, *options);
  command->add_flag("--shadow", options->shadow,
                    "decide, say what would be done, and do nothing: jobs are assumed to run for "
                    "their believed duration");
  command
      ->add_option("--safe-after", options->most_deaths,
                   "after this many deaths right after the start with the same policies, continue "
                   "with first come, first served; 0: never")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command->add_flag(
      "--drain-on-stop", options->drain,
      "when told to end, stop all jobs first; by default they go on without the daemon");
  command->footer(
      "Examples:\n"
      "  muster serve --state /tmp/muster --fake-gpus 8\n"
      "  muster serve --scheduling las --pacing rounds:length=60\n"
      "  muster serve --preset blox --fake-gpus 4\n"
      "  muster serve --scheduling my_policy.py:MyPolicy\n"
      "  muster serve --executor slurm --partition gpu --scheduling las --pacing rounds:length=60\n"
      "\n"
      "SIGTERM ends it and leaves all jobs running; the next daemon on the same folder finds "
      "them.\n"
      "SIGHUP reads the configuration again. docs/live.md has the guarantees.");
  command->callback([options, &chosen] { chosen.run = [options] { return serve(*options); }; });
}

}  // namespace muster
