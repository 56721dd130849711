// A sweep: one description run for every combination of loads, clusters, policies and seeds, in
// parallel.
//
// All policies see the same random numbers for a seed, so that differences between them are
// compared pair by pair. Finished points are kept in a journal: a stopped sweep continues where it
// was, and a folder that holds another sweep is refused. The result does not depend on the number
// of threads.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/metric_list.h"
#include "report/progress.h"
#include "run/config/config.h"
#include "run/sweep/statistics.h"

namespace muster {

// One thing that is varied: `key` is its place in a run description. Two are more than a place:
//   rate  jobs per hour of the generator (its rate, or the inverse of its mean distance)
//   jobs  so many jobs, all at once where the generator can do that
struct SweepAxis {
  std::string key;   // "scheduling", "cluster", "workload.speed"
  std::string name;  // of its column: "scheduling", "cluster", "load"
  std::vector<std::string> values;

  // Axes of policies leave the workload alone: their values are compared with each other.
  bool policy() const;
};

struct SweepConfig {
  RunConfig base;  // not completed
  std::vector<SweepAxis> axes;
  std::vector<long long> seeds{1};
  std::string baseline;  // value(s) of the policy axes, joined by " + "; empty: the first
  double confidence = 0.95;
  std::string cutoffs;   // file of rates from which on policies are not tried (run/sweep/cutoffs.h)
  double threshold = 0;  // look for the highest rate with at most this utilisation; 0: run all
};

struct SweepPoint {
  std::vector<std::size_t> values;  // by axis
  long long seed = 1;
  RunConfig config;   // complete
  bool skip = false;  // beyond a cut-off
};

// Reads the table [sweep] of a file and what it says about axes, seeds and baseline.
Status apply_sweep_toml(SweepConfig& sweep, const TomlNode& table, const std::string& where);

// A list such as "1,3,8-10"; a single number N stands for 1 to N.
Result<std::vector<long long>> parse_seeds(std::string_view text);

// Numbers as a list, "0.4,0.8", or as first, last and how many evenly spaced ones, "0.4:6.4:16"; a
// leading 0 of such a row is left out, as nothing comes at that rate.
Result<std::vector<std::string>> parse_points(std::string_view text, bool whole);

// Adds or replaces an axis. `load` means the load parameter of the generator, or the speed of a
// trace.
Status set_axis(SweepConfig& sweep, std::string_view name, std::vector<std::string> values);

// The place of the axis of rates; the number of axes where there is none.
std::size_t rate_axis(const SweepConfig& sweep);

// All points, seeds innermost, checked and complete.
Result<std::vector<SweepPoint>> sweep_points(const SweepConfig& sweep);

// Whether another seed changes any of the runs: something in them draws. Otherwise all seeds repeat
// one run.
Result<bool> seeds_matter(const SweepConfig& sweep);

// The whole sweep as TOML; equal texts are equal sweeps.
std::string to_toml(const SweepConfig& sweep);

struct SweepOptions {
  std::string folder = {};  // for the journal and the results; empty: keep nothing
  unsigned threads = 0;     // 0: as many as the machine has
  double timeout = 0;       // seconds after which a run is given up; 0: never
  // Every run is saved in the folder when the job of this number came, and goes on from there if
  // the sweep is stopped, or the run given up, before it ends; -1: not.
  long long save_at = -1;
  std::function<bool()> keep_going = {};
  std::function<void()> on_run_end = {};  // told by the thread that ran it
  Progress* progress = nullptr;
};

enum class PointState : std::uint8_t {
  kOpen,  // not run: the sweep was stopped
  kDone,
  kSkipped,   // beyond a cut-off, or of no use to the search
  kTimedOut,  // given up; another sweep in the folder tries again, from where it was saved
};

struct SweepResult {
  std::vector<SweepPoint> points;
  std::vector<Metrics> metrics;  // by point; only of those that are done
  std::vector<PointState> states;
  std::set<std::string> notes;     // of the workloads
  std::set<std::string> warnings;  // what policies need and the inputs do not tell them
  std::size_t resumed = 0;         // points that the journal already had
  std::size_t continued = 0;       // runs that went on from where they had been saved
  std::size_t done = 0;            // or decided otherwise; fewer than the points if it was stopped
  std::optional<Error> unwritten;  // the journal could not be kept; the sweep was stopped
  bool complete() const { return done == points.size(); }
};

Result<SweepResult> run_sweep(const SweepConfig& sweep, const SweepOptions& options);

// One combination of axis values over all seeds.
struct SweepCell {
  std::vector<std::size_t> values;  // by axis
  std::vector<Interval> means;      // by metric
  std::vector<Interval> against;    // paired differences from the baseline; empty for itself
};

std::vector<SweepCell> summarise(const SweepConfig& sweep, const SweepResult& result,
                                 const std::vector<std::string>& metrics);

// What the search for the highest rate found, one combination of the other axes.
struct FoundRate {
  std::vector<std::size_t> values;  // by axis; that of the rate means nothing
  Interval rate;                    // over the seeds; 0 where even the lowest was too high
  Interval utilization;
};
std::vector<FoundRate> found_rates(const SweepConfig& sweep, const SweepResult& result);

// Points that differ in the rate alone, in its order: what the search goes through.
std::vector<std::vector<std::size_t>> rate_tracks(const SweepConfig& sweep,
                                                  const std::vector<SweepPoint>& points);

// "las + consolidated": the values of the policy axes.
std::string policy_label(const SweepConfig& sweep, const std::vector<std::size_t>& values);

// points.csv: one line per point with all figures that do not depend on the machine.
std::string points_csv(const SweepConfig& sweep, const SweepResult& result);

}  // namespace muster
