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
#include "cli/live/demo_page.h"
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
constexpr const char* kScheduling = "optimus";
constexpr const char* kLeastGain = "0.5";  // seconds; jobs last for a few
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
    at += random.uniform(0.2, 1.0);
  }
  return jobs;
}

// Spare GPUs let a job grow.
int most_gpus(const DemoJob& job) { return std::min(kGpus, 2 * job.gpus); }

class DemoDaemon {
 public:
  explicit DemoDaemon(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~DemoDaemon() { end(SIGTERM); }

  Status start() {
    std::error_code code;
    const std::string self = std::filesystem::read_symlink("/proc/self/exe", code).string();
    const std::vector<std::string> words = {
        self,
        "serve",
        "--state",
        (folder_ / "state").string(),
        "--fake-gpus",
        std::to_string(kGpus),
        "--scheduling",
        fmt::format("{}:least_gain={}", kScheduling, kLeastGain),
        "--perf",
        "scaling",
        "--pacing",
        fmt::format("rounds:length={}", kRound),
        "--drain-on-stop"};
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
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
                     {"min_gpus", job.gpus},
                     {"max_gpus", most_gpus(job)},
                     {"estimate", job.seconds},
                     {"iterations", steps},
                     {"working_directory", folder.string()}};
  auto link = DaemonLink::open(to);
  if (!link) return link.error();
  return link->post("/v1/jobs", json.dump());
}

// One line: which jobs are on each GPU, and how many wait.
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
  int resizes = 0;
  for (const Json& job : Json::parse(*jobs)) {
    const auto state = job["state"].get<std::string>();
    waiting += state == "queued" || state == "preempted" || state == "submitted" ? 1 : 0;
    over += state == "finished" ? 1 : 0;
    preemptions += job["preemptions"].get<int>();
    resizes += job["resizes"].get<int>();
  }
  fmt::print("{:5.1f} s  GPUs{}  waiting {:>2}  finished {:>2}  preempted {:>2}  resized {:>2}\n",
             seconds, gpus, waiting, over, preemptions, resizes);
  std::fflush(stdout);
}

// What the simulator makes of the same jobs under the same policy.
Result<DemoRun> predicted(const std::vector<DemoJob>& jobs) {
  class Collect final : public Observer {
   public:
    void on_job_end(const JobRecord& record) override { run.records.push_back(record); }
    void on_decision(const Decision& decision) override {
      if (decision.job == kNoJob) return;
      std::vector<DemoSpan>& spans = run.spans[decision.job];
      const bool starts = decision.action == Action::kStart || decision.action == Action::kResize ||
                          decision.action == Action::kMove;
      const bool ends =
          starts || decision.action == Action::kStop || decision.action == Action::kFinish;
      if (ends && !spans.empty()) spans.back().to = std::min(spans.back().to, decision.time);
      if (starts) spans.push_back({decision.time, kNever, decision.gpus});
    }
    DemoRun run;
  };
  RunConfig config;
  config.cluster.shape = fmt::format("1x{}", kGpus);
  config.scheduling = {kScheduling, {{"least_gain", kLeastGain}}};
  config.perf = {{"scaling", {}}};
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
    spec.min_gpus = job.gpus;
    spec.max_gpus = most_gpus(job);
    spec.name = fmt::format("train{}", shared->jobs.size());
  }
  Collect collect;
  auto measured = measure_run(*complete, shared, {}, &collect);
  if (!measured) return measured.error();
  std::sort(collect.run.records.begin(), collect.run.records.end(),
            [](const JobRecord& a, const JobRecord& b) { return a.id < b.id; });
  collect.run.label = "simulator";
  return std::move(collect.run);
}

