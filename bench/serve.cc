// The daemon under load, over its socket: durable submissions, a long queue, decisions, a restart.
// Its machine is pretended: launches start at once and never end.
//
//   bench_serve [JOBS] [CLIENTS]
//   bench_serve --check              exits with 1 where a restart with 10,000 jobs takes over 2 s
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "clock.h"
#include "daemon/daemon.h"
#include "run/config/load_config.h"

namespace muster::bench {
namespace {

class Pretended final : public Executor {
 public:
  explicit Pretended(Mailbox& mailbox) : mailbox_(mailbox) {}
  Abilities abilities() const override { return {}; }
  void prepare(const RunOrder& order) override { tell(order.run, RunEvent::kReady); }
  void go(RunId run) override { tell(run, RunEvent::kStarted); }
  void stop(RunId run, Grace) override { tell(run, RunEvent::kExited); }
  void census(std::uint64_t) override {}
  void acknowledge(RunId) override {}

 private:
  void tell(RunId run, RunEvent event) {
    RunReport report;
    report.run = run;
    report.event = event;
    report.outcome = RunOutcome::kStopped;
    mailbox_.post(report);
  }
  Mailbox& mailbox_;
};

Result<LivePlan> plan_of(const std::string& scheduling) {
  RunConfig config;
  config.cluster.shape = "1x8";
  config.scheduling = {scheduling, {}};
  config.workload.generator = {"poisson", {{"jobs", "1"}}};
  auto complete = complete_config(std::move(config));
  if (!complete) return complete.error();
  return make_live_plan(*complete);
}

// A daemon with its thread.
class Served {
 public:
  Served(const std::filesystem::path& folder, const std::string& scheduling) {
    DaemonSettings settings;
    settings.state = folder;
    settings.make_plan = [scheduling](bool) { return plan_of(scheduling); };
    settings.make_executor = [](const std::filesystem::path&, std::uint64_t, Mailbox& mailbox) {
      return Result<std::unique_ptr<Executor>>(std::make_unique<Pretended>(mailbox));
    };
    settings.requests_per_second = 1e9;
    settings.intake.jobs_per_user = 10'000'000;
    const Moment begin = now();
    auto daemon = Daemon::start(std::move(settings));
    if (!daemon) {
      fmt::print(stderr, "{}\n", daemon.error().message);
      std::exit(1);
    }
    started_in_ = seconds_since(begin);
    daemon_ = std::move(*daemon);
    thread_ = std::thread([this] {
      daemon_->run([this] { return ending_ ? Daemon::Wanted::kLeave : Daemon::Wanted::kGoOn; });
    });
  }
  ~Served() {
    ending_ = true;
    thread_.join();
  }
  double started_in() const { return started_in_; }

 private:
  std::unique_ptr<Daemon> daemon_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
  double started_in_ = 0;
};

struct Pace {
  double per_second = 0;
  double median_ms = 0;
  double p99_ms = 0;
};

Pace submit_all(const std::filesystem::path& folder, int jobs, int clients) {
  std::vector<std::vector<double>> took(static_cast<std::size_t>(clients));
  const Moment begin = now();
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(clients));
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([&, i] {
      auto link = HttpClient::connect(api_socket(folder));
      if (!link) return;
      for (int n = i; n < jobs; n += clients) {
        const Moment sent = now();
        const auto answer = (*link)->call(
            "POST", "/v1/jobs",
            R"({"command":["train"],"gpus":2,"estimate":3600,"environment":{"PATH":"/bin"}})",
            std::chrono::seconds(60));
        if (!answer || answer->status != 201) std::exit(1);
        took[static_cast<std::size_t>(i)].push_back(seconds_since(sent));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = seconds_since(begin);
  std::vector<double> all;
  for (const auto& some : took) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  return {static_cast<double>(all.size()) / seconds, 1e3 * all[all.size() / 2],
          1e3 * all[all.size() * 99 / 100]};
}

// How long it takes until a change of the queue is decided and durable.
double decide_ms(const std::filesystem::path& folder, int first) {
  auto link = HttpClient::connect(api_socket(folder));
  std::vector<double> took;
  for (int i = 0; i < 20 && link; ++i) {
    const Moment sent = now();
    const auto answer = (*link)->call("POST", fmt::format("/v1/jobs/{}/cancel", first + i), "",
                                      std::chrono::seconds(60));
    if (!answer || answer->status != 200) return -1;
    took.push_back(seconds_since(sent));
  }
  std::sort(took.begin(), took.end());
  return 1e3 * took[took.size() / 2];
}

// From the beginning of a daemon on a full store until it has decided about a job that runs, which
// frees GPUs for others, and that is durable.
int check_restart(const std::filesystem::path& folder) {
  constexpr int kJobs = 10'000;
  constexpr double kMostSeconds = 2;
  {
    Served served(folder, "las");
    submit_all(folder, kJobs, 16);
  }
  const Moment begin = now();
  std::size_t found = 0;
  double seconds = 0;
  {
    Served served(folder, "las");
    auto link = HttpClient::connect(api_socket(folder));
    const auto call = [&link](std::string_view method, const char* target) {
      auto answer = (*link)->call(method, target, "", std::chrono::seconds(60));
      return answer && answer->status == 200 ? answer->body : std::string();
    };
    if (!link || call("POST", "/v1/jobs/1/cancel").empty()) return 1;
    seconds = seconds_since(begin);
    const auto jobs = nlohmann::json::parse(call("GET", "/v1/jobs"), nullptr, false);
    found = jobs.is_array() ? jobs.size() : 0;
  }
  fmt::print("restart: the first decision after {:.2f} s, {} of {} jobs are there\n", seconds,
             found, kJobs);
  return seconds <= kMostSeconds && found == kJobs ? 0 : 1;
}

int run(int count, char** arguments) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("muster-bench-serve-{}", getpid());
  if (count > 1 && std::string_view(arguments[1]) == "--check") {
    const int status = check_restart(folder);
    std::filesystem::remove_all(folder);
    return status;
  }
  const int jobs = count > 1 ? std::atoi(arguments[1]) : 100'000;
  const int clients = count > 2 ? std::atoi(arguments[2]) : 16;
  {
    Served served(folder, "las");
    for (const int part : {jobs / 10, jobs - jobs / 10}) {
      const Pace load = submit_all(folder, part, clients);
      fmt::print(
          "submit: {} jobs, {} clients: {:.0f} per second, median {:.1f} ms, p99 {:.1f} ms\n", part,
          clients, load.per_second, load.median_ms, load.p99_ms);
    }
    fmt::print("decide: a change to a queue of {} jobs under las: {:.1f} ms\n", jobs,
               decide_ms(folder, jobs / 2));
  }
  fmt::print("restart: {:.2f} s with {} jobs in the store\n", Served(folder, "las").started_in(),
             jobs);
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace muster::bench

int main(int count, char** arguments) { return muster::bench::run(count, arguments); }
