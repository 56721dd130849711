// ElasticFlow against the clock: what an answer of admission control costs with 100 to 100,000
// active jobs, figure 8(a), and, with the argument `figures`, figures 8(b), 9 and 11 with their
// ratios beside the published ones. Figures need the traces (MUSTER_SHARED); without them it says
// so.
#include <cstring>
#include <random>

#include <fmt/format.h>

#include "clock.h"
#include "policy/elasticflow/deadline_book.h"
#include "timed_experiment.h"

namespace muster {
namespace {

// Jobs like those of the ten clusters: one GPU to 64, an hour or two of one GPU on average.
class Arrivals {
 public:
  explicit Arrivals(Seconds horizon) : horizon_(horizon) {}
  Candidate next() {
    Candidate job;
    job.id = JobId{number_++};
    const double serial = draw(0, 0.1);  // Amdahl's share
    const int levels = 1 + static_cast<int>(draw(0, 7));
    for (int i = 0; i < levels; ++i) {
      const int gpus = 1 << i;
      job.levels.push_back({gpus, 1 / (serial + (1 - serial) / gpus)});
    }
    job.left = 600 * std::pow(10, draw(0, 1.6));
    job.deadline = std::floor(std::max(job.left * draw(0.5, 1.5), draw(0, 1) * horizon_));
    return job;
  }

 private:
  double draw(double low, double high) {
    return low + (high - low) * (static_cast<double>(random_()) / 4294967296.0);
  }

  Seconds horizon_;
  std::uint32_t number_ = 0;
  std::mt19937 random_{1};
};

// Fills a book with promises and asks for more: how long an answer takes that finds room, and one
// that plans everybody anew.
void bench_admission() {
  constexpr int kGpus = 1024;
  fmt::print("admission of one more job, {} GPUs, slots of 60 s\n", kGpus);
  fmt::print("{:>10} {:>8} {:>14} {:>14} {:>16}\n", "active", "steps", "mean answer", "longest",
             "all planned anew");
  for (const int active : {100, 316, 1000, 3162, 10000, 31623, 100000}) {
    // So that the promises take about three quarters of the time.
    const Seconds horizon = std::max(86400.0, active * 1.5 * 5400.0 / kGpus);
    Arrivals arrivals(horizon);
    const PlanFrame frame{0, 60, kGpus};
    DeadlineBook book;
    book.advance(frame);
    BookTrial filling(book, frame);
    for (int i = 0; i < active;) i += filling.add(arrivals.next(), false) ? 1 : 0;
    filling.commit(book);
    constexpr int kAnswers = 50;
    double sum = 0;
    double longest = 0;
    int room = 0;
    for (int i = 0; i < kAnswers; ++i) {
      const Candidate job = arrivals.next();
      const auto begin = bench::now();
      BookTrial trial(book, frame);
      room += trial.add(job) ? 1 : 0;
      const double seconds = bench::seconds_since(begin);
      sum += seconds;
      longest = std::max(longest, seconds);
    }
    // What it costs to answer by planning all active jobs, as the artifact does for every arrival.
    const auto begin = bench::now();
    GpuTimeline free(0, kGpus);
    JobPlan plan;
    for (const auto& [key, entry] : book.entries()) {
      plan_minimum_share(frame, entry.job.planned(), free, 0, plan);
      std::swap(free, plan.free);
    }
    const double all = bench::seconds_since(begin);
    fmt::print("{:>10} {:>8} {:>11.3f} ms {:>11.3f} ms {:>13.3f} ms   ({} of {} let in)\n", active,
               book.free().size(), 1e3 * sum / kAnswers, 1e3 * longest, 1e3 * all, room, kAnswers);
  }
}

// Runs an experiment, with slots of another length if one is given, and prints the figures of each
// run; the time it took.
double run_figure(const char* name, bool print, const char* slot = nullptr) {
  const auto timed = bench::time_experiment("elasticflow", name, [slot](Experiment& experiment) {
    if (slot == nullptr) return;
    for (ExperimentRun& run : experiment.runs) run.config.pacing.params["length"] = slot;
  });
  if (!timed || !timed->whole) return 0;
  for (const RunCheck& run : timed->result.runs) {
    if (!print) break;
    for (const FigureCheck& figure : run.figures) {
      if (std::isnan(figure.expected.published)) continue;
      fmt::print("  {:<44} {:<32} {:.3f}   published {:.3f}\n", run.run, figure.expected.key,
                 figure.ours, figure.expected.published);
    }
  }
  return timed->seconds;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  muster::bench_admission();
  fmt::print("figure 8(a)  {:>8.2f} s   (goal 2 s without Pollux; original: 30 min)\n",
             muster::run_figure("figure8a", true));
  if (argc > 1 && std::strcmp(argv[1], "figures") == 0) {
    const double philly = muster::run_figure("figure8b_philly", true);
    fmt::print("figure 8(b)  {:>8.1f} s   (goal 600 s on two cores; original: a few days)\n",
               philly + muster::run_figure("figure8b", true));
    fmt::print("  the same with the slots of 60 s of the original's script {:>8.1f} s\n",
               philly + muster::run_figure("figure8b", false, "60"));
    fmt::print("figure 9     {:>8.1f} s   (ten draws of each; original: 7 min for one)\n",
               muster::run_figure("figure9", true));
    fmt::print("figure 11    {:>8.1f} s   (twenty draws of each; original: 10 min for one)\n",
               muster::run_figure("figure11", true));
  }
  return 0;
}
