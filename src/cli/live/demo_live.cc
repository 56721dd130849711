#include "cli/live/demo_live.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/live/daemon_link.h"
#include "daemon/daemon.h"
#include "report/table.h"
#include "run/assembly/simulation.h"

extern char** environ;

namespace muster {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr int kGpus = 8;
constexpr double kStep = 0.1;
constexpr const char* kScheduling = "las";
constexpr double kRound = 1;

struct DemoJob {
  double submit = 0;
  double seconds = 0;
  int gpus = 1;
};

// Twenty jobs within a quarter of a minute, of which most are short and a few are not.
std::vector<DemoJob> draw(const DemoLiveOptions& options) {
  Random random(options.seed, "live demo");
  std::vector<DemoJob> jobs;
  double at = 0;
  for (int i = 0; i < options.jobs; ++i) {
    constexpr std::array kSizes = {1, 1, 2, 2, 4, 8};
    DemoJob& job = jobs.emplace_back();
    job.submit = at;
    job.gpus = kSizes[random.below(kSizes.size())];
    job.seconds = random.chance(0.2) ? random.uniform(6, 10) : random.uniform(1, 4);
    at += random.uniform(0.2, 1.2);
  }
  return jobs;
}

class DemoDaemon {
 public:
  explicit DemoDaemon(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~DemoDaemon() { end(SIGTERM); }

  Status start() {
    std::error_code code;
    const std::string self = std::filesystem::read_symlink("/proc/self/exe", code).string();
    const std::vector<std::string> words = {self,
                                            "serve",
                                            "--state",
                                            (folder_ / "state").string(),
                                            "--fake-gpus",
                                            std::to_string(kGpus),
                                            "--scheduling",
                                            kScheduling,
                                            "--pacing",
                                            fmt::format("rounds:length={}", kRound),
                                            "--drain-on-stop"};
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, (folder_ / "daemon.log").c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int failed =
        posix_spawn(&process_, self.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return Error{"cannot start the daemon"};
    for (int i = 0; i < 500; ++i) {
      if (DaemonLink::open(link())) return Done{};
      if (waitpid(process_, nullptr, WNOHANG) == process_) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return Error{fmt::format("the daemon did not come up: see {}/daemon.log", folder_.string())};
  }
  void end(int how) {
    if (process_ <= 0) return;
    kill(process_, how);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  LinkOptions link() const {
    LinkOptions options;
    options.state = (folder_ / "state").string();
    options.json = true;
    return options;
  }

 private:
  std::filesystem::path folder_;
  pid_t process_ = -1;
};

Result<std::string> submit(const LinkOptions& to, const DemoJob& job, std::size_t number,
                           const std::filesystem::path& folder) {
  std::error_code code;
  const auto steps = static_cast<long long>(job.seconds / kStep);
  const Json json = {{"command",
                      {std::filesystem::read_symlink("/proc/self/exe", code).string(), "trainer",
                       (folder / fmt::format("{}.step", number)).string(), std::to_string(steps),
                       std::to_string(kStep), "--gpus", std::to_string(job.gpus)}},
                     {"name", fmt::format("train{}", number + 1)},
                     {"gpus", job.gpus},
                     {"estimate", job.seconds},
                     {"iterations", steps},
                     {"working_directory", folder.string()}};
  auto link = DaemonLink::open(to);
  if (!link) return link.error();
  return link->post("/v1/jobs", json.dump());
}

// One line: who is on each GPU, and how many wait.
void show(const LinkOptions& from, double seconds) {
  auto link = DaemonLink::open(from);
  if (!link) return;
  const auto nodes = link->get("/v1/nodes");
  const auto jobs = link->get("/v1/jobs");
  if (!nodes || !jobs) return;
  std::string gpus;
  const Json node = Json::parse(*nodes)[0];
  for (const Json& gpu : node["jobs"]) {
    gpus += gpu.empty() ? "   ." : fmt::format("{:>4}", gpu[0].get<int>());
  }
  int waiting = 0;
  int over = 0;
  int preemptions = 0;
  for (const Json& job : Json::parse(*jobs)) {
    const auto state = job["state"].get<std::string>();
    waiting += state == "queued" || state == "preempted" || state == "submitted" ? 1 : 0;
    over += state == "finished" ? 1 : 0;
    preemptions += job["preemptions"].get<int>();
  }
  fmt::print("{:5.1f} s  GPUs{}  waiting {:>2}  finished {:>2}  preemptions {:>2}\n", seconds, gpus,
             waiting, over, preemptions);
  std::fflush(stdout);
}

// What the simulator makes of the same jobs under the same policy.
Result<std::vector<JobRecord>> predicted(const std::vector<DemoJob>& jobs) {
  class Collect final : public Observer {
   public:
    void on_job_end(const JobRecord& record) override { records.push_back(record); }
    std::vector<JobRecord> records;
  };
  RunConfig config;
  config.cluster.shape = fmt::format("1x{}", kGpus);
  config.scheduling = {kScheduling, {}};
  config.pacing = {"rounds", {{"length", fmt::format("{}", kRound)}}};
  config.workload.generator = {"poisson", {{"jobs", "1"}}};
  auto complete = complete_config(std::move(config));
  if (!complete) return complete.error();
  auto shared = std::make_shared<SharedJobs>();
  for (const DemoJob& job : jobs) {
    JobSpec& spec = shared->jobs.emplace_back();
    spec.submit = spec.arrival = job.submit;
    spec.duration = spec.estimate = job.seconds;
    spec.gpus = job.gpus;
  }
  Collect collect;
  auto measured = measure_run(*complete, shared, {}, &collect);
  if (!measured) return measured.error();
  return std::move(collect.records);
}

struct Outcome {
  double mean = 0;
  double makespan = 0;
  long long preemptions = 0;
};

Outcome real_outcome(const Json& jobs) {
  Outcome outcome;
  double first = 1e18;
  double last = 0;
  for (const Json& job : jobs) {
    outcome.mean += job["ended"].get<double>() - job["submitted"].get<double>();
    first = std::min(first, job["submitted"].get<double>());
    last = std::max(last, job["ended"].get<double>());
    outcome.preemptions += job["preemptions"].get<int>();
  }
  outcome.mean /= static_cast<double>(jobs.size());
  outcome.makespan = last - first;
  return outcome;
}

Outcome simulated_outcome(const std::vector<JobRecord>& records) {
  Outcome outcome;
  for (const JobRecord& record : records) {
    outcome.mean += record.completion_time();
    outcome.makespan = std::max(outcome.makespan, record.end);
    outcome.preemptions += record.preemptions;
  }
  outcome.mean /= static_cast<double>(records.size());
  return outcome;
}

Status run_jobs(DemoDaemon& daemon, const std::vector<DemoJob>& jobs,
                const std::filesystem::path& folder) {
  const auto begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::size_t next = 0;
  double shown = 0;
  bool killed = false;
  while (!interrupted()) {
    for (; next < jobs.size() && elapsed() >= jobs[next].submit; ++next) {
      if (const auto done = submit(daemon.link(), jobs[next], next, folder); !done) {
        return done.error();
      }
    }
    if (!killed && next == jobs.size()) {
      killed = true;
      fmt::print(
          "         the daemon is killed (signal 9); jobs go on, and the next one finds them\n");
      daemon.end(SIGKILL);
      if (Status back = daemon.start(); !back) return back;
    }
    if (elapsed() >= shown) {
      show(daemon.link(), elapsed());
      shown += 1;
    }
    auto link = DaemonLink::open(daemon.link());
    if (!link) return link.error();
    const auto left = link->get("/v1/jobs?active=true&limit=1");
    if (!left) return left.error();
    if (next == jobs.size() && Json::parse(*left).empty()) return Done{};
    if (elapsed() > 300) return Error{"not all jobs have left after five minutes"};
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return Error{"interrupted"};
}

int print_outcome(const DemoDaemon& daemon, const std::vector<DemoJob>& jobs) {
  auto link = DaemonLink::open(daemon.link());
  if (!link) return complain(link.error(), kExitFailed);
  const auto answer = link->get("/v1/jobs");
  if (!answer) return complain(answer.error(), kExitFailed);
  const auto records = predicted(jobs);
  if (!records) return complain(records.error(), kExitFailed);
  const Outcome real = real_outcome(Json::parse(*answer));
  const Outcome said = simulated_outcome(*records);
  fmt::print("\n{:<22}{:>12}{:>12}\n", "", "real run", "simulator");
  fmt::print("{:<22}{:>10.2f} s{:>10.2f} s\n", "mean completion time", real.mean, said.mean);
  fmt::print("{:<22}{:>10.2f} s{:>10.2f} s\n", "makespan", real.makespan, said.makespan);
  fmt::print("{:<22}{:>12}{:>12}\n", "preemptions", real.preemptions, said.preemptions);
  fmt::print(
      "\nThe simulator knows nothing of what it takes to save, stop and start a process, nor of "
      "the\n"
      "second in which nobody decided. Next: docs/live.md\n");
  return kExitOk;
}

}  // namespace

int demo_live(const DemoLiveOptions& options) {
  watch_interrupts();
  std::string name = (std::filesystem::temp_directory_path() / "muster-demo-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return complain(Error{"cannot make a folder"}, kExitFailed);
  const std::filesystem::path folder = name;
  const std::vector<DemoJob> jobs = draw(options);
  fmt::print(
      "A daemon with {} pretended GPUs in {}, {} training jobs that are real processes, and least\n"
      "attained service first, decided every second:\n\n",
      kGpus, folder.string(), jobs.size());
  int status = kExitFailed;
  {
    DemoDaemon daemon(folder);
    Status done = daemon.start();
    if (done) done = run_jobs(daemon, jobs, folder);
    status = done ? print_outcome(daemon, jobs) : complain(done.error(), kExitFailed);
  }
  std::error_code code;
  if (status == kExitOk) std::filesystem::remove_all(folder, code);
  return interrupted() ? kExitInterrupted : status;
}

}  // namespace muster
