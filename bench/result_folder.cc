// How fast results are written: the whole folder (jobs.csv, decisions.bin, timeline.csv,
// summary.json) for as many jobs as the Philly trace has, and the memory that the figures of ten
// million jobs take.
#include "report/result_folder.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <random>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

namespace {

using namespace muster;
// Of this process, so that a busy machine does not spoil the figure.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Story {
  std::uint32_t jobs;
  bool whole_seconds;
};

// What an event-driven run tells: five decisions, two turns and one record per job.
void tell(const Story& story, Symbols& symbols, Observer& observer) {
  JobRecord job;
  job.user = symbols.intern("user");
  job.partition = symbols.intern("partition");
  job.name = "application_1506638472019_10258";
  std::mt19937_64 random(1);
  const auto draw = [&](std::uint64_t below) {
    return static_cast<std::uint32_t>(random() % below);
  };
  const auto span = [&](std::uint64_t mean) {
    return story.whole_seconds
               ? draw(2 * mean)
               : 2 * static_cast<double>(mean) * static_cast<double>(random() >> 11U) / 0x1p53;
  };
  TurnStats turn;
  double time = 0;
  for (std::uint32_t i = 0; i < story.jobs; ++i) {
    time += span(30);
    const auto decide = [&](double when, Action action, Reason reason, std::uint32_t id) {
      const Decision decision{
          when, JobId{id}, kNoJob, static_cast<int>(1U << (id * 2654435761U >> 30U)),
          0,    action,    reason};
      observer.on_decision(decision);
      return decision;
    };
    decide(time, Action::kSubmit, Reason::kArrived, i);
    decide(time, Action::kAdmit, Reason::kAccepted, i);
    const Decision start = decide(time, Action::kStart, Reason::kFirstInOrder, i);
    GpuSet gpus;
    gpus.add(NodeId{draw(300)}, 0xFFU >> draw(8));
    observer.on_placement(start, gpus);
    decide(time, Action::kBlock, Reason::kNotEnoughFree, i);
    time += span(30);
    const std::uint32_t left = i < 1000 ? i : i - draw(1000);
    decide(time, Action::kFinish, Reason::kCompleted, left);
    turn.previous = turn.time;
    turn.time = time;
    turn.running = 300;
    turn.waiting = static_cast<int>(i % 50);
    turn.usable_gpus = 2400;
    turn.used_gpus = 2000 + static_cast<int>(i % 400);
    observer.on_turn(turn);
    observer.on_turn(turn);
    job.id = JobId{left};
    job.gpus = static_cast<int>(1U << (left * 2654435761U >> 30U));
    job.end = time;
    job.start = time - span(6000);
    job.submit = job.arrival = job.start - span(3000);
    job.queue = job.start - job.submit;
    job.duration = job.end - job.start;
    job.gpu_seconds = job.duration * job.gpus;
    observer.on_job_end(job);
  }
}

void measure(const Story& story, const std::string& folder) {
  double best = 1e9;
  for (int round = 0; round < (story.jobs > 1000000 ? 1 : 5); ++round) {
    Symbols symbols;
    const double begun = cpu_seconds();
    auto writer = ResultWriter::open({.folder = folder}, symbols);
    if (!writer) {
      fmt::print(stderr, "{}\n", writer.error().message);
      return;
    }
    tell(story, symbols, **writer);
    const auto placed = (*writer)->finish({});
    if (!placed) {
      fmt::print(stderr, "{}\n", placed.error().message);
      return;
    }
    best = std::min(best, cpu_seconds() - begun);
  }
  const auto size = [&](const char* name) {
    return static_cast<double>(std::filesystem::file_size(std::filesystem::path(folder) / name));
  };
  fmt::print(
      "{:>9} jobs, {} seconds: {:7.3f} CPU s, {:5.2f} bytes per decision, {:4.0f} bytes per job, "
      "{:4.0f} MB peak\n",
      story.jobs, story.whole_seconds ? "whole  " : "broken ", best,
      size("decisions.bin") / (5.0 * story.jobs), size("jobs.csv") / story.jobs, peak_rss_mb());
}

}  // namespace

int main() {
  const std::string folder =
      (std::filesystem::temp_directory_path() / fmt::format("muster-bench-{}", ::getpid()))
          .string();
  measure({82247, true}, folder);
  measure({82247, false}, folder);
  measure({1000000, true}, folder);
  measure({10000000, true}, folder);
  std::filesystem::remove_all(folder);
}