// What became of the jobs, as the daemon tells it.
Result<DemoRun> happened(DaemonLink& link) {
  const auto answer = link.get("/v1/jobs");
  if (!answer) return answer.error();
  DemoRun run;
  run.label = "real run";
  double begin = -1;
  for (const Json& job : Json::parse(*answer)) {
    const auto submitted = job["submitted"].get<double>();
    if (begin < 0) begin = submitted;
    JobRecord& record = run.records.emplace_back();
    record.id = JobId{job["id"].get<std::uint32_t>()};
    record.name = job["name"].get<std::string>();
    record.submit = record.arrival = submitted - begin;
    record.start = job["started"].get<double>() - begin;
    record.end = job["ended"].get<double>() - begin;
    record.gpus = job["gpus"].get<int>();
    record.preemptions = job["preemptions"].get<int>();
    record.resizes = job["resizes"].get<int>();
    record.queue = record.completion_time();
    const auto whole = link.get(fmt::format("/v1/jobs/{}", index(record.id)));
    if (!whole) return whole.error();
    const Json story = Json::parse(*whole);
    for (const Json& launch : story["runs"]) {
      if (launch["started"].is_null() || launch["ended"].is_null()) continue;
      DemoSpan span{launch["started"].get<double>() - begin, launch["ended"].get<double>() - begin,
                    0};
      for (const Json& place : launch["placement"]) {
        span.gpus += static_cast<int>(place["gpus"].size());
      }
      record.queue -= span.to - span.from;
      record.gpu_seconds += (span.to - span.from) * span.gpus;
      run.spans[record.id].push_back(span);
    }
    record.duration = story.value("estimate", record.completion_time());
  }
  return run;
}

struct Outcome {
  double mean = 0;
  double makespan = 0;
  long long preemptions = 0;
  long long resizes = 0;
};

Outcome outcome_of(const DemoRun& run) {
  Outcome outcome;
  for (const JobRecord& record : run.records) {
    outcome.mean += record.completion_time();
    outcome.makespan = std::max(outcome.makespan, record.end);
    outcome.preemptions += record.preemptions;
    outcome.resizes += record.resizes;
  }
  outcome.mean /= static_cast<double>(run.records.size());
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

int print_outcome(const DemoDaemon& daemon, const std::vector<DemoJob>& jobs,
                  const std::string& page) {
  auto link = DaemonLink::open(daemon.link());
  if (!link) return complain(link.error(), kExitFailed);
  auto live = happened(*link);
  if (!live) return complain(live.error(), kExitFailed);
  auto simulated = predicted(jobs);
  if (!simulated) return complain(simulated.error(), kExitFailed);
  const Outcome real = outcome_of(*live);
  const Outcome said = outcome_of(*simulated);
  fmt::print("\n{:<22}{:>12}{:>12}\n", "", "real run", "simulator");
  fmt::print("{:<22}{:>10.2f} s{:>10.2f} s\n", "mean completion time", real.mean, said.mean);
  fmt::print("{:<22}{:>10.2f} s{:>10.2f} s\n", "makespan", real.makespan, said.makespan);
  fmt::print("{:<22}{:>12}{:>12}\n", "preemptions", real.preemptions, said.preemptions);
  fmt::print("{:<22}{:>12}{:>12}\n", "resizes", real.resizes, said.resizes);
  fmt::print(
      "\nThe simulator does not know how long it takes to save, stop and start a process, and it\n"
      "ignores the second without a daemon.\n");
  const std::vector<DemoRun> runs = {std::move(*live), std::move(*simulated)};
  if (Status written = write_demo_page(page, runs, kGpus); !written) {
    return complain(written.error(), kExitFailed);
  }
  fmt::print("\nBoth, job by job: {}\nNext: docs/live.md\n", page);
  return kExitOk;
}

}  // namespace

int demo_live(const DemoLiveOptions& options) {
  watch_interrupts();
  std::string name = (std::filesystem::temp_directory_path() / "muster-demo-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return complain(Error{"cannot make a folder"}, kExitFailed);
  const std::filesystem::path folder = name;
  const std::vector<DemoJob> jobs = draw(options);
  std::error_code code;
  std::filesystem::create_directories(options.folder, code);
  const std::string page = options.folder + "/live.html";
  fmt::print(
      "A daemon with {} fake GPUs in {}, and {} training jobs that are real processes. Every\n"
      "second, the shortest come first, and spare GPUs go where they save most time (Optimus):\n\n",
      kGpus, folder.string(), jobs.size());
  int status = kExitFailed;
  {
    DemoDaemon daemon(folder);
    Status done = daemon.start();
    if (done) done = run_jobs(daemon, jobs, folder);
    status = done ? print_outcome(daemon, jobs, page) : complain(done.error(), kExitFailed);
  }
  if (status == kExitOk) std::filesystem::remove_all(folder, code);
  return interrupted() ? kExitInterrupted : status;
}

}  // namespace muster
