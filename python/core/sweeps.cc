// Sweeps and published experiments.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/convert.h"
#include "core/parts.h"
#include "core/watched.h"
#include "run/experiment/experiment.h"
#include "run/sweep/sweep.h"

namespace muster::python {
namespace {

using Axes = std::vector<std::pair<std::string, std::vector<std::string>>>;

nb::dict row_of(const SweepConfig& sweep, const SweepPoint& point, const Metrics& metrics) {
  nb::dict row;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
    row[sweep.axes[i].name.c_str()] = sweep.axes[i].values[point.values[i]];
  }
  row["seed"] = point.seed;
  for (const MetricInfo& info : metric_list()) {
    row[std::string(info.key).c_str()] = metrics.*info.field;
  }
  return row;
}

// One row per point.
nb::list sweep(const nb::dict& settings, const Axes& axes, std::vector<long long> seeds,
               const std::string& folder, unsigned threads, nb::object progress) {
  SweepConfig config;
  config.base = described(settings, {});
  for (const auto& [name, values] : axes) must(set_axis(config, name, values));
  if (!seeds.empty()) config.seeds = std::move(seeds);
  Watch watch;
  std::optional<Result<SweepResult>> result;
  SweepOptions options;
  options.folder = folder;
  options.threads = threads;
  options.keep_going = [&watch] { return watch.keep_going(); };
  options.on_run_end = [&watch] { ++watch.progress; };
  watched(watch, {std::move(progress), 0, {}}, [&] { result.emplace(run_sweep(config, options)); });
  const SweepResult points = must(std::move(*result));
  if (points.unwritten) raise(*points.unwritten);
  nb::list rows;
  for (std::size_t i = 0; i < points.points.size(); ++i) {
    if (points.states[i] != PointState::kDone) continue;
    rows.append(row_of(config, points.points[i], points.metrics[i]));
  }
  return rows;
}

// Where the axis called `load` acts in a description.
std::string load_key(const nb::dict& settings) {
  SweepConfig config;
  config.base = described(settings, {});
  must(set_axis(config, "load", {"1"}));
  return config.axes.front().key;
}

nb::list experiment(const std::string& system, const std::string& name, unsigned threads,
                    nb::object progress) {
  const Experiment experiment = must(load_experiment(system, name));
  Watch watch;
  std::optional<Result<ExperimentResult>> result;
  ExperimentOptions options;
  options.threads = threads;
  options.keep_going = [&watch] { return watch.keep_going(); };
  options.on_run_end = [&watch] { ++watch.progress; };
  watched(watch, {std::move(progress), 0, {}},
          [&] { result.emplace(run_experiment(experiment, options)); });
  const ExperimentResult done = must(std::move(*result));
  nb::list rows;
  for (const RunCheck& run : done.runs) {
    const auto start = [&](const std::string& figure) {
      nb::dict row;
      row["run"] = run.run;
      row["figure"] = figure;
      return row;
    };
    if (!run.missing.empty()) {
      nb::dict row = start("");
      row["missing"] = run.missing;
      rows.append(row);
    }
    for (const FigureCheck& figure : run.figures) {
      nb::dict row = start(figure.expected.key);
      row["ours"] = figure.ours;
      row["artifact"] = figure.expected.artifact;
      row["published"] = figure.expected.published;
      row["difference"] = figure.difference;
      row["judged"] = figure.judged;
      row["within"] = figure.within;
      row["jobs_equal"] =
          run.jobs.compared ? nb::cast(run.jobs.jobs - run.jobs.unequal) : nb::none();
      row["jobs"] = run.jobs.compared ? nb::cast(run.jobs.jobs) : nb::none();
      rows.append(row);
    }
  }
  return rows;
}

}  // namespace

void add_sweeps(nb::module_& module) {
  module.def("sweep", sweep, nb::arg("settings"), nb::arg("axes"), nb::arg("seeds"),
             nb::arg("folder"), nb::arg("threads"), nb::arg("progress").none());
  module.def("load_key", load_key);
  module.def("experiment", experiment, nb::arg("system"), nb::arg("name"), nb::arg("threads"),
             nb::arg("progress").none());
}

}  // namespace muster::python
