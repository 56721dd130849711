// How fast the core is, on the full Philly trace, on Blox's figure 6 and on ten million generated
// jobs. Results are checked against plain simulators before any time is printed.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <time.h>
#include <vector>

#include <fmt/format.h>

#include "backend/sim/sim_backend.h"
#include "base/random.h"
#include "clock.h"
#include "engine/engine.h"
#include "perf/product.h"
#include "plain.h"
#include "run/config/plugin_tables.h"
#include "workload/generate/blox_sources.h"
#include "workload/trace_reader.h"

namespace muster::bench {
namespace {

// Seconds of this process's CPU time: other programs on the machine do not count. Runs with one
// thread.
double seconds_of(const std::function<void()>& work) {
  const auto cpu = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double begin = cpu();
  work();
  return cpu() - begin;
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

class Ends final : public Observer {
 public:
  explicit Ends(std::size_t jobs) : ends(jobs, 0) {}
  void on_job_end(const JobRecord& job) override {
    if (job.status == JobState::kFinished) ends[index(job.id)] = job.end;
  }
  std::vector<double> ends;
};

class Fold final : public Observer {
 public:
  void on_job_end(const JobRecord& job) override {
    ++jobs;
    sum += job.completion_time();
  }
  long long jobs = 0;
  double sum = 0;
};

struct Setup {
  std::string scheduling = "fifo";
  ParamTexts params;
  std::string placement = "consolidated";
  std::string admission = "accept-all";
  int nodes = 64;
  int gpus = 8;
  std::unique_ptr<Pacing> pacing = make_events();
  EngineOptions options;
};

long long simulate(Setup setup, JobSource& source, Observer& observer) {
  Symbols symbols;
  Engine::Parts parts;
  parts.cluster = std::make_shared<ClusterSpec>(uniform_cluster(setup.nodes, setup.gpus));
  parts.perf = multiply({});
  parts.pacing = std::move(setup.pacing);
  PolicySet policy_set;
  policy_set.admission =
      std::move(*make_from("admission", plugin_tables().admission, setup.admission, {}));
  policy_set.scheduling = std::move(
      *make_from("scheduling", plugin_tables().scheduling, setup.scheduling, setup.params));
  policy_set.placement =
      std::move(*make_from("placement", plugin_tables().placement, setup.placement, {}));
  parts.policy_sets.push_back(std::move(policy_set));
  SimBackend backend({parts.cluster, parts.perf});
  parts.backend = &backend;
  parts.source = &source;
  parts.observers = {&observer};
  parts.options = setup.options;
  Engine engine(std::move(parts));
  if (!engine.run()) std::abort();
  return engine.turns();
}

// The best of several runs: what the machine can do when nobody interferes.
template <typename Work>
double best_of(int times, Work work) {
  double best = 1e300;
  for (int i = 0; i < times; ++i) best = std::min(best, seconds_of(work));
  return best;
}

bool bench_philly(const std::string& path) {
  Symbols symbols;
  std::vector<JobSpec> jobs;
  const double reading = best_of(3, [&] {
    auto trace = load_trace(path, {}, symbols);
    if (!trace) {
      fmt::print("cannot read {}: {}\n", path, trace.error().message);
      std::exit(1);
    }
    jobs = std::move(trace->jobs);
  });
  fmt::print("philly: {} jobs read in {:.3f} s\n", jobs.size(), reading);

  double engine = 0;
  Ends ours(jobs.size());
  engine = best_of(3, [&] {
    ListSource source(jobs);
    simulate({}, source, ours);
  });
  std::vector<double> plain;
  const double slow = seconds_of([&] { plain = plain_fifo(jobs, 64, 8); });
  const bool equal = plain == ours.ends;
  fmt::print(
      "fifo on 64x8, events:   {:.3f} s, {:.0f} jobs/s; with reading {:.3f} s; plain simulator "
      "{:.2f} s "
      "= {:.0f} x; every end second equal: {}\n",
      engine, static_cast<double>(jobs.size()) / engine, engine + reading, slow, slow / engine,
      equal);
  bool good = equal;
  for (const char* policy : {"sjf", "srtf", "las", "tiresias", "max-min", "finish-time-fairness"}) {
    Fold fold;
    long long turns = 0;
    const bool rounds = std::string_view(policy) != "sjf";
    const double time = best_of(2, [&] {
      ListSource source(jobs);
      Setup setup;
      setup.scheduling = policy;
      if (rounds) setup.pacing = make_rounds(300);
      fold = {};
      turns = simulate(std::move(setup), source, fold);
    });
    fmt::print(
        "{:<22} on 64x8, {}: {:.3f} s, {:.0f} jobs/s, {} turns, {:.2f} us per turn, mean JCT "
        "{:.1f} s\n",
        policy, rounds ? "300 s rounds" : "events", time, static_cast<double>(fold.jobs) / time,
        turns, 1e6 * time / static_cast<double>(turns), fold.sum / static_cast<double>(fold.jobs));
  }
  return good;
}

void bench_figure_six() {
  static constexpr const char* kPolicies[] = {"fifo", "las", "srtf"};
  const auto point = [](int i) {
    Symbols symbols;
    BloxOptions options;
    options.jobs_per_hour = 1 + i % 9;
    options.list = blox_plain_list(20000);
    const auto source = make_blox_simple(std::move(options), symbols);
    Setup setup;
    setup.scheduling = kPolicies[i / 9];
    setup.params = {{"boost_after", "3600000"}};
    if (i / 9 == 0) setup.params["preempt"] = "true";
    if (i / 9 == 1) setup.params["service"] = "seconds";
    setup.placement = "blox-as-coded";
    setup.nodes = 32;
    setup.gpus = 4;
    setup.pacing = make_rounds(300);
    setup.options.until_left = {JobId{3000}, JobId{4000}};
    Fold fold;
    simulate(std::move(setup), *source, fold);
  };
  const double time = wall_seconds_of([&] {
    std::atomic<int> next = 0;
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) {
      threads.emplace_back([&] {
        for (int i = next++; i < 27; i = next++) point(i);
      });
    }
  });
  // The README of Blox gives about 8 hours for this sweep.
  fmt::print("figure 6 of Blox, 27 points: {:.2f} s in all; its text says about 8 h = {:.0f} x\n",
             time, 8 * 3600 / time);
}

// Run-time selection among nine policy sets, every round. Blox made 0.57 rounds/s on 16 GPUs with
// fewer than ten jobs (measured with the original on two cores).
void bench_look_ahead() {
  struct Case {
    int nodes;
    double load;
    std::uint32_t last;
  };
  for (const Case& c : {Case{4, 1, 40}, Case{32, 8, 400}}) {
    Symbols symbols;
    BloxOptions options;
    options.jobs_per_hour = c.load;
    options.list = blox_plain_list(20000);
    const auto source = make_blox_simple(std::move(options), symbols);
    Engine::Parts parts;
    parts.cluster = std::make_shared<ClusterSpec>(uniform_cluster(c.nodes, 4));
    parts.perf = multiply({});
    parts.pacing = make_rounds(300);
    for (const char* policy : {"las", "fifo", "srtf"}) {
      for (const char* threshold : {"inf", "1.2", "1.4"}) {
        PolicySet policy_set;
        policy_set.admission = std::move(*make_from("admission", plugin_tables().admission,
                                                    "load-threshold", {{"threshold", threshold}}));
        policy_set.scheduling =
            std::move(*make_from("scheduling", plugin_tables().scheduling, policy, {}));
        policy_set.placement =
            std::move(*make_from("placement", plugin_tables().placement, "consolidated", {}));
        parts.policy_sets.push_back(std::move(policy_set));
      }
    }
    parts.selector = std::move(*make_from("selector", plugin_tables().selector, "look-ahead", {}));
    SimBackend backend({parts.cluster, parts.perf});
    parts.backend = &backend;
    parts.source = source.get();
    parts.options.until_left = {JobId{0}, JobId{c.last}};
    Engine engine(std::move(parts));
    std::size_t most = 0;
    const double time = seconds_of([&] {
      while (engine.turn()) most = std::max(most, engine.jobs().active().size());
    });
    const double rate = static_cast<double>(engine.turns()) / time;
    fmt::print(
        "look-ahead, 9 policy sets every round, {} GPUs, up to {} active jobs: {:.3f} ms per "
        "round, {:.0f} "
        "rounds/s; Blox 0.57 rounds/s = {:.0f} x\n",
        c.nodes * 4, most, 1e3 / rate, rate, rate / 0.57);
  }
}

// A Poisson stream that keeps 10,000 GPUs about 85 % busy.
class Stream final : public JobSource {
 public:
  explicit Stream(long long jobs) : left_(jobs), random_(7, "stream") { draw(); }
  const JobSpec* peek() override { return left_ > 0 ? &job_ : nullptr; }
  void pop() override {
    if (--left_ > 0) draw();
  }
  bool finished() override { return left_ == 0; }

 private:
  void draw() {
    constexpr int kSizes[] = {1, 1, 1, 1, 2, 4, 8, 16};  // 4.25 GPUs on average
    job_.gpus = kSizes[random_.below(8)];
    job_.duration = std::floor(random_.log_normal(7, 1.2)) + 1;
    time_ += random_.exponential(1.12);
    job_.submit = job_.arrival = time_;
  }
  long long left_;
  Random random_;
  JobSpec job_;
  double time_ = 0;
};

void bench_scale() {
  for (const long long jobs : {10'000LL, 100'000LL, 1'000'000LL, 10'000'000LL}) {
    Fold fold;
    long long turns = 0;
    const double time = seconds_of([&] {
      Stream source(jobs);
      Setup setup;
      setup.nodes = 1250;
      turns = simulate(std::move(setup), source, fold);
    });
    fmt::print(
        "{:>10} jobs on 10,000 GPUs, fifo: {:.2f} s, {:.0f} jobs/s, {:.3f} us per turn, peak "
        "memory {:.0f} MiB, "
        "mean JCT {:.0f} s\n",
        jobs, time, static_cast<double>(jobs) / time, 1e6 * time / static_cast<double>(turns),
        peak_rss_mb(), fold.sum / static_cast<double>(fold.jobs));
  }
}

}  // namespace
}  // namespace muster::bench

// bench_core [scale] [philly] [figure6] [look-ahead]: all of them if none is named.
int main(int argc, char** argv) {
  using namespace muster::bench;
  const auto wanted = [&](std::string_view part) {
    return argc == 1 || std::find(argv + 1, argv + argc, part) != argv + argc;
  };
  // First, while the process is small: its peak memory is that of the largest run so far.
  if (wanted("scale")) bench_scale();
  bool good = true;
  if (wanted("philly")) {
    const char* shared = std::getenv("MUSTER_SHARED");
    const auto file =
        std::filesystem::path(shared != nullptr ? shared : "../shared") / "data/philly/philly.csv";
    if (std::filesystem::exists(file)) {
      good = bench_philly(file.string());
    } else {
      fmt::print(
          "philly: skipped, {} is not on this machine (MUSTER_SHARED names the shared folder)\n",
          file.string());
    }
  }
  if (wanted("figure6")) bench_figure_six();
  if (wanted("look-ahead")) bench_look_ahead();
  return good ? 0 : 1;
}
